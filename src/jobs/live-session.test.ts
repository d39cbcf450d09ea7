import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { RuntimeListener, RuntimeMessage, SessionOptions } from '../contract/runtime.js'
import { silentLog } from '../lib/log.js'
import { UnboundedQueue } from '../lib/unbounded-queue.js'
import { CallJournal, findUnreportedCalls, readJournal } from './journal.js'
import { LiveSession, type SessionHost } from './live-session.js'

/** Starts a session whose client says what the test says. */
function makeSpokenSession() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-live-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const messages = new UnboundedQueue<RuntimeMessage>()
  let listener!: RuntimeListener
  let raw: (line: string) => void = () => {}
  const cuts: string[] = []
  const kill = (): void => {
    cuts.push('kill')
    messages.push({ kind: 'exit', code: null, signal: 'SIGKILL', trouble: null })
  }
  const runtime = {
    name: 'scripted' as const,
    missing: () => null,
    start: (_: SessionOptions, given: RuntimeListener) => {
      listener = given
      return {
        process: null,
        messages,
        usage: async () => null,
        ready: async () => {},
        forbidCompaction: async () => {},
        say: () => {},
        onRaw: (take: (line: string) => void) => {
          raw = take
        },
        interrupt: async () => {
          cuts.push('interrupt')
          tell({ kind: 'result', terminal: 'aborted_streaming', isError: true })
        },
        stopTask: async (id: string) => {
          cuts.push(`stop ${id}`)
        },
        end: async () => messages.close(),
        kill,
      }
    },
  }
  const journal = new CallJournal(join(folder, 'journal.jsonl'))
  const host: SessionHost = {
    now: () => new Date(),
    log: silentLog,
    journal,
    recordUsage: () => ({ full: false }),
    receiveMessage: () => {},
    mustStop: () => null,
    isTooOld: () => false,
    mayCompact: () => true,
    reportBackgroundTasks: () => {},
    recordEdit: () => {},
    answerHook: async () => '',
    textForNextRequest: () => null,
    hasRoom: () => false,
    recordStart: () => {},
  }
  const live = new LiveSession(runtime, { sessionId: 's' } as SessionOptions, host)
  const spend = { usage: { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 }, costUsd: null }
  const plain = { terminal: 'completed', isError: false, status: null, text: '', turns: 1, spend, ofPrompt: true }
  const tell = (message: Partial<RuntimeMessage> & { kind: RuntimeMessage['kind'] }): void =>
    messages.push({ ...(message.kind === 'result' ? plain : {}), ...message } as RuntimeMessage)
  return { live, host, tell, cuts, journal: journal.path, listener: () => listener, line: () => raw('{}') }
}

const bounds = { silenceMs: 1_500, turnMs: null }
const call = { id: 'toolu_1', name: 'Bash', input: {}, subagent: null }
const after = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms))

/** Lets time pass until the turn is over. */
async function untilOver<T>(turn: Promise<T>): Promise<T> {
  let isOver = false
  void turn.finally(() => {
    isOver = true
  })
  while (!isOver) await after(50)
  return turn
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a turn is done when no background task runs and the client is idle, and a late result wins', async () => {
  const { live, tell } = makeSpokenSession()
  const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null })
  tell({ kind: 'tasks', running: ['t'] })
  tell({ kind: 'result', text: 'It looks around.' })
  tell({ kind: 'state', state: 'idle' })
  tell({ kind: 'tasks', running: [] })
  tell({ kind: 'state', state: 'working' })
  tell({ kind: 'result', text: 'All done.', ofPrompt: false })
  tell({ kind: 'state', state: 'idle' })
  expect(await untilOver(turn)).toEqual({ how: 'done', text: 'All done.' })
})

test('a client that does not report that it is idle counts as idle after a while', async () => {
  const { live, tell } = makeSpokenSession()
  const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null })
  tell({ kind: 'result', text: 'Done.' })
  expect(await untilOver(turn)).toEqual({ how: 'done', text: 'Done.' })
})

