import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { pretend } from '../harness/hooks.js'
import { runPrint } from '../harness/run-print.js'
import { mainRequests, type Stage, stage } from '../harness/stage.js'

const MODEL = 'claude-opus-4-6'
const SCRIPT = { steps: [{ bash: 'echo a', used: 50_008 }, 'One.', { bash: 'echo b', used: 60_008 }, 'Two.'] }

/** Starts a process with the command line of a client. */
const client = (it: Stage, ...args: string[]): number =>
  spawn('sh', ['-c', 'sleep 300; :', 'claude', ...args], { env: it.home.env, stdio: 'ignore' }).pid!

test('a seat is named by BATON_SEAT, holds a chain of sessions, and is kept by a resumed one', async () => {
  const it = await stage(SCRIPT)
  const named = { model: MODEL, env: { BATON_SEAT: 'api' } }
  const first = await runPrint(it.home, { prompt: 'go', ...named })
  const second = await runPrint(it.home, { prompt: 'go', ...named })
  const other = await runPrint(it.home, { prompt: 'go', model: MODEL })
  const seat = await it.show('api')
  expect(seat.session_id).toBe(second.sessionId)
  expect(seat.chain.map((link) => link.session_id)).toEqual([first.sessionId, second.sessionId])
  expect((await it.show(other.sessionId!)).seat_id).not.toBe(seat.seat_id)

  // Resume the session without the name, in another process.
  await runPrint(it.home, { prompt: 'on', model: MODEL, args: ['--resume', first.sessionId!] })
  const resumed = await it.show(first.sessionId!)
  expect(resumed).toMatchObject({ seat_id: seat.seat_id, used_tokens: 61_008, cycle: 1 })
  expect(await it.sessions()).toHaveLength(3)
})

test('a fork gets its own seat below the seat it was forked from', async () => {
  const it = await stage(SCRIPT, { mod: false })
  const first = await runPrint(it.home, { prompt: 'go', model: MODEL })
  const fork = await runPrint(it.home, {
    prompt: 'on',
    model: MODEL,
    args: ['--resume', first.sessionId!, '--fork-session'],
  })
  expect(fork.sessionId).not.toBe(first.sessionId)
  const [from, to] = [await it.show(first.sessionId!), await it.show(fork.sessionId!)]
  expect(to.parent_seat_id).toBe(from.seat_id)
  expect(to.seat_id).not.toBe(from.seat_id)
  expect(from).toMatchObject({ used_tokens: 51_008, parent_seat_id: null })
  expect(to).toMatchObject({ used_tokens: 61_008 })
  // Cost before the fork belongs to the original session.
  expect([from.spend.input_tokens, to.spend.input_tokens]).toEqual([16, 16])
})

test('a fork whose history is copied late still begins with its current figure', async () => {
  const it = await stage({})
  const parent = pretend(it.home, client(it))
  await parent.hook('SessionStart', { source: 'startup' })
  await parent.batch(150_008)
  await it.sessions()
  const boundary = {
    type: 'system',
    subtype: 'compact_boundary',
    compactMetadata: { trigger: 'auto', preTokens: 150_008 },
  }
  appendFileSync(parent.transcript, `${JSON.stringify({ ...boundary, isSidechain: false, sessionId: parent.id })}\n`)
  await parent.batch(90_008)
  const fork = pretend(it.home, client(it, '--resume', parent.id, '--fork-session'))
  writeFileSync(fork.transcript, `${JSON.stringify({ type: 'mode', mode: 'normal', sessionId: fork.id })}\n`)
  await fork.hook('SessionStart', { source: 'fork' })
  await it.sessions()
  appendFileSync(
    fork.transcript,
    readFileSync(parent.transcript, 'utf8').replaceAll(parent.id, fork.id).replaceAll('msg_', 'old_'),
  )
  await fork.batch(100_008)
  const [from, to] = [await it.show(parent.id), await it.show(fork.id)]
  expect(from).toMatchObject({ used_tokens: 90_008, cycle: 2, compactions: 1, spend: { input_tokens: 16 } })
  expect(to).toMatchObject({ parent_seat_id: from.seat_id, used_tokens: 100_008, cycle: 1, spend: { input_tokens: 8 } })
  expect((await it.events(undefined, fork.id)).filter((event) => event.type.startsWith('compaction'))).toEqual([])
  expect((await it.events('level_crossed', fork.id)).map((event) => event.data.level)).toEqual(['notice'])
})

test('a parent is informed of its child’s compaction with its next prompt', async () => {
  const it = await stage(
    {
      steps: ['Never.'],
      conversations: [
        {
          when: 'CHILD',
          steps: [{ bash: 'echo a', used: 150_008 }, { bash: 'echo b', used: 169_008 }, 'Never.'],
          after_compaction: [{ text: 'Child done.', used: 30_008 }],
        },
        { when: 'PARENT', steps: [{ text: 'Parent done.', used: 20_008 }] },
      ],
    },
    { server: true },
  )
  const child = await runPrint(it.home, {
    prompt: 'CHILD',
    model: MODEL,
    env: { BATON_SEAT: 'worker', BATON_PARENT_SEAT: 'lead' },
  })
  expect(child.result).toMatchObject({ result: 'Child done.' })
  const parent = await runPrint(it.home, { prompt: 'PARENT', model: MODEL, env: { BATON_SEAT: 'lead' } })
  const [worker, lead] = [await it.show('worker'), await it.show('lead')]
  expect(worker.parent_seat_id).toBe(lead.seat_id)
  expect(lead).toMatchObject({ session_id: parent.sessionId, parent_seat_id: null, compactions: 0, level: null })
  const [request] = mainRequests(it.model, parent.sessionId!)
  expect(countOccurrences(request!, `[baton] Session ${child.sessionId} (seat worker)`)).toBe(1)
  expect(countOccurrences(request!, 'was compacted and is still running')).toBe(1)
  expect(
    mainRequests(it.model, child.sessionId!).every((entry) => countOccurrences(entry, 'is still running') === 0),
  ).toBe(true)
})
