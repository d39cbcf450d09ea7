import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../lib/log.js'
import { Journal, notTold, readJournal } from './journal.js'
import { type Host, LiveSession } from './live-session.js'
import type { Ears, RunMessage, SessionWish } from './runtimes/runtime.js'
import { Unread } from './runtimes/unread.js'

/** A session whose client says what the test says. */
function spoken() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-live-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const messages = new Unread<RunMessage>()
  let ears!: Ears
  let raw: (line: string) => void = () => {}
  const cuts: string[] = []
  const kill = (): void => {
    cuts.push('kill')
    messages.tell({ kind: 'exit', code: null, signal: 'SIGKILL', trouble: null })
  }
  const runtime = {
    ...{ name: 'scripted' as const, missing: () => null },
    start: (_: SessionWish, given: Ears) => {
      ears = given
      return {
        ...{ process: null, messages, usage: async () => null, ready: async () => {}, forbidCompaction: async () => {} },
        say: () => {},
        onRaw: (take: (line: string) => void) => {
          raw = take
        },
        interrupt: async () => {
          cuts.push('interrupt')
          tell({ kind: 'result', terminal: 'aborted_streaming', isError: true })
        },
        ...{ stopTask: async () => {}, end: async () => messages.close(), kill },
      }
    },
  }
  const journal = new Journal(join(folder, 'journal.jsonl'))
  const host: Host = {
    ...{ now: () => new Date(), log: silentLog, journal },
    ...{ measured: () => ({ full: false }), heard: () => {}, mustStop: () => null, mayCompact: () => true },
    ...{ hooked: async () => '', says: () => null, hasRoom: () => false, begins: () => {} },
  }
  const live = new LiveSession(runtime, { sessionId: 's' } as SessionWish, host)
  const spend = { usage: { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 }, costUsd: null }
  const plain = { terminal: 'completed', isError: false, status: null, text: '', turns: 1, spend, ofPrompt: true }
  const tell = (message: Partial<RunMessage> & { kind: RunMessage['kind'] }): void =>
    messages.tell({ ...(message.kind === 'result' ? plain : {}), ...message } as RunMessage)
  return { live, host, tell, cuts, journal: journal.path, ears: () => ears, line: () => raw('{}') }
}

const bounds = { silenceMs: 1_500, turnMs: null }
const call = { id: 'toolu_1', name: 'Bash', input: {}, subagent: null }
const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

it('is done when nothing runs in the background and the client is idle: what finishes late has the last word', async () => {
  const { live, tell } = spoken()
  const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null })
  tell({ kind: 'tasks', running: ['t'] })
  tell({ kind: 'result', text: 'It looks around.' })
  tell({ kind: 'state', state: 'idle' })
  tell({ kind: 'tasks', running: [] })
  tell({ kind: 'state', state: 'working' })
  tell({ kind: 'result', text: 'All done.', ofPrompt: false })
  tell({ kind: 'state', state: 'idle' })
  expect(await turn).toEqual({ how: 'done', text: 'All done.' })
})

it('a client that does not say that it is idle is taken to be after a while', async () => {
  const { live, tell } = spoken()
  const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null })
  tell({ kind: 'result', text: 'Done.' })
  expect(await turn).toEqual({ how: 'done', text: 'Done.' })
}, 20_000)

it('what a task in the background wakes while the brief is wanted may not work, and is not the brief', async () => {
  const { live, tell, ears } = spoken()
  expect(await ears().beforeTool(call)).toEqual({})
  await live.settleTasks(0)
  expect(await ears().beforeTool(call)).toEqual({ deny: expect.stringContaining('The brief is wanted now') })
  expect(await ears().beforeTool({ ...call, subagent: 'a' })).toEqual({})
  const turn = live.turn('the brief, please', 'brief', bounds)
  tell({ kind: 'result', text: 'I am awake.', ofPrompt: false })
  tell({ kind: 'result', text: '# Handoff brief' })
  expect(await turn).toEqual({ how: 'done', text: '# Handoff brief' })
})

it('of a call that was refused the batch tells how it ended, and what returned is not told twice', async () => {
  const { ears, journal } = spoken()
  const other = { ...call, id: 'toolu_2' }
  for (const one of [call, other]) await ears().beforeTool(one)
  await ears().afterTool({ ...call, result: 'fine', failed: false })
  await ears().afterBatch([
    { ...call, result: 'fine', failed: false },
    { ...other, result: 'Permission to use Bash was refused.', failed: true },
  ])
  expect(notTold(readJournal(journal), 's', new Map())).toMatchObject([
    { callId: 'toolu_1', outcome: 'done' },
    { callId: 'toolu_2', outcome: 'failed', result: 'Permission to use Bash was refused.' },
  ])
  expect(readJournal(journal)).toHaveLength(4)
})

it('tools in the place of the brief are refused four times, then the turn ends', async () => {
  const { live, tell, ears } = spoken()
  const turn = live.turn('the brief, please', 'brief', bounds)
  const batch = () => ears().afterBatch([{ ...call, result: 'no', failed: true }])
  expect([await batch(), await batch(), await batch()]).toEqual([{}, {}, {}])
  expect(await batch()).toEqual({ stop: expect.any(String) })
  tell({ kind: 'result', terminal: 'hook_stopped' })
  expect(await turn).toMatchObject({ how: 'trouble' })
})

it.each(['heard', 'mustStop'] as const)(
  'a store that fails ends the turn and the client, and nothing else; in %s',
  async (asked) => {
    const { live, host, tell, cuts } = spoken()
    host[asked] = () => {
      throw new Error('database is locked')
    }
    const turn = live.turn('work', 'work', { silenceMs: 60_000, turnMs: null })
    tell({ kind: 'state', state: 'working' })
    const lost = { how: 'trouble', detail: expect.stringContaining('database is locked') }
    expect(await turn).toEqual(lost)
    expect(cuts).toEqual(['kill'])
    expect(await live.turn('more', 'work', bounds)).toEqual(lost)
  },
)

it('silence is no line at all, and not the time until the client asks the provider again', async () => {
  const { live, tell, cuts, line } = spoken()
  const turn = live.turn('work', 'work', bounds)
  const said = setInterval(line, 200)
  await after(3_000)
  clearInterval(said)
  expect(cuts).toEqual([])
  tell({ kind: 'retry', attempt: 1, status: 529, delayMs: 2_000, reason: 'overloaded' })
  await after(2_500)
  expect(cuts).toEqual([])
  expect(await turn).toEqual({ how: 'stalled', silentMs: 1_500 })
  expect(cuts[0]).toBe('interrupt')
}, 20_000)
