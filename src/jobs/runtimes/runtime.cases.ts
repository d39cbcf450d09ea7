import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import type { Runtime, SessionOptions } from '../../contract/runtime.js'
import {
  type RecordedSession,
  type RecordingListener,
  recordingListener,
  recordSession,
} from './recorded-session.cases.js'

/** An answer of the model: with commands the turn continues, without it ends. */
export interface PlanStep {
  text?: string
  /** Shell commands, called in parallel. */
  run?: string[]
  /** Command that continues in the background. */
  background?: string
  used?: number
  /** Failure of the request. `hang` and `stall` affect the first request only, others each one. */
  fail?: 'too-long' | 'hang' | 'stall' | number
}

export interface Plan {
  steps: PlanStep[]
  /** Replies to prompts that contain `when`, without using up a step. */
  replies?: { when: string; text: string }[]
  afterCompaction?: PlanStep[]
  /** Number of retries of a failing request. Default: the client's own. */
  retries?: number
  /** Time limit of a listener callback. Default: the runtime's own. */
  answerMs?: number
}

/** Runtime that plays a plan. */
export interface RuntimePlace {
  runtime: Runtime
  cwd: string
  env: Record<string, string>
  /** Returns what the model could read in each request of the main agent, in order. */
  requests(): string[]
}

/** Endless command, and the file that proves it runs. */
export const ENDLESS = 'echo $$ > endless.pid; tail -f /dev/null'

const FULL = 170_000

/** Steps that pass the compaction point with enough conversation to compact. */
const CLIMB: PlanStep[] = [100_000, 150_000, FULL].map((used) => ({ run: ['echo one'], used }))

