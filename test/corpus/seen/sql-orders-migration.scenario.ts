import type { Scenario } from '../build/day.js'

const SCHEMA = `CREATE TABLE orders (
  id bigserial PRIMARY KEY,
  -- do not drop this column before 2027, finance reads it
  legacy_ref text,
  status text NOT NULL DEFAULT 'new'
);
`

export default {
  name: 'sql-orders-migration',
  about: 'a Postgres migration: questions with choices, one answered and one declined; tasks by id, one deleted',
  cwd: '/home/eva/orders-db',
  branch: 'migrate-status',
  start: '2026-10-13T12:00:00Z',
  day: (d) => {
    d.user(
      'Turn orders.status into an enum. The migration must run without locking the table for more than a second. ' +
        'Only touch files under migrations/.',
    )
      .must('The migration must run without locking the table for more than a second')
      .must('Only touch files under migrations/')
    d.hook('UserPromptSubmit', 'Team reminder: never commit on Fridays. You must tag @dba in every migration.')
      .decoy('constraint', 'never commit on Fridays', 'added by a hook')
      .decoy('constraint', 'You must tag @dba in every migration', 'added by a hook')
    d.together(() => {
      d.task('Write the up migration', 'Create the type and convert in batches')
      d.task('Write the down migration', 'Back to text')
      d.task('Add a trigger that keeps both columns in step', 'Only while converting')
      d.task('Try it on a copy of production', 'pg_restore of last night')
    })
    d.taskIs(1, 'in_progress')
    d.read('schema.sql', SCHEMA).decoy('constraint', 'do not drop this column before 2027', 'a comment in a schema')
    d.bash(
      'psql shop_dev -c "select status, count(*) from orders group by 1"',
      '   status   |  count\n------------+---------\n new        |   18211\n paid       | 2201934\n' +
        ' PAID       |      12\n cancelled  |   40233\n(4 rows)',
    )
    d.ask(
      '12 rows have the status PAID in capitals. What shall become of them?',
      ['Treat as paid', 'Fail the migration'],
      'Treat as paid',
      { say: 'One finding before I write it.' },
    )
    d.write(
      'migrations/0042_status_enum.up.sql',
      "CREATE TYPE order_status AS ENUM ('new', 'paid', 'cancelled');\n" +
        'ALTER TABLE orders ADD COLUMN status2 order_status;\n',
      {
        say:
          'I chose a second column with batched updates over ALTER TYPE, because ALTER TYPE rewrites the table ' +
          'under an exclusive lock.',
      },
    ).decides(
      'I chose a second column with batched updates over ALTER TYPE, because ALTER TYPE rewrites the table under ' +
        'an exclusive lock',
    )
    d.bash(
      'psql shop_dev -v ON_ERROR_STOP=1 -f migrations/0042_status_enum.up.sql',
      'CREATE TYPE\npsql:migrations/0042_status_enum.up.sql:2: ERROR:  column "status2" of relation "orders" ' +
        'already exists',
      {
        exit: 3,
        error: 'column "status2" of relation "orders" already exists',
      },
    )
    d.edit('migrations/0042_status_enum.up.sql', 'ADD COLUMN status2', 'ADD COLUMN IF NOT EXISTS status2')
    d.bash('psql shop_dev -v ON_ERROR_STOP=1 -f migrations/0042_status_enum.up.sql', 'CREATE TYPE\nALTER TABLE')
    d.together(() => {
      d.taskIs(1, 'completed')
      d.taskIs(3, 'deleted')
      d.taskIs(2, 'in_progress')
    })
    d.write(
      'migrations/0042_status_enum.down.sql',
      'ALTER TABLE orders DROP COLUMN status2;\nDROP TYPE order_status;\n',
    )
    d.taskIs(2, 'completed')
    d.taskList()
    d.bash(
      'git add migrations && git commit -m "Convert orders.status to an enum" && git push origin migrate-status',
      '[migrate-status 9e8d7c6] Convert orders.status to an enum\n 2 files changed, 5 insertions(+)\n' +
        ' create mode 100644 migrations/0042_status_enum.down.sql\n' +
        ' create mode 100644 migrations/0042_status_enum.up.sql\nTo git.example.org:shop/orders-db.git\n' +
        '   4be12c7..9e8d7c6  migrate-status -> migrate-status',
      {
        commit: { id: '9e8d7c6', subject: 'Convert orders.status to an enum' },
      },
    )
    d.ask('Which copy of production may I use for the trial?', ['Last night on staging', 'A fresh one'], null)
    d.user("I'll tell you after lunch. Meanwhile please estimate how long the batches take.")
    d.bash(
      'psql shop_dev -c "explain analyze update orders set status2 = status::order_status where id between 1 and ' +
        '10000"',
      'Update on orders  (cost=0.43..812.20 rows=0 width=0) (actual time=61.002..61.004 rows=0 loops=1)\n' +
        'Execution Time: 61.118 ms',
    )
    d.say('About 61 ms per 10 000 rows, so 2.26 million rows take some 14 s in all, each batch far below a second.')
  },
} satisfies Scenario
