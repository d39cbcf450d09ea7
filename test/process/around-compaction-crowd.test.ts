import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { expect, test } from 'vitest'
import { SUMMARY_INSTRUCTIONS } from '../../src/compaction/recovery.js'
import { type Archive, archivesOf, expectWhole, FIRST, pairsOf } from '../harness/compactions.js'
import { faultGate } from '../harness/gate.js'
import { type HookRun, type Pretended, pretend, said } from '../harness/hooks.js'
import { withEnvironment } from '../harness/processes.js'
import { type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

/** Starts a process that stands for the client and lives as long as the test. */
const client = (it: Stage): number => spawn('sleep', ['300'], { env: it.home.env, stdio: 'ignore' }).pid!

const expectQuiet = (runs: HookRun[]): void =>
  expect(runs.filter(({ code, stderr }) => code !== 0 || stderr !== '')).toEqual([])

function write(session: Pretended, entry: object): void {
  const common = { sessionId: session.id, isSidechain: false, version: '2.1.325', timestamp: new Date().toISOString() }
  appendFileSync(session.transcript, `${JSON.stringify({ ...common, uuid: crypto.randomUUID(), ...entry })}\n`)
}

const asks = (session: Pretended, content: string): void =>
  write(session, { type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content } })

function boundary(session: Pretended, trigger = 'auto'): void {
  const compactMetadata = { trigger, preTokens: 169_080, postTokens: 2700, durationMs: 61 }
  write(session, { type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', compactMetadata })
}

const before = (session: Pretended): Promise<HookRun> =>
  session.hook('PreCompact', { trigger: 'auto', custom_instructions: null })

/** Runs the hooks after the summary and returns their texts. */
async function after(session: Pretended, summary: string): Promise<HookRun[]> {
  const start = await session.hook('SessionStart', { source: 'compact', model: 'claude-opus-4-6' })
  const end = await session.hook('PostCompact', { trigger: 'auto', compact_summary: summary })
  boundary(session)
  return [start, end, await session.batch(30_008)]
}

async function archiveOf(
  it: Stage,
  session: Pretended,
  wanted: Archive['status'][] = ['kept', 'failed'],
): Promise<Archive> {
  return until('the archive is settled', async () => {
    const [found] = (await archivesOf(it)).filter((one) => one.session_id === session.id)
    return found && wanted.includes(found.status) ? found : null
  })
}

test('five sessions that compact simultaneously get five archives and five separate start and end events', async () => {
  const it = await stage({}, { server: true })
  const sessions = Array.from({ length: 5 }, () => pretend(it.home, client(it)))
  const runs: HookRun[] = []
  for (const [n, session] of sessions.entries()) {
    asks(session, `Never touch the file legacy/part-${n}.ts.`)
    session.answer(100_008)
    runs.push(await session.batch(169_008))
  }
  const told = await Promise.all(sessions.map(before))
  for (const [n, run] of told.entries()) expect(run.stdout).toContain(`> Never touch the file legacy/part-${n}.ts.`)
  const recovered = await Promise.all(sessions.map((session, n) => after(session, `Summary of ${n}.`)))
  for (const [n, [start]] of recovered.entries()) {
    const [text, ...more] = said([start!]).agent
    expect(more).toEqual([])
    expect(text).toContain(FIRST)
    expect(text!.match(/legacy\/part-\d+\.ts/g)!.every((name) => name === `legacy/part-${n}.ts`)).toBe(true)
  }
  expectQuiet([...runs, ...told, ...recovered.flat()])
  for (const [n, session] of sessions.entries()) {
    expect(await pairsOf(it, session.id)).toMatchObject([
      { outcome: 'completed', summary: `Summary of ${n}.`, tokensBefore: 169_008, tokensAfter: 2700, durationMs: 61 },
    ])
    const kept = await expectWhole(it, await archiveOf(it, session), readFileSync(session.transcript))
    expect(kept).not.toContain('compact_boundary')
  }
  expect(await archivesOf(it)).toHaveLength(5)
  expect((await it.ask<{ ok: boolean }>('archive', 'verify')).ok).toBe(true)
})

test('two immediately consecutive compactions of one session are both recorded and archived', async () => {
  const it = await stage({})
  const session = pretend(it.home, client(it))
  await session.statusLine(5008)
  asks(session, 'Fix the login.')
  session.answer(100_008)
  await session.batch(169_008)
  const told: HookRun[] = []
  for (const n of [1, 2]) {
    expect((await before(session)).stdout).toContain(SUMMARY_INSTRUCTIONS)
    boundary(session)
    told.push(await session.hook('SessionStart', { source: 'compact', model: 'claude-opus-4-6' }))
    await session.hook('PostCompact', { trigger: 'auto', compact_summary: `Summary ${n}.` })
    session.answer(168_008 + n)
  }
  await session.batch(30_008)
  expect(said(told).agent.filter((text) => text.includes(FIRST))).toHaveLength(2)
  expect(await pairsOf(it)).toMatchObject([
    { outcome: 'completed', summary: 'Summary 1.', tokensBefore: 169_008 },
    { outcome: 'completed', summary: 'Summary 2.', tokensBefore: 168_009 },
  ])
  await until('both are kept', async () => (await archivesOf(it)).every(({ status }) => status === 'kept'))
  const archives = await archivesOf(it)
  expect(new Set(archives.map(({ bytes }) => bytes)).size).toBe(2)
  for (const one of archives) await expectWhole(it, one, readFileSync(session.transcript))
  await it.json('uninstall', '--purge')
  expect(readdirSync(it.home.batonHome)).toEqual(['config.yaml'])
})

/** Damaged states of a transcript that no hook may fail on, with the archive that may result. */
const ODD: [string, (session: Pretended) => void, 'kept' | 'failed'][] = [
  ['missing', ({ transcript }) => rmSync(transcript), 'failed'],
  [
    'a directory',
    ({ transcript }) => {
      rmSync(transcript)
      mkdirSync(transcript)
    },
    'failed',
  ],
  [
    'a pipe nobody writes to',
    ({ transcript }) => {
      rmSync(transcript)
      execFileSync('mkfifo', [transcript])
    },
    'failed',
  ],
  [
    'a link to nowhere',
    ({ transcript }) => {
      rmSync(transcript)
      symlinkSync('/nowhere/at/all', transcript)
    },
    'failed',
  ],
  [
    'a link to a file elsewhere',
    ({ transcript }) => {
      renameSync(transcript, `${transcript}.elsewhere`)
      symlinkSync(`${transcript}.elsewhere`, transcript)
    },
    'kept',
  ],
  ['empty', ({ transcript }) => writeFileSync(transcript, ''), 'kept'],
  [
    'without a last newline',
    ({ transcript }) => appendFileSync(transcript, '{"type":"user","message":{"content":"unfi'),
    'kept',
  ],
  ['not text', ({ transcript }) => writeFileSync(transcript, Buffer.from([0, 255, 254, 10, 0, 200, 13, 10])), 'kept'],
]

test('hooks stay silent and record start and end of a compaction with a transcript in any state', async () => {
  const it = await stage({}, { server: true })
  for (const [state, spoil, status] of ODD) {
    const session = pretend(it.home, client(it))
    asks(session, 'Fix the login.')
    session.answer(100_008)
    await session.batch(169_008)
    spoil(session)
    const runs = [await before(session)]
    runs.push(await session.hook('SessionStart', { source: 'compact', model: 'claude-opus-4-6' }))
    runs.push(await session.hook('PostCompact', { trigger: 'auto', compact_summary: 'Short.' }))
    runs.push(await session.hook('Stop', { stop_hook_active: false, last_assistant_message: 'Done.' }))
    expectQuiet(runs)
    await until(`its pair ends: ${state}`, async () => (await it.events('compaction_complete', session.id)).length > 0)
    expect(await pairsOf(it, session.id), state).toMatchObject([{ outcome: 'completed', summary: 'Short.' }])
    const archive = await archiveOf(it, session)
    expect([state, archive.status]).toEqual([state, status])
    if (status === 'kept') await expectWhole(it, archive, readFileSync(session.transcript))
  }
})

/** Grows a transcript by one line of this size. */
async function longLine(session: Pretended, megabytes: number): Promise<void> {
  const out = createWriteStream(session.transcript, { flags: 'a' })
  out.write('{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"')
  for (let n = 0; n < megabytes; n++)
    if (!out.write('word and '.repeat(116_509).padEnd(1024 * 1024))) await once(out, 'drain')
  out.end('"}]}}\n')
  await once(out, 'close')
}

test('a transcript line of 20 MB causes no hook output and is archived completely', async () => {
  const it = await stage({}, { server: true })
  const session = pretend(it.home, client(it))
  asks(session, 'Fix the login.')
  session.answer(100_008)
  await longLine(session, 20)
  await session.batch(169_008)
  const runs = [await before(session), ...(await after(session, 'Short.'))]
  expectQuiet(runs)
  expect(await pairsOf(it)).toMatchObject([{ outcome: 'completed', summary: 'Short.', tokensAfter: 2700 }])
  await expectWhole(it, await archiveOf(it, session), readFileSync(session.transcript))
})

/** Returns Baton's processes in this home except the server. */
function keepers(it: Stage): number[] {
  return withEnvironment(`HOME=${it.home.home}`).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('hook-engine')
    } catch {
      return false
    }
  })
}

test('an archive whose server and writer are killed while it is written is complete or absent', async () => {
  const it = await stage({})
  const gate = faultGate(it.home.dir, 'ARCHIVE_SEGMENT')
  Object.assign(it.home.env, gate.env)
  const server = await it.serve()
  const session = pretend(it.home, client(it))
  asks(session, 'Fix the login.')
  session.answer(100_008)
  await session.batch(169_008)
  const size = readFileSync(session.transcript).length
  expectQuiet([await before(session)])
  await gate.reached()
  server.kill('SIGKILL')
  const writing = keepers(it)
  expect(writing).not.toEqual([])
  for (const pid of writing) process.kill(pid, 'SIGKILL')
  gate.open()
  for (const one of await archivesOf(it)) expect(['pending', 'kept']).toContain(one.status)
  expectQuiet(await after(session, 'Short.'))
  expect(await pairsOf(it)).toMatchObject([{ outcome: 'completed', summary: 'Short.' }])
  await it.ask('archive', 'finish')
  const archive = await archiveOf(it, session, ['kept'])
  expect(archive.bytes).toBe(size)
  await expectWhole(it, archive, readFileSync(session.transcript))
  expect((await it.ask<{ ok: boolean }>('archive', 'verify')).ok).toBe(true)
})
