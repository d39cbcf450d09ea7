import type { Day, Scenario } from '../build/day.js'

const component = (n: number): string =>
  `import React from 'react'\n\n/** Widget ${n}. Never render more than one. */\n` +
  `export class Widget${n} extends React.Component<Props> {\n  // TODO: must become a function component\n` +
  `  componentWillMount() { this.load(${n}) }\n` +
  `  render() { return <div className="w${n}">{this.props.children}</div> }\n}\n`

const noise = (n: number): string =>
  Array.from(
    { length: 14 },
    (_, i) =>
      `[vite] warning (${n}.${i}): "use client" was ignored; you should never rely on it · commit ` +
      `${(((n * 31 + i) * 2654435761) % 0xfffffff).toString(16)}`,
  ).join('\n')

function migrate(d: Day, from: number, to: number): void {
  for (let n = from; n < to; n++) {
    const file = `apps/web/src/widgets/widget-${n}.tsx`
    d.read(file, component(n))
    if (n % 3 === 0)
      d.edit(file, 'componentWillMount()', 'componentDidMount()', n % 30 === 0 ? { say: `Widgets from ${n} on.` } : {})
    if (n % 5 === 0)
      d.bash(
        `npx eslint ${file}`,
        n % 15 === 0 ? `${file}\n  6:3  error  Unexpected deprecated method  react/no-deprecated\n\n✖ 1 problem` : '',
        n % 15 === 0 ? { exit: 1 } : {},
      )
    if (n % 11 === 0) d.bash(`npx vite build --mode part-${n}`, noise(n))
  }
}

export default {
  name: 'long-monorepo-upgrade',
  about:
    'a long upgrade, compacted by hand and resumed: hundreds of files, few rules, a todo list rewritten several times',
  cwd: '/home/gus/acme',
  branch: 'react-19',
  start: '2026-11-10T07:00:00Z',
  day: (d) => {
    d.user(
      'Upgrade apps/web to React 19. Refrain from touching apps/admin. Class components may stay classes, do not ' +
        'rewrite them. Commit after each milestone, in small commits.',
    )
      .never('Refrain from touching apps/admin')
      .never('do not rewrite them')
      .must('Commit after each milestone, in small commits')
    d.decoy('constraint', 'Never render more than one', 'a comment')
      .decoy('constraint', 'you should never rely on it', 'output of a command')
      .decoy('todo', 'must become a function component', 'a comment')
    d.todos([
      ['Replace componentWillMount', 'in_progress'],
      ['Move to createRoot', 'pending'],
      ['Drop enzyme', 'pending'],
      ['Update storybook', 'pending'],
    ])
    migrate(d, 0, 90)
    d.bash(
      'npx vitest run --project web',
      ' FAIL  apps/web/src/app.test.tsx > App > mounts\n' +
        'Error: ReactDOM.render is no longer supported in React 18+\n\n Test Files  1 failed | 41 passed (42)\n' +
        '      Tests  1 failed | 388 passed (389)',
      {
        exit: 1,
        test: 'failed',
        fails: ['apps/web/src/app.test.tsx > App > mounts'],
        error: 'ReactDOM.render is no longer supported',
      },
    )
    d.bash('git commit -qam "web: replace componentWillMount" && git rev-parse --short HEAD', 'abc0001', {
      commit: { subject: 'web: replace componentWillMount' },
    })
    d.todos([
      ['Replace componentWillMount', 'completed'],
      ['Move to createRoot', 'in_progress'],
      ['Drop enzyme', 'pending'],
    ])
    d.say(
      'The first milestone is committed. Storybook pins React 18, so I took it off the list: it needs its own ' +
        'upgrade. Next is createRoot.',
    ).mayDecide('Storybook pins React 18, so I took it off the list: it needs its own upgrade')
    d.compact(
      'manual',
      'The user asked to upgrade apps/web to React 19 and to never touch apps/admin. Please continue with ' +
        'createRoot.\n\nOpen: should storybook be removed?\n\n' +
        'Commits so far: abc0001 web: replace componentWillMount, and "web: tidy up" which is planned.',
      'keep the list of widgets',
    )
      .decoy('request', 'Please continue with createRoot.', 'the summary of a compaction')
      .decoy('commit', 'web: tidy up', 'the summary of a compaction')
      .decoy('question', 'should storybook be removed?', 'the summary of a compaction')
    d.user('continue. one more thing: bundle size must stay below 300 kB gzipped.').must(
      'bundle size must stay below 300 kB gzipped',
    )
    d.read(
      'apps/web/src/main.tsx',
      "import ReactDOM from 'react-dom'\nReactDOM.render(<App />, document.getElementById('root'))\n",
    )
    d.edit(
      'apps/web/src/main.tsx',
      "ReactDOM.render(<App />, document.getElementById('root'))",
      "createRoot(document.getElementById('root')!).render(<App />)",
    )
    migrate(d, 90, 185)
    d.bash('npx vitest run --project web', ' Test Files  42 passed (42)\n      Tests  389 passed (389)', {
      test: 'passed',
      passes: ['apps/web/src/app.test.tsx > App > mounts'],
    })
    d.bash(
      'git commit -am "web: mount with createRoot"',
      '[react-19 abc0002] web: mount with createRoot\n 33 files changed, 33 insertions(+), 33 deletions(-)',
      { commit: { id: 'abc0002', subject: 'web: mount with createRoot' } },
    )
    d.todos([
      ['Replace componentWillMount', 'completed'],
      ['Move to createRoot', 'completed'],
      ['Drop enzyme', 'in_progress'],
    ])
    d.resume('react-19')
    d.user('is enzyme gone yet?').wonders('is enzyme gone yet?', 'answered')
    d.bash('grep -rln enzyme apps/web/src | wc -l', '6')
    d.say('Not yet: six test files still import it.')
    d.user('then finish that tomorrow. good night').mayBind('then finish that tomorrow')
    d.say('Good night. Open: dropping enzyme from six test files.')
    d.leave()
  },
} satisfies Scenario
