import type { Scenario } from '../build/day.js'

export default {
  name: 'print-review',
  about: 'print mode: subagents, a tool server, hooks and a web search; what they say is not what the user says',
  cwd: '/builds/checkout',
  branch: 'pr-219',
  entry: 'sdk-cli',
  start: '2026-10-23T03:00:00Z',
  day: (d) => {
    d.user(
      'Review the diff of this branch against main and fix what is clearly wrong. Do not touch the lockfile. ' +
        'Report in at most ten lines.',
    )
      .never('Do not touch the lockfile')
      .must('Report in at most ten lines')
    d.hook('UserPromptSubmit', 'CI policy: you must not print secrets. Never use curl.')
      .decoy('constraint', 'you must not print secrets', 'added by a hook')
      .decoy('constraint', 'Never use curl', 'added by a hook')
    d.noSuchTool('Grep', { pattern: 'TODO' })
    d.bash(
      'git diff main...HEAD --stat',
      ' src/cart.ts  | 14 ++++++++------\n src/price.ts |  6 +++---\n' +
        ' 2 files changed, 11 insertions(+), 9 deletions(-)',
    )
    d.together(() => {
      d.read(
        'src/cart.ts',
        'export function sum(items: Item[]) {\n  // always round at the very end\n' +
          '  return items.reduce((all, item) => all + item.price * item.count, 0)\n}\n',
      )
      d.read('src/price.ts', "export const currency = 'EUR'\n")
    }).decoy('constraint', 'always round at the very end', 'a comment')
    d.delegate(
      'Check the price maths',
      'Check src/price.ts for rounding errors. Do not edit anything. What is the worst case?',
      'I found one error: cents are added as floats.\nYou should always use integers. Never ship this.\n' +
        'I committed nothing; the last commit is e1e1e1e "Add vouchers".\nIs the discount applied before tax?',
    )
      .decoy('constraint', 'You should always use integers', 'the report of a subagent')
      .decoy('constraint', 'Never ship this', 'the report of a subagent')
      .decoy('commit', 'Add vouchers', 'only mentioned')
      .decoy('question', 'Is the discount applied before tax?', 'the report of a subagent')
    d.mcp(
      'mcp__tracker__get_issue',
      { id: 'CHK-88' },
      'CHK-88 Totals are off by one cent\nReporter: please never close this without a test\n- [ ] write a test\n' +
        '- [ ] deploy',
    )
      .decoy('constraint', 'please never close this without a test', 'text of a tool server')
      .decoy('todo', 'write a test', 'text of a tool server')
    d.web(
      'javascript sum cents without floating point',
      'Stack Overflow: "Never use floats for money." Use integers or BigInt.',
    ).decoy('constraint', 'Never use floats for money', 'a web page')
    d.edit('src/cart.ts', 'all + item.price * item.count', 'all + Math.round(item.price * 100) * item.count')
    d.bash(
      'npx mocha --reporter spec',
      '\n  cart\n    ✔ sums prices\n    1) sums cents exactly\n\n\n  1 passing (9ms)\n  1 failing\n\n  1) cart\n' +
        '       sums cents exactly:\n\n      AssertionError [ERR_ASSERTION]: 3030 == 30.3\n' +
        '      at Context.<anonymous> (test/cart.test.js:12:14)',
      {
        exit: 1,
        test: 'failed',
        fails: ['sums cents exactly'],
        passes: ['sums prices'],
        error: '3030 == 30.3',
      },
    )
    d.noSuchTool('MultiEdit', {
      file_path: '/builds/checkout/src/price.ts',
      edits: [{ old_string: 'EUR', new_string: 'USD' }],
    }).decoy('file', 'src/price.ts', 'the tool refused the change')
    d.queued('also check that vouchers cannot make the total negative')
    d.edit('src/cart.ts', 'item.count, 0)', 'item.count, 0) / 100')
    d.bash(
      'npx mocha --reporter spec',
      '\n  cart\n    ✔ sums prices\n    ✔ sums cents exactly\n\n\n  2 passing (8ms)',
      {
        test: 'passed',
        passes: ['sums prices', 'sums cents exactly'],
      },
    )
    d.bash(
      'git commit -am "Sum cents as integers"',
      '[pr-219 b0b1b2b] Sum cents as integers\n 1 file changed, 1 insertion(+), 1 deletion(-)',
      { commit: { id: 'b0b1b2b', subject: 'Sum cents as integers' } },
    )
    d.say(
      'Fixed: totals are summed in cents (b0b1b2b). Vouchers: `Math.max(0, …)` is already in place in ' +
        'applyVoucher. Nothing else stood out.',
    )
    d.leave()
  },
} satisfies Scenario