test('an agent that works again is waited for, even if it prints nothing for a while', async () => {
  const { live, tell } = makeSpokenSession()
  const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null })
  tell({ kind: 'tasks', running: ['t'] })
  tell({ kind: 'result', text: 'It looks around.' })
  tell({ kind: 'state', state: 'idle' })
  tell({ kind: 'tasks', running: [] })
  tell({ kind: 'state', state: 'working' })
  let isOver = false
  void turn.then(() => {
    isOver = true
  })
  await after(7_000)
  expect(isOver).toBe(false)
  tell({ kind: 'result', text: 'All done.', ofPrompt: false })
  tell({ kind: 'state', state: 'idle' })
  expect(await untilOver(turn)).toEqual({ how: 'done', text: 'All done.' })
})

test('background tasks are stopped after a time limit, and the agent may answer once more', async () => {
  const { live, tell, cuts, host } = makeSpokenSession()
  const told: number[] = []
  host.reportBackgroundTasks = (tasks) => void told.push(tasks)
  const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null, backgroundMs: 1_000 })
  tell({ kind: 'tasks', running: ['endless'] })
  tell({ kind: 'result', text: 'The server runs.' })
  tell({ kind: 'state', state: 'idle' })
  await after(600)
  expect([cuts, told]).toEqual([[], [1]])
  await after(1_400)
  expect(cuts).toEqual(['stop endless'])
  tell({ kind: 'tasks', running: [] })
  tell({ kind: 'state', state: 'working' })
  tell({ kind: 'tasks', running: ['again'] })
  tell({ kind: 'result', text: 'It was stopped, I began it anew.', ofPrompt: false })
  tell({ kind: 'state', state: 'idle' })
  expect(await untilOver(turn)).toEqual({ how: 'done', text: 'It was stopped, I began it anew.' })
  expect(cuts).toEqual(['stop endless'])
})

test('a background task that cannot be stopped does not delay the end, nor a pause by the user', async () => {
  const { live, tell, host } = makeSpokenSession()
  const start = () => {
    const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null, backgroundMs: 500 })
    tell({ kind: 'tasks', running: ['endless'] })
    tell({ kind: 'result', text: 'Done.' })
    tell({ kind: 'state', state: 'idle' })
    return turn
  }
  expect(await untilOver(start())).toEqual({ how: 'done', text: 'Done.' })
  host.mustStop = () => ({ how: 'stopped', wanted: 'pause' })
  const began = Date.now()
  expect(await untilOver(start())).toEqual({ how: 'done', text: 'Done.' })
  expect(Date.now() - began).toBeLessThan(3_000)
  host.mustStop = () => ({ how: 'timeout', of: 'job' })
  expect(await untilOver(start())).toEqual({ how: 'timeout', of: 'job' })
})

test('a key refused repeatedly ends the turn at once, and other failures are retried by the client', async () => {
  const { live, tell, cuts } = makeSpokenSession()
  const retry = (status: number | null) =>
    tell({ kind: 'retry', attempt: 1, status, delayMs: 0, reason: 'authentication_failed' })
  const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null })
  for (const status of [401, 401, 401, 500, 401, 403, 401, null, 529, 529, 529, 529, 401, 401]) retry(status)
  await after(700)
  expect(cuts).toEqual([])
  retry(403)
  retry(401)
  const refused = { how: 'refused', status: 401, detail: 'authentication_failed, 4 times in a row' }
  expect(await untilOver(turn)).toEqual(refused)
  expect(cuts).toEqual(['interrupt'])
})

test("a background task that wakes the agent during the brief's turn cannot run tools or be the brief", async () => {
  const { live, tell, listener } = makeSpokenSession()
  expect(await listener().beforeTool(call)).toEqual({})
  await live.settleTasks(0)
  expect(await listener().beforeTool(call)).toEqual({ deny: expect.stringContaining('[baton] Tools are denied now') })
  expect(await listener().beforeTool({ ...call, subagent: 'a' })).toEqual({})
  const turn = live.turn('the brief, please', 'brief', bounds)
  tell({ kind: 'result', text: 'I am awake.', ofPrompt: false })
  tell({ kind: 'result', text: '# Handoff brief' })
  expect(await untilOver(turn)).toEqual({ how: 'done', text: '# Handoff brief' })
})

