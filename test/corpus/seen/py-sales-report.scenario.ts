import type { Scenario } from '../build/day.js'

const REPORT = `"""Monthly sales report.

You must never round before summing (see the audit of 2021).
"""
from __future__ import annotations

import csv
from decimal import Decimal


def load(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as handle:
        return list(csv.DictReader(handle))


def total(rows: list[dict[str, str]]) -> Decimal:
    # do not use float here
    return sum((Decimal(row["amount"]) for row in rows), Decimal("0"))
`

const RED = `============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0
rootdir: /srv/sales
configfile: pyproject.toml
collected 14 items

tests/test_load.py ....                                                  [ 28%]
tests/test_report.py ...F..F...                                          [100%]

=================================== FAILURES ===================================
______________________________ test_total_by_region ____________________________

    def test_total_by_region():
>       assert by_region(ROWS)["EMEA"] == Decimal("120.50")
E       KeyError: 'EMEA'

tests/test_report.py:41: KeyError
____________________________ test_skips_cancelled_orders _______________________

>       assert total(rows) == Decimal("99.00")
E       AssertionError: assert Decimal('149.00') == Decimal('99.00')

tests/test_report.py:77: AssertionError
=========================== short test summary info ============================
FAILED tests/test_report.py::test_total_by_region - KeyError: 'EMEA'
FAILED tests/test_report.py::test_skips_cancelled_orders - AssertionError: as...
========================= 2 failed, 12 passed in 0.61s =========================`

const HALF = `collected 10 items

tests/test_report.py ......F...                                          [100%]

=========================== short test summary info ============================
FAILED tests/test_report.py::test_skips_cancelled_orders - AssertionError: as...
========================= 1 failed, 9 passed in 0.33s ==========================`

export default {
  name: 'py-sales-report',
  about: 'a Python report: todos rewritten as a whole, one dropped, one test still failing at the end',
  cwd: '/srv/sales',
  branch: 'feature/regions',
  start: '2026-10-06T13:40:00Z',
  day: (d) => {
    d.user(`We need totals per region in the monthly report. Rows look like this:

\`\`\`csv
order,region,amount,status
1001,emea,70.25,paid
1002,EMEA,50.25,paid
1003,apac,50.00,cancelled
\`\`\`

Cancelled orders must not be counted. Keep using Decimal everywhere, never float. \
The notebook notebooks/monthly.ipynb should show the new table too.`)
      .must('Keep using Decimal everywhere')
      .never('never float')
      .mayBind('The notebook notebooks/monthly.ipynb should show the new table too')
      .must('Cancelled orders must not be counted')
    d.todos(
      [
        ['Read the report and its tests', 'in_progress'],
        ['Add by_region()', 'pending'],
        ['Skip cancelled orders', 'pending'],
        ['Cache the CSV between runs', 'pending'],
        ['Show the table in the notebook', 'pending'],
      ],
      { say: 'A plan first.' },
    )
    d.together(() => {
      d.read('report.py', REPORT)
      d.read('tests/test_report.py', 'from decimal import Decimal\n\nfrom report import by_region, total\n')
      d.missing('tests/conftest.py')
    })
      .decoy('constraint', 'You must never round before summing', 'a docstring')
      .decoy('constraint', 'do not use float here', 'a comment')
    d.bash('python -m pytest -q', RED, {
      exit: 1,
      test: 'failed',
      fails: ['tests/test_report.py::test_total_by_region', 'tests/test_report.py::test_skips_cancelled_orders'],
      error: "KeyError: 'EMEA'",
    })
    d.edit(
      'report.py',
      'def total(',
      'def by_region(rows):\n    sums: dict[str, Decimal] = {}\n    for row in rows:\n' +
        '        key = row["region"].upper()\n        sums[key] = sums.get(key, Decimal("0")) + ' +
        'Decimal(row["amount"])\n    return sums\n\n\ndef total(',
    )
    d.todos([
      ['Read the report and its tests', 'completed'],
      ['Add by_region()', 'completed'],
      ['Skip cancelled orders', 'in_progress'],
      ['Show the table in the notebook', 'pending'],
      ['Document the region column', 'pending'],
    ])
    d.bash('python -m pytest -q tests/test_report.py', HALF, {
      exit: 1,
      test: 'failed',
      fails: ['tests/test_report.py::test_skips_cancelled_orders'],
      passes: ['tests/test_report.py::test_total_by_region'],
    })
    d.notebook('notebooks/monthly.ipynb', 'cell-4', 'total(rows)', 'pd.Series(by_region(rows)).to_frame("total")')
    d.bash(
      'python -m ruff check . && python -m mypy report.py',
      'All checks passed!\nSuccess: no issues found in 1 source file',
    )
    d.say(
      'Regions are summed and the notebook shows them. I decided against caching the CSV: the file is 40 kB and ' +
        'the cache would need invalidation. One thing is unclear: should refunded orders be treated like cancelled ' +
        'ones?',
    )
      .decides('I decided against caching the CSV: the file is 40 kB and the cache would need invalidation')
      .asks('should refunded orders be treated like cancelled ones?', 'open')
  },
} satisfies Scenario
