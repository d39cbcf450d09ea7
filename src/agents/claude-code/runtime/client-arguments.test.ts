import { expect, test } from 'vitest'
import type { SessionOptions } from '../../../contract/runtime.js'
import { clientArguments } from './client-arguments.js'
import { sdkOptions } from './sdk-runtime.js'

const SESSION_OPTIONS: SessionOptions = {
  sessionId: 'new',
  begin: { how: 'fresh' },
  cwd: '/p',
  env: {},
  model: null,
  permissionMode: null,
  allowedTools: null,
  disallowedTools: null,
  appendSystemPrompt: null,
  maxTurns: null,
  maxBudgetUsd: null,
  compacts: true,
}
const args = (change: Partial<SessionOptions>) => clientArguments({ ...SESSION_OPTIONS, ...change }).slice(7)
const options = (change: Partial<SessionOptions>) =>
  sdkOptions({
    sessionOptions: { ...SESSION_OPTIONS, ...change },
    env: {},
    binary: null,
    spawn: () => null,
    hook: async () => ({}),
  })

test.each<[string, Partial<SessionOptions>, string[], object]>([
  ['fresh', {}, ['--session-id=new'], { sessionId: 'new' }],
  ['resumed', { begin: { how: 'resume' } }, ['--resume=new'], { resume: 'new' }],
  [
    'forked',
    { begin: { how: 'fork', from: 'old', at: null } },
    ['--resume=old', '--fork-session', '--session-id=new'],
    { resume: 'old', forkSession: true, sessionId: 'new' },
  ],
  [
    'forked at a message',
    { begin: { how: 'fork', from: 'old', at: 'u7' } },
    ['--resume=old', '--fork-session', '--session-id=new', '--resume-session-at=u7'],
    { resume: 'old', forkSession: true, sessionId: 'new', resumeSessionAt: 'u7' },
  ],
])('a session is started %s, by the command line and by the SDK', (_, change, line, option) => {
  expect(args(change)).toEqual(line)
  expect(options(change)).toMatchObject(option)
})

test('requested options are passed, and all others are left to the user’s settings', () => {
  const change: Partial<SessionOptions> = {
    model: 'opus',
    permissionMode: 'bypassPermissions',
    allowedTools: ['Bash(git log:*)', 'Read'],
    disallowedTools: ['WebFetch'],
    maxTurns: 9,
    maxBudgetUsd: 1.5,
    compacts: false,
  }
  expect(args(change).slice(1)).toEqual([
    '--model=opus',
    '--permission-mode=bypassPermissions',
    '--allow-dangerously-skip-permissions',
    '--allowedTools=Bash(git log:*),Read',
    '--disallowedTools=WebFetch',
    '--max-turns=9',
    '--max-budget-usd=1.5',
    '--settings={"autoCompactEnabled":false}',
  ])
  const { compacts: _, ...named } = change
  expect(options(change)).toMatchObject({
    ...named,
    allowDangerouslySkipPermissions: true,
    settings: { autoCompactEnabled: false },
  })
  expect(Object.keys(options({}))).not.toEqual(expect.arrayContaining(['model']))
})
