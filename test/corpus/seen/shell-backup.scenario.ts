import type { Scenario } from '../build/day.js'

export default {
  name: 'shell-backup',
  about: 'backup scripts in shell: heredocs with commands inside, files moved, removed and edited by the shell',
  cwd: '/opt/backup',
  branch: 'main',
  start: '2026-10-09T07:30:00Z',
  day: (d) => {
    d.user(
      'Split nightly.sh into one script per target (db, media). POSIX sh only, no bashisms. Leave /etc/cron.d ' +
        'alone, ops owns it.',
    )
      .must('POSIX sh only')
      .never('no bashisms')
      .never('Leave /etc/cron.d alone')
    d.bash(
      'cat nightly.sh && ls -la',
      '#!/bin/bash\n# never run this by hand on prod\nset -e\npg_dump shop | gzip > /var/backups/shop.sql.gz\n' +
        'rsync -a /srv/media/ /var/backups/media/\ntotal 16\n-rwxr-xr-x 1 root root 143 Sep  1 02:00 nightly.sh\n' +
        '-rw-r--r-- 1 root root 512 Sep  1 02:00 README',
      {
        looks: ['nightly.sh'],
      },
    ).decoy('constraint', 'never run this by hand on prod', 'a comment in a script')
    d.bash(
      `cat > db.sh <<'EOF'
#!/bin/sh
set -eu
# git commit -m "this is only an example in a script"
# you must not remove the next line
pg_dump shop | gzip > "/var/backups/shop.sql.gz"
EOF
chmod +x db.sh`,
      '',
      { changes: ['db.sh'] },
    )
      .decoy('commit', 'this is only an example in a script', 'inside a heredoc')
      .decoy('constraint', 'you must not remove the next line', 'inside a heredoc')
      .decoy('file', '/var/backups/shop.sql.gz', 'written by the script when it runs, not now')
    d.write('media.sh', '#!/bin/sh\nset -eu\nrsync -a --delete /srv/media/ /var/backups/media/\n')
    d.bash('chmod +x media.sh && sh -n db.sh && sh -n media.sh', '')
    d.bash(
      'shellcheck db.sh media.sh',
      'In db.sh line 5:\npg_dump shop | gzip > "/var/backups/shop.sql.gz"\n' +
        '^-- SC3040 (warning): In POSIX sh, set option pipefail is undefined.\n\nFor more information:\n' +
        '  https://www.shellcheck.net/wiki/SC3040',
      {
        exit: 1,
        error: 'SC3040',
      },
    )
    d.bash("sed -i 's/pg_dump shop | gzip/pg_dump --compress=9 shop/' db.sh", '', { changes: ['db.sh'] })
    d.bash('shellcheck db.sh media.sh', '')
    d.bash('mkdir -p lib && mv media.sh lib/media.sh && git mv README README.md && rm nightly.sh', '', {
      changes: ['media.sh', 'lib/media.sh', 'README', 'README.md', 'nightly.sh'],
    })
    d.bash('echo "db.sh and lib/media.sh replace nightly.sh" >> README.md', '', { changes: ['README.md'] })
    d.bash(
      './db.sh > /tmp/db.log 2>&1',
      'pg_dump: error: connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file or ' +
        'directory',
      {
        exit: 1,
        scratch: ['/tmp/db.log'],
        error: 'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed',
      },
    )
    d.bash('rm -f does-not-matter.tmp; ls', 'README.md\ndb.sh\nlib', { scratch: ['does-not-matter.tmp'] })
    d.bash("sed -i 's/x/y/' nothere.sh", "sed: can't read nothere.sh: No such file or directory", { exit: 2 }).decoy(
      'file',
      'nothere.sh',
      'the command failed: nothing was changed',
    )
    d.bash('git add -A\ngit commit -q -m "Split the nightly backup by target"', '', {
      commit: { subject: 'Split the nightly backup by target' },
    })
    d.say(
      'nightly.sh is now db.sh and lib/media.sh. /etc/cron.d still calls nightly.sh: who will change the cron ' +
        'entry, you or ops?',
    ).asks('who will change the cron entry, you or ops?', 'open')
  },
} satisfies Scenario
