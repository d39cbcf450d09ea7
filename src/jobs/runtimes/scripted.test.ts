import { expect, test } from 'vitest'
import { recordingListener, recordSession } from './recorded-session.cases.js'
import { type Plan, type PlanStep, type RuntimePlace, runtimeCases } from './runtime.cases.js'
import { scriptedRuntime } from './scripted.js'
import type { ScriptedStep } from './scripted-steps.js'

runtimeCases(place)

async function place(plan: Plan): Promise<RuntimePlace> {
  const steps = [...plan.steps, ...(plan.afterCompaction ?? [])].map((step) => stepOf(step, plan))
  const runtime = scriptedRuntime(
    { sessions: [steps], replies: plan.replies ?? [] },
    plan.answerMs === undefined ? {} : { answerMs: plan.answerMs },
  )
  return { runtime, cwd: '/', env: {}, requests: () => runtime.requests.map(({ texts }) => texts.join('\n')) }
}

function stepOf({ text, run, background, used, fail }: PlanStep, { retries = 0 }: Plan): ScriptedStep {
  const commands = (run ?? []).map((input) => ({ input, failed: input === 'false', hangs: input.includes('tail -f') }))
  return {
    ...(text === undefined ? {} : { text }),
    calls: background === undefined ? commands : [{ input: background }],
    ...(background === undefined ? {} : { tasks: ['task-1'] }),
    ...(used === undefined ? {} : { used }),
    ...(typeof fail === 'number'
      ? { retries: Array<number>(retries).fill(fail), fails: { terminal: 'api_error', status: fail } }
      : {}),
    ...(fail === 'too-long' ? { fails: { terminal: 'prompt_too_long', status: 400 } } : {}),
  }
}

const SESSION_OPTIONS = {
  sessionId: 's1',
  begin: { how: 'fresh' },
  cwd: '/',
  env: {},
  model: null,
  permissionMode: null,
  allowedTools: null,
  disallowedTools: null,
  appendSystemPrompt: null,
  maxTurns: null,
  maxBudgetUsd: null,
  compacts: true,
} as const

test.each([
  ['request', ['working', 'started'], []],
  ['answer', ['working', 'started', 'answer'], []],
  ['tool', ['working', 'started', 'answer'], ['before Bash']],
  ['batch', ['working', 'started', 'answer'], ['before Bash', 'after Bash', 'batch 1']],
  ['result', ['working', 'started', 'answer'], []],
] as const)('a scripted client dies at the scripted point %s', async (at, kinds, asked) => {
  const step = { ...(at === 'result' ? { text: 'Done.' } : { calls: [{}] }), dies: { at } }
  const listening = recordingListener()
  const recorded = recordSession(scriptedRuntime({ sessions: [[step]] }).start(SESSION_OPTIONS, listening))
  recorded.session.say('work')
  expect(await recorded.next('exit')).toEqual({ kind: 'exit', code: null, signal: 'SIGKILL', trouble: null })
  const told = recorded.messages.map((message) => (message.kind === 'state' ? message.state : message.kind))
  expect(told).toEqual([...kinds, 'exit'])
  expect(listening.asked).toEqual(asked)
})

test('a reply to a known prompt is given out of turn, and the steps continue afterwards', async () => {
  const runtime = scriptedRuntime({
    sessions: [[{ text: 'One.' }, { text: 'Two.' }]],
    replies: [
      {
        when: 'brief',
        text: 'The brief.',
        limit: { name: 'five_hour', reached: false, resetsAt: null, usedPercent: 80 },
      },
    ],
  })
  const recorded = recordSession(runtime.start(SESSION_OPTIONS, recordingListener()))
  for (const prompt of ['a', 'the brief please', 'b', 'c']) recorded.session.say(prompt)
  await recorded.next('result', 4)
  await recorded.session.end()
  expect(recorded.of('result').map(({ text }) => text)).toEqual(['One.', 'The brief.', 'Two.', 'Done.'])
  expect(recorded.of('limit')).toEqual([
    { kind: 'limit', name: 'five_hour', reached: false, resetsAt: null, usedPercent: 80 },
  ])
})

test('a hanging step is ended by an interrupt, and for good by kill', async () => {
  const recorded = recordSession(
    scriptedRuntime({ sessions: [[{ hangs: true }, { hangs: true }]] }).start(SESSION_OPTIONS, recordingListener()),
  )
  recorded.session.say('a')
  await recorded.next('started')
  await recorded.session.interrupt()
  expect((await recorded.next('result')).isError).toBe(true)
  recorded.session.say('b')
  recorded.session.kill()
  expect((await recorded.next('exit')).signal).toBe('SIGKILL')
  expect(recorded.of('result')).toHaveLength(1)
})
