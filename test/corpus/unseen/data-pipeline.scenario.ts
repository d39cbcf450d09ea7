import type { Scenario } from '../build/day.js'

const DAG = `# Owner: data-eng. All changes must be reviewed by two people.
from airflow import DAG

with DAG("orders_daily", schedule="@daily") as dag:
    extract = PythonOperator(task_id="extract", python_callable=run)
`

export default {
  name: 'data-pipeline',
  about:
    'a data pipeline in SQL and Python: todos dropped and rewritten, a slash command, a question nobody answered, ' +
    'tests in two runners',
  cwd: '/home/vic/pipeline',
  branch: 'main',
  start: '2026-11-12T08:00:00Z',
  day: (d) => {
    d.command(
      'triage',
      'orders_daily late since monday',
      'Triage the pipeline named in the arguments.\n\nNever rerun a DAG on your own.\nAlways end with a table.\n',
    )
      .decoy('constraint', 'Never rerun a DAG on your own', 'the text a command stands for')
      .decoy('constraint', 'Always end with a table', 'the text a command stands for')
    d.todos([
      ['Check the schedule', 'in_progress'],
      ['Look at slow queries', 'pending'],
      ['Ask the source team', 'pending'],
    ])
    d.read('dags/orders_daily.py', DAG).decoy('constraint', 'All changes must be reviewed by two people', 'a comment')
    d.read(
      'sql/orders.sql',
      'select *\nfrom raw.orders o\njoin raw.items i on i.order_id = o.id\nwhere o.day = current_date\n',
    )
    d.bash(
      'python -m pipeline.explain sql/orders.sql',
      'Seq Scan on items  (cost=0.00..912231.10 rows=40010234 width=88)\n  Filter: never executed',
    )
    d.say(
      'The join scans all of raw.items. I see two options, a partition filter or an index. Shall I go ahead with ' +
        'the filter?',
    ).asks('Shall I go ahead with the filter?', 'answered')
    d.user(
      "go ahead. But keep the output columns exactly as they are, BI depends on them. And the query isn't allowed " +
        'to use temp tables. We only ever deploy on Tuesdays.',
    )
      .must('keep the output columns exactly as they are')
      .never("the query isn't allowed to use temp tables")
      .must('We only ever deploy on Tuesdays')
    d.todos([
      ['Check the schedule', 'completed'],
      ['Add a partition filter to orders.sql', 'in_progress'],
      ['Add a regression test', 'pending'],
    ])
    d.edit('sql/orders.sql', 'where o.day = current_date', 'where o.day = current_date\n  and i.day = current_date', {
      say:
        'Going with the partition filter rather than an index: an index on 40 million rows would block the nightly ' +
        'load.',
    }).decides(
      'Going with the partition filter rather than an index: an index on 40 million rows would block the nightly load',
    )
    d.write(
      'tests/test_orders_sql.py',
      'def test_filter(db):\n    assert db.explain("sql/orders.sql").rows < 1_000_000\n',
    )
    d.bash(
      'pytest -q tests/test_orders_sql.py',
      'F                                                                        [100%]\n' +
        '=========================== short test summary info ============================\n' +
        'FAILED tests/test_orders_sql.py::test_filter - OperationalError: connection refused\n1 failed in 0.40s',
      {
        exit: 1,
        test: 'failed',
        fails: ['tests/test_orders_sql.py::test_filter'],
        error: 'OperationalError: connection refused',
      },
    )
    d.background('docker compose up db', { description: 'Database for the tests' })
    d.bash(
      'pytest -q tests/test_orders_sql.py',
      '.                                                                        [100%]\n1 passed in 1.92s',
      { test: 'passed', passes: ['tests/test_orders_sql.py::test_filter'] },
    )
    d.bash(
      'dbt test --select orders',
      '08:41:10  1 of 2 START test not_null_orders_id ... [RUN]\n' +
        '08:41:11  1 of 2 PASS not_null_orders_id ......... [PASS in 0.71s]\n' +
        '08:41:12  2 of 2 FAIL 3 unique_orders_id ......... [FAIL 3 in 0.64s]\n' +
        '08:41:12  Done. PASS=1 WARN=0 ERROR=1 SKIP=0 TOTAL=2',
      { exit: 1, test: 'failed', fails: ['unique_orders_id'], passes: ['not_null_orders_id'] },
    )
    d.todos([
      ['Check the schedule', 'completed'],
      ['Add a partition filter to orders.sql', 'completed'],
      ['Add a regression test', 'completed'],
      ['Find the three duplicate ids', 'pending'],
    ])
    d.bash(
      'git checkout -b orders-filter && git add -A && git commit -m "Filter items by day in orders.sql"',
      "Switched to a new branch 'orders-filter'\n[orders-filter 7e57ab1] Filter items by day in orders.sql\n" +
        ' 2 files changed, 3 insertions(+)\n create mode 100644 tests/test_orders_sql.py',
      { branch: 'orders-filter', commit: { id: '7e57ab1', subject: 'Filter items by day in orders.sql' } },
    )
    d.say(
      'The query is fast again and committed on orders-filter. dbt found three duplicate ids that have nothing to ' +
        'do with this. Do you know whether the source sends corrections as new rows?',
    ).asks('Do you know whether the source sends corrections as new rows?', 'open')
    d.user('no idea, ask Priya. by the way thanks, never seen it that fast!').decoy(
      'constraint',
      'never seen it that fast',
      'no rule, but praise',
    )
    d.say('I cannot reach Priya from here; the question stays open.')
  },
} satisfies Scenario
