import type { Scenario } from '../build/day.js'

export default {
  name: 'rust-worktree-rebase',
  about: 'a Rust tool: branches, a rebase with conflicts, an amended and a reworded commit, files renamed and removed',
  cwd: '/home/ida/fdup',
  branch: 'master',
  start: '2026-11-06T10:10:00Z',
  day: (d) => {
    d.user(`fdup should skip hard links. This is what a user reported:

\`\`\`
$ fdup ~/photos
error: never run fdup as root
thread 'main' panicked at src/walk.rs:77
TODO: handle links
\`\`\`

Hands off the CLI flags please, the man page is already printed. Rule for this repo: \
each commit builds on its own. Branch name: skip-links.`)
      .never('Hands off the CLI flags please')
      .must('each commit builds on its own')
      .mayBind('Branch name: skip-links')
      .decoy('constraint', 'never run fdup as root', 'a log pasted into the prompt')
      .decoy('todo', 'handle links', 'a log pasted into the prompt')
    d.bash('git switch -c skip-links master', "Switched to a new branch 'skip-links'", { branch: 'skip-links' })
    d.read(
      'src/walk.rs',
      'pub fn walk(root: &Path) -> Vec<PathBuf> {\n    // SAFETY: do not follow symlinks\n    vec![]\n}\n',
    ).decoy('constraint', 'do not follow symlinks', 'a comment')
    d.edit('src/walk.rs', '    vec![]', '    let mut seen = HashSet::new();\n    vec![]')
    d.bash(
      'cargo build',
      'error[E0433]: failed to resolve: use of undeclared type `HashSet`\n --> src/walk.rs:3:20\n\n' +
        'error: could not compile `fdup` (bin "fdup") due to 1 previous error',
      { exit: 101, error: 'E0433' },
    )
    d.edit('src/walk.rs', 'pub fn walk', 'use std::collections::HashSet;\n\npub fn walk')
    d.bash(
      'cargo build && cargo test -q',
      '    Finished `dev` profile [unoptimized + debuginfo] target(s) in 2.11s\n\nrunning 7 tests\n.......\n' +
        'test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s',
      { test: 'passed' },
    )
    d.bash(
      'git commit -am "skip hard lnks"',
      '[skip-links 0d0d0d0] skip hard lnks\n 1 file changed, 4 insertions(+), 1 deletion(-)',
      { commit: { id: '0d0d0d0', subject: 'skip hard lnks' } },
    )
    d.bash(
      'git commit --amend -m "Skip hard links"',
      '[skip-links 1e1e1e1] Skip hard links\n Date: Fri Nov 6 10:31:02 2026 +0100\n' +
        ' 1 file changed, 4 insertions(+), 1 deletion(-)',
      { commit: { id: '1e1e1e1', subject: 'Skip hard links', amended: 'skip hard lnks' } },
    )
    d.bash(
      'git fetch && git rebase origin/master',
      'Auto-merging src/walk.rs\nCONFLICT (content): Merge conflict in src/walk.rs\n' +
        'error: could not apply 1e1e1e1... Skip hard links\n' +
        'hint: Resolve all conflicts manually, mark them as resolved with "git add/rm <conflicted_files>"',
      { exit: 1, error: 'could not apply 1e1e1e1... Skip hard links' },
    )
    d.write(
      'src/walk.rs',
      'use std::collections::HashSet;\n\npub fn walk(root: &Path) -> Vec<PathBuf> {\n' +
        '    let mut seen: HashSet<(u64, u64)> = HashSet::new();\n    vec![]\n}\n',
    )
    d.bash(
      'git add src/walk.rs && GIT_EDITOR=true git rebase --continue',
      'Successfully rebased and updated refs/heads/skip-links.',
    )
    d.bash(
      'git mv src/util.rs src/inode.rs && git rm -q src/old_walk.rs && sed -i "s/mod util;/mod inode;/" src/main.rs',
      '',
      {
        changes: ['src/util.rs', 'src/inode.rs', 'src/old_walk.rs', 'src/main.rs'],
      },
    )
    d.bash(
      'cargo test -q',
      'error[E0432]: unresolved import `crate::util`\n --> src/walk.rs:1:12\n\n' +
        'error: could not compile `fdup` (bin "fdup" test) due to 1 previous error',
      { exit: 101, test: 'failed', error: 'E0432' },
    )
    d.say('The rename broke an import. Shall I also rename the tests of util?').asks(
      'Shall I also rename the tests of util?',
      'answered',
    )
    d.user('yes, go on')
    d.bash('grep -rln "crate::util" src | xargs sed -i "s/crate::util/crate::inode/"', '')
    d.bash(
      'cargo test -q',
      'running 7 tests\n.......\ntest result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; ' +
        'finished in 0.02s',
      { test: 'passed' },
    )
    d.bash('git commit -qam "Name the inode module after what it does"', '', {
      commit: { subject: 'Name the inode module after what it does' },
    })
    d.bash(
      'git push -u origin skip-links',
      'To git.example.org:ida/fdup.git\n * [new branch]      skip-links -> skip-links\n' +
        "branch 'skip-links' set up to track 'origin/skip-links'.",
    )
    d.say('Two commits on skip-links, pushed. The flags are as they were.')
    d.leave()
  },
} satisfies Scenario