/** Test cases that every runtime must pass. */
export function runtimeCases(place: (plan: Plan) => Promise<RuntimePlace>): void {
  const sessionOptions = (at: RuntimePlace, change: Partial<SessionOptions> = {}): SessionOptions => ({
    sessionId: randomUUID(),
    begin: { how: 'fresh' },
    cwd: at.cwd,
    env: at.env,
    model: 'claude-opus-4-6',
    permissionMode: 'bypassPermissions',
    allowedTools: null,
    disallowedTools: null,
    appendSystemPrompt: null,
    maxTurns: null,
    maxBudgetUsd: null,
    compacts: true,
    ...change,
  })
  const start = (
    at: RuntimePlace,
    change: Partial<SessionOptions> = {},
    listening: RecordingListener = recordingListener(),
  ): RecordedSession => recordSession(at.runtime.start(sessionOptions(at, change), listening))

  test('a fresh session has the given id, counts every answer once and exits by itself', async () => {
    const at = await place({
      steps: [
        { text: 'Two things.', run: ['echo one', 'false'], used: 50_008 },
        { text: 'First.', used: 51_008 },
        { text: 'Second.', used: 52_008 },
      ],
    })
    expect(at.runtime.missing()).toBeNull()
    const inBatch: (number | null)[] = []
    const sessionId = randomUUID()
    const listening = recordingListener({
      afterBatch: async () => {
        inBatch.push((await recorded.session.usage())?.used ?? null)
        return {}
      },
    })
    const recorded: RecordedSession = start(at, { sessionId }, listening)

    const before = await recorded.session.usage()
    expect(before).toMatchObject({ window: 200_000, point: 167_000, proactive: true })
    expect(at.requests()).toHaveLength(0)

    recorded.session.say('do the first')
    recorded.session.say('do the second')
    await recorded.next('result', 2)
    const after = await recorded.session.usage()
    await recorded.session.end()
    const exit = await recorded.next('exit')

    expect(recorded.of('started')).toMatchObject([{ sessionId, model: 'claude-opus-4-6' }])
    const answers = recorded.of('answer')
    expect(answers.map(({ text }) => text)).toEqual(['Two things.', 'First.', 'Second.'])
    expect(new Set(answers.map(({ id }) => id)).size).toBe(3)
    expect(answers[0]!.calls.map(({ name }) => name)).toEqual(['Bash', 'Bash'])
    expect(
      answers.slice(0, 2).map(({ usage }) => usage && usage.input + usage.cacheCreation + usage.cacheRead),
    ).toEqual([50_008, 51_008])
    expect(answers[0]!.usage?.output).toBe(50)
    expect(recorded.of('result').map(({ terminal, isError, text }) => [terminal, isError, text])).toEqual([
      ['completed', false, 'First.'],
      ['completed', false, 'Second.'],
    ])
    expect(recorded.of('result')[1]!.spend.usage.output).toBe(150)
    expect([...listening.asked].sort()).toEqual(['after Bash', 'batch 2', 'before Bash', 'before Bash', 'failed Bash'])
    expect(listening.asked.at(-1)).toBe('batch 2')
    expect(listening.batches[0]!.map(({ failed }) => failed)).toEqual([false, true])
    expect(inBatch[0]).toBeGreaterThanOrEqual(50_008)
    expect(after!.used).toBeGreaterThanOrEqual(51_008)
    expect(at.requests().at(-1)).toContain('do the second')
    expect(at.requests()[1]).not.toContain('do the second')
    expect(exit).toEqual({ kind: 'exit', code: 0, signal: null, trouble: null })
    expect(recorded.messages.at(-1)).toBe(exit)
    expect(recorded.raw.length).toBeGreaterThanOrEqual(recorded.messages.length - 1)
    expect(recorded.raw.every((line) => line.startsWith('{'))).toBe(true)
  })

  test('a batch can stop the turn, after which the same process takes the next prompt', async () => {
    const at = await place({
      steps: [{ run: ['echo one'], text: 'Working.' }, { run: ['touch forbidden'] }, { text: 'The brief.' }],
      replies: [
        { when: 'go on from here', text: 'I went on.' },
        { when: 'what do you know', text: 'I am another.' },
      ],
    })
    let denies = false
    const sessionId = randomUUID()
    const listening = recordingListener({
      beforeTool: async () => (denies ? { deny: 'only words now' } : {}),
      afterBatch: async () => (denies ? {} : { stop: 'the window is full' }),
    })
    const recorded = start(at, { sessionId }, listening)
    recorded.session.say('work')
    expect(await recorded.next('result')).toMatchObject({ terminal: 'hook_stopped', isError: false })
    denies = true
    recorded.session.say('write the brief')
    expect(await recorded.next('result', 2)).toMatchObject({ terminal: 'completed', text: 'The brief.' })
    await recorded.session.end()
    expect(at.requests()).toHaveLength(3)
    expect(at.requests()[2]).toContain('only words now')
    expect(listening.batches.map((calls) => calls.map(({ failed }) => failed))).toEqual([[false], [true]])
    const cut = recorded.of('answer')[0]!.uuid

    const resumed = start(at, { sessionId, begin: { how: 'resume' } })
    resumed.session.say('go on from here')
    expect(await resumed.next('result')).toMatchObject({ terminal: 'completed', text: 'I went on.' })
    await resumed.session.end()
    expect(resumed.of('started')[0]!.sessionId).toBe(sessionId)
    expect(at.requests().at(-1)).toContain('The brief.')

    const forkId = randomUUID()
    const forked = start(at, { sessionId: forkId, begin: { how: 'fork', from: sessionId, at: cut } })
    forked.session.say('what do you know')
    await forked.next('result')
    await forked.session.end()
    expect(forked.of('started')[0]!.sessionId).toBe(forkId)
    expect(at.requests().at(-1)).toContain('Working.')
    expect(at.requests().at(-1)).not.toContain('The brief.')
  })

  test('a compaction is announced and reported, and text added after it reaches the model', async () => {
    const at = await place({
      steps: CLIMB,
      afterCompaction: [{ text: 'Going on.', used: 30_000 }],
    })
    const listening = recordingListener({ afterCompaction: async () => ({ context: 'remember the lighthouse' }) })
    const recorded = start(at, {}, listening)
    recorded.session.say('work')
    await recorded.next('result')
    await recorded.session.end()
    expect(recorded.of('compacting')).toHaveLength(1)
    expect(recorded.of('compacted')).toMatchObject([{ trigger: 'auto' }])
    expect(recorded.of('compacted')[0]!.before).toBeGreaterThanOrEqual(FULL)
    expect(listening.asked.slice(-2)).toEqual(['compaction auto', 'compacted'])
    expect(at.requests().at(-1)).toContain('remember the lighthouse')
  })

  test('after compaction was forbidden, the client does not compact', async () => {
    const at = await place({
      steps: [
        { run: ['echo one'], used: FULL },
        { text: 'All of it.', used: FULL + 1000 },
      ],
    })
    const listening = recordingListener({
      afterBatch: async () => {
        await recorded.session.forbidCompaction()
        return { context: 'a word between' }
      },
    })
    const recorded: RecordedSession = start(at, {}, listening)
    recorded.session.say('work')
    expect(await recorded.next('result')).toMatchObject({ terminal: 'completed', text: 'All of it.' })
    expect((await recorded.session.usage())!.proactive).toBe(false)
    await recorded.session.end()
    expect([recorded.of('compacting'), recorded.of('compacted')]).toEqual([[], []])
    expect(at.requests().at(-1)).toContain('a word between')
  })

  test('an interrupt ends the turn and its tool at once, and the session accepts another prompt', async () => {
    const at = await place({ steps: [{ run: [ENDLESS] }, { text: 'Here again.' }] })
    const listening = recordingListener()
    const recorded = start(at, {}, listening)
    recorded.session.say('work')
    await until('the tool is asked for', () => listening.asked.includes('before Bash'))
    expect((await recorded.next('answer')).calls).toHaveLength(1)
    await recorded.session.interrupt()
    const result = await recorded.next('result')
    expect([result.isError, result.terminal]).toEqual([true, 'aborted_tools'])
    recorded.session.say('still there?')
    expect(await recorded.next('result', 2)).toMatchObject({ isError: false, text: 'Here again.' })
    await recorded.session.end()
    expect((await recorded.next('exit')).signal).toBeNull()
  })

  test('background tasks are reported and can be stopped', async () => {
    const at = await place({ steps: [{ background: ENDLESS }, { text: 'It runs.' }] })
    const recorded = start(at)
    recorded.session.say('work')
    await recorded.next('result')
    const [task] = (await recorded.next('tasks')).running
    await recorded.session.stopTask(task!)
    await until('no task is left', () => recorded.of('tasks').at(-1)!.running.length === 0)
    await recorded.session.end()
    await recorded.next('exit')
  })

  test('a prompt that is too long ends the turn with the client’s own terminal reason', async () => {
    const at = await place({ steps: [{ fail: 'too-long' }] })
    const recorded = start(at, { compacts: false })
    recorded.session.say('work')
    expect(await recorded.next('result')).toMatchObject({ terminal: 'prompt_too_long', isError: true })
    expect(recorded.of('answer')).toEqual([])
    await recorded.session.end()
    expect(recorded.of('compacting')).toEqual([])
  })

  test('a failing API is reported as retries and then as the end of the turn, with its status', async () => {
    const at = await place({ steps: [{ fail: 529 }], retries: 1 })
    const recorded = start(at)
    recorded.session.say('work')
    expect(await recorded.next('result')).toMatchObject({ terminal: 'api_error', isError: true, status: 529 })
    expect(recorded.of('retry')).toMatchObject([{ attempt: 1, status: 529 }])
    expect(recorded.of('answer')).toEqual([])
    await recorded.session.end()
  })

  test('listener callbacks that hang or throw count as empty answers, and the session continues', async () => {
    const at = await place({ steps: [{ run: ['echo one'] }, { text: 'Done.' }], answerMs: 300 })
    const never = new Promise<never>(() => {})
    const recorded = start(
      at,
      {},
      recordingListener({
        beforeTool: () => {
          throw new Error('broken')
        },
        afterTool: () => Promise.reject(new Error('broken too')),
        afterBatch: () => never,
      }),
    )
    recorded.session.say('work')
    expect(await recorded.next('result')).toMatchObject({ terminal: 'completed', isError: false, text: 'Done.' })
    await recorded.session.end()
  })

  test('ending a session takes a limited time even if a tool never ends', async () => {
    const at = await place({ steps: [{ run: [ENDLESS] }] })
    const listening = recordingListener()
    const recorded = start(at, {}, listening)
    recorded.session.say('work')
    await until('the tool is asked for', () => listening.asked.includes('before Bash'))
    await recorded.session.end(300)
    expect(recorded.of('result').filter(({ terminal }) => terminal === 'completed')).toEqual([])
    await recorded.next('exit')
    expect(await recorded.session.usage()).toBeNull()
  })
}
