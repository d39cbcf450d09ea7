import type { Scenario } from '../build/day.js'

export default {
  name: 'dotfiles-print',
  about:
    'print mode on a dotfiles repository: many ways a shell writes, moves and removes files; messages sent meanwhile',
  cwd: '/home/kim/dotfiles',
  branch: 'main',
  entry: 'sdk-cli',
  start: '2026-11-11T21:00:00Z',
  day: (d) => {
    d.user(
      'Tidy up: one file per tool under config/, install.sh links them. It needs to work with macOS bash 3.2. ' +
        'Secrets (anything in private/) are not to be read or committed.',
    )
      .must('It needs to work with macOS bash 3.2')
      .never('Secrets (anything in private/) are not to be read or committed')
    d.bash('ls -A && wc -l .zshrc', '.gitconfig\n.tmux.conf\n.zshrc\nREADME.md\nprivate\n 212 .zshrc', {})
    d.together(() => {
      d.bash('mkdir -p config/git config/tmux config/zsh', '')
      d.bash('git mv .gitconfig config/git/config', '', { changes: ['.gitconfig', 'config/git/config'] })
      d.bash('mv .tmux.conf config/tmux/tmux.conf', '', { changes: ['.tmux.conf', 'config/tmux/tmux.conf'] })
    })
    d.bash('head -100 .zshrc > config/zsh/aliases.zsh && tail -112 .zshrc > config/zsh/prompt.zsh && rm .zshrc', '', {
      changes: ['config/zsh/aliases.zsh', 'config/zsh/prompt.zsh', '.zshrc'],
    })
    d.bash(
      `cat <<'SH' > install.sh
#!/bin/bash
# Usage: never run with sudo
set -e
ln -sf "$PWD/config/git/config" ~/.gitconfig
git commit -m "not a real commit" --dry-run || true
SH
chmod +x install.sh && bash -n install.sh`,
      '',
      { changes: ['install.sh'] },
    )
      .decoy('constraint', 'never run with sudo', 'inside a heredoc')
      .decoy('commit', 'not a real commit', 'inside a heredoc')
    d.queued('oh and the tmux prefix must remain C-a, my muscle memory depends on it').must(
      'the tmux prefix must remain C-a',
    )
    d.bash('grep -n prefix config/tmux/tmux.conf | tee notes.txt', '3:set -g prefix C-a', { scratch: ['notes.txt'] })
    d.bash(
      'cp config/tmux/tmux.conf config/tmux/tmux.mac.conf && echo "set -g default-shell /bin/zsh" >> ' +
        'config/tmux/tmux.mac.conf',
      '',
      { changes: ['config/tmux/tmux.mac.conf'] },
    )
    d.bash('rm notes.txt', '', { scratch: ['notes.txt'] })
    d.bash('bash --posix install.sh 2>/dev/null; echo "exit $?"', 'exit 0')
    d.bash(
      'docker run --rm -v "$PWD:/d" bash:3.2 bash -n /d/install.sh',
      'docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
      { exit: 125, error: 'Cannot connect to the Docker daemon' },
    ).decoy('question', 'Is the docker daemon running?', 'output of a command')
    d.bash(
      'git add config install.sh && git commit -m "One file per tool under config/" -m "install.sh links them."',
      '[main 600df00] One file per tool under config/\n 6 files changed, 230 insertions(+), 212 deletions(-)',
      { commit: { id: '600df00', subject: 'One file per tool under config/' } },
    )
    d.say(
      'Done and committed (600df00). I could not try bash 3.2 itself because docker is not running here; ' +
        'install.sh only uses features that 3.2 has.',
    )
    d.leave()
  },
} satisfies Scenario