test("calls denied in the brief's turn are not reported as missing permissions", async () => {
  const { live, tell, host } = makeSpokenSession()
  const denied: (number | undefined)[] = []
  host.receiveMessage = (message) => void (message.kind === 'result' && denied.push(message.denied))
  const work = live.turn('work', 'work', bounds)
  tell({ kind: 'result', text: 'Done.', denied: 2 })
  tell({ kind: 'state', state: 'idle' })
  await untilOver(work)
  const brief = live.turn('the brief, please', 'brief', bounds)
  tell({ kind: 'result', text: '# Handoff brief', denied: 3 })
  await untilOver(brief)
  expect(denied).toEqual([2, 0])
})

test('a refused call is recorded with its batch, and a returned call is not recorded twice', async () => {
  const { listener, journal } = makeSpokenSession()
  const other = { ...call, id: 'toolu_2' }
  for (const one of [call, other]) await listener().beforeTool(one)
  await listener().afterTool({ ...call, result: 'fine', failed: false })
  await listener().afterBatch([
    { ...call, result: 'fine', failed: false },
    { ...other, result: 'Permission to use Bash was refused.', failed: true },
  ])
  expect(findUnreportedCalls(readJournal(journal), 's', new Map())).toMatchObject([
    { callId: 'toolu_1', outcome: 'done' },
    { callId: 'toolu_2', outcome: 'failed', result: 'Permission to use Bash was refused.' },
  ])
  expect(readJournal(journal)).toHaveLength(4)
})

test('a call that cannot be recorded is denied, and the batch is still measured', async () => {
  const { live, listener, host, journal } = makeSpokenSession()
  mkdirSync(journal)
  expect(await listener().beforeTool(call)).toEqual({
    deny: expect.stringMatching(/^\[baton\] This call was not made\b/),
  })
  host.mustStop = () => ({ how: 'turns' })
  expect(await listener().afterBatch([{ ...call, result: 'refused', failed: true }])).toEqual({
    stop: expect.any(String),
  })
  rmdirSync(journal)
  expect(await listener().beforeTool(call)).toEqual({})
  rmSync(journal)
  host.journal.close()
  mkdirSync(journal)
  await live.settleTasks(0)
  expect(await listener().beforeTool(call)).toEqual({ deny: expect.stringContaining('[baton] Tools are denied now') })
})

test('tool calls instead of the brief are denied four times, then the turn ends', async () => {
  const { live, tell, listener } = makeSpokenSession()
  const turn = live.turn('the brief, please', 'brief', bounds)
  const batch = () => listener().afterBatch([{ ...call, result: 'no', failed: true }])
  expect([await batch(), await batch(), await batch()]).toEqual([{}, {}, {}])
  expect(await batch()).toEqual({ stop: expect.any(String) })
  tell({ kind: 'result', terminal: 'hook_stopped' })
  expect(await untilOver(turn)).toMatchObject({ how: 'trouble' })
})

test.each(['receiveMessage', 'mustStop'] as const)(
  'a store that fails in %s ends the turn and the client, and nothing else',
  async (asked) => {
    const { live, host, tell, cuts } = makeSpokenSession()
    host[asked] = () => {
      throw new Error('database is locked')
    }
    const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null })
    tell({ kind: 'state', state: 'working' })
    const lost = { how: 'trouble', detail: expect.stringContaining('database is locked') }
    expect(await untilOver(turn)).toEqual(lost)
    expect(cuts).toEqual(['kill'])
    const { how } = await untilOver(live.turn('more', 'work', bounds))
    expect(['trouble', 'died']).toContain(how)
  },
)

test("silence means no output at all, and excludes the time until the client's next retry", async () => {
  const { live, tell, cuts, line } = makeSpokenSession()
  const turn = live.turn('work', 'work', bounds)
  const said = setInterval(line, 200)
  await after(3_000)
  clearInterval(said)
  expect(cuts).toEqual([])
  tell({ kind: 'retry', attempt: 1, status: 529, delayMs: 2_000, reason: 'overloaded' })
  await after(2_500)
  expect(cuts).toEqual([])
  expect(await untilOver(turn)).toEqual({ how: 'stalled', silentMs: 1_500 })
  expect(cuts[0]).toBe('interrupt')
})
