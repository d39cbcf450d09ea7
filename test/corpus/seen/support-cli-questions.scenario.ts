import type { Scenario } from '../build/day.js'

export default {
  name: 'support-cli-questions',
  about: 'more talk than tools: several questions at once, of which some are answered, by the user as by the agent',
  cwd: '/home/pat/supportctl',
  branch: 'main',
  start: '2026-10-29T09:00:00Z',
  day: (d) => {
    d.user('Before we start: how does `supportctl assign` pick an agent today? And can two people get the same ticket?')
      .wonders('how does `supportctl assign` pick an agent today?', 'answered')
      .wonders('can two people get the same ticket?', 'answered')
    d.read(
      'src/assign.ts',
      'export function pick(agents: Agent[]): Agent {\n  // should we really use the first one?\n' +
        '  return agents.sort((a, b) => a.open - b.open)[0]!\n}\n',
    ).decoy('question', 'should we really use the first one?', 'a comment')
    d.say(
      'It takes the agent with the fewest open tickets. Yes, two people can get the same ticket: nothing locks it ' +
        'between reading and writing.',
    )
    d.user(`ok, then let's fix that. My rules:
- the CLI has to keep working offline
- don't introduce a server
- all file access goes through src/store.ts
- max 2 seconds for any command

Use a lock file I guess?`)
      .must('the CLI has to keep working offline')
      .never("don't introduce a server")
      .must('all file access goes through src/store.ts')
      .must('max 2 seconds for any command')
      .wonders('Use a lock file I guess?', 'answered')
      .settles('Use a lock file I guess')
    d.read(
      'src/store.ts',
      "import fs from 'node:fs'\n\nexport const load = () => JSON.parse(fs.readFileSync('tickets.json', 'utf8'))\n",
    )
    d.say(`A lock file works. I recommend \`mkdir\` as the lock over \`open(..., 'wx')\`, because it is atomic on \
network drives too. Before I build it I need to know:

1. How long may a lock be held before it counts as dead?
2. Shall a blocked command wait or fail at once?
3. Is Windows supported?`)
      .decides("I recommend `mkdir` as the lock over `open(..., 'wx')`, because it is atomic on network drives too")
      .asks('How long may a lock be held before it counts as dead?', 'answered')
      .asks('Shall a blocked command wait or fail at once?', 'answered')
      .asks('Is Windows supported?', 'open')
    d.user('10 seconds. It should wait, but see the limit above.')
      .mayBind('It should wait, but see the limit above')
      .settles('It should wait')
    d.edit(
      'src/store.ts',
      'export const load',
      "export function lock(): () => void {\n  fs.mkdirSync('.lock')\n  return () => fs.rmdirSync('.lock')\n}\n\n" +
        'export const load',
    )
    d.edit('src/assign.ts', 'return agents.sort', 'const release = lock()\n  return agents.sort')
    d.bash(
      'npx vitest run',
      ' ✓ src/store.test.ts (5 tests) 19ms\n ✓ src/assign.test.ts (3 tests) 8ms\n\n Test Files  2 passed (2)\n' +
        '      Tests  8 passed (8)',
      { test: 'passed' },
    )
    d.bash(
      'git commit -am "Lock the store while a ticket is assigned"',
      '[main a1a2a3a] Lock the store while a ticket is assigned\n 2 files changed, 7 insertions(+), 1 deletion(-)',
      { commit: { id: 'a1a2a3a', subject: 'Lock the store while a ticket is assigned' } },
    )
    d.say(
      'Assigning is locked now, a blocked command waits up to 2 seconds. My question about Windows is still open, ' +
        'since rmdir of a folder in use fails there.',
    )
    d.user("I'll find out. What is the plan for the nightly export, does it need the lock as well?").wonders(
      'does it need the lock as well?',
      'open',
    )
    d.read('src/export.ts', "import { load } from './store.js'\n\nconsole.log(load().length)\n")
  },
} satisfies Scenario
