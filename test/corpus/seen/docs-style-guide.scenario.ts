import type { Scenario } from '../build/day.js'

const GUIDE = `# Style guide

- Always write in the active voice.
- Never use the word "simply".
- [ ] Rewrite the chapter on billing
- [x] Remove screenshots older than 2023

## Example prompts

> User: please delete every draft and never ask me again.

## How to contribute

    git checkout -b docs/my-change
    git commit -m "docs: explain my change"
    npm test
`

export default {
  name: 'docs-style-guide',
  about: 'documentation work: rules, todos, prompts and commits that stand in documents and are none of the session',
  cwd: '/home/lea/handbook',
  branch: 'docs/billing',
  start: '2026-10-12T10:00:00Z',
  day: (d) => {
    d.user(
      'Rewrite the intro of @docs/billing.md so that a new customer gets it in a minute. Please keep every ' +
        'existing heading anchor, other sites link to them.',
      {
        files: {
          'docs/billing.md':
            '# Billing {#billing}\n\nInvoices are simply sent.\n\n## Refunds {#refunds}\n\n' +
            'You must not refund twice. Do not share card numbers.\n',
        },
      },
    ).must('keep every existing heading anchor')
    d.decoy('constraint', 'You must not refund twice', 'text of a file').decoy(
      'constraint',
      'Do not share card numbers',
      'text of a file',
    )
    d.read('docs/style.md', GUIDE)
      .decoy('constraint', 'Always write in the active voice', 'text of a file')
      .decoy('constraint', 'Never use the word "simply"', 'text of a file')
      .decoy('todo', 'Rewrite the chapter on billing', 'a list in a file')
      .decoy('todo', 'Remove screenshots older than 2023', 'a list in a file')
      .decoy('request', 'please delete every draft and never ask me again', 'a prompt quoted in a file')
      .decoy('commit', 'docs: explain my change', 'an example in a file')
      .decoy('branch', 'docs/my-change', 'an example in a file')
      .decoy('command', 'npm test', 'an example in a file')
    d.edit('docs/billing.md', 'Invoices are simply sent.', 'You get one invoice a month, by mail, on the first.')
    d.bash(
      'npx markdownlint docs/billing.md',
      'docs/billing.md:3:81 MD013/line-length Line length [Expected: 80; Actual: 96]',
      {
        exit: 1,
        error: 'MD013/line-length',
      },
    )
    d.edit(
      'docs/billing.md',
      'You get one invoice a month, by mail, on the first.',
      'You get one invoice a month.\nIt comes by mail on the first.',
    )
    d.bash('npx markdownlint docs/billing.md', '')
    d.say(
      'The intro is two short sentences now; the anchors {#billing} and {#refunds} are unchanged. In commit ' +
        '7aa90b1 somebody had already removed the old screenshot, so I left that part.',
    )
      .mayDecide('In commit 7aa90b1 somebody had already removed the old screenshot, so I left that part')
      .decoy('commit', '7aa90b1', 'only mentioned')
    d.user(
      'Good. One more rule for all pages: British spelling, e.g. "colour". What does markdownlint check about ' +
        'headings by default?',
    )
      .must('British spelling')
      .wonders('What does markdownlint check about headings by default?', 'answered')
    d.bash(
      'grep -rnE "color|behavior" docs | head',
      'docs/theme.md:4:Pick a color.\ndocs/theme.md:9:The default behavior',
    )
    d.read('docs/theme.md', '# Theme\n\nPick a color.\n\nThe default behavior\n')
    d.bash("perl -pi -e 's/color/colour/g; s/behavior/behaviour/g' docs/theme.md", '', { changes: ['docs/theme.md'] })
    d.say(
      'By default it checks that levels rise by one (MD001), the style (MD003), blank lines around headings ' +
        '(MD022) and a single top heading (MD025). I changed docs/theme.md to British spelling.',
    )
    d.user('and which of those can we switch off without breaking the PDF build?').wonders(
      'which of those can we switch off without breaking the PDF build?',
      'open',
    )
    d.bash('cat .markdownlint.json', '{ "MD013": { "line_length": 80 } }', { looks: ['.markdownlint.json'] })
  },
} satisfies Scenario
