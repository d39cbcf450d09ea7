import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../testing/engine-session.js'
import { answerWaitingHook, drainSpool } from './drain-spool.js'
import { readSpooled } from './spool.js'

let app: TestApp
let s: TestSession
let spool: string
let signals = 0

beforeEach(() => {
  app = testApp()
  s = testSession(app)
  spool = join(app.folder, 'spool')
  mkdirSync(spool)
  s.start('startup', { deliver: 'outbox' })
})
afterEach(() => app.remove())

/** Writes a tool batch as the launcher spools it. Returns its id. */
function spoolToolBatch(used: number): string {
  const body = { session_id: s.id, transcript_path: s.transcript, cwd: s.project, hook_event_name: 'PostToolBatch' }
  const calls = [{ tool_name: 'Bash', tool_use_id: s.answers(used) }]
  app.wait(1)
  const seconds = Math.floor(app.now().getTime() / 1000)
  const id = `${s.id}.${seconds}.000001.${++signals}.PostToolBatch`
  const head = ['claude-code', 'PostToolBatch', seconds, `HOME=${app.folder}`, '']
  writeFileSync(join(spool, id), `${head.join('\n')}\n${JSON.stringify({ ...body, tool_calls: calls })}\n#end\n`)
  return id
}

test('an engine does not withdraw a message when it finds a signal that another engine has answered', () => {
  const id = spoolToolBatch(90_000)
  const held = readSpooled(spool, id)!
  expect(textsOfAnswer(answerWaitingHook(app.engine, spool, id)).agent).toMatch(/Context level "notice"/)
  app.secondEngine().take(held.raw, { deliver: 'outbox', signalId: id, unserved: true })
  expect(s.messages('context').map((message) => message.status)).toEqual(['sent'])
  expect(existsSync(join(app.outbox, s.id))).toBe(false)
  expect(textsOfAnswer(answerWaitingHook(app.engine, spool, spoolToolBatch(91_000))).agent).toBeNull()
  expect(readdirSync(spool)).toEqual([])
})

test('a hook whose signal another engine processed first finds its message in the outbox', () => {
  const id = spoolToolBatch(90_000)
  drainSpool(app.secondEngine(), spool)
  expect(answerWaitingHook(app.engine, spool, id)).toBe('')
  expect(existsSync(join(app.outbox, s.id, 'PostToolBatch'))).toBe(true)
})

test('a session that is first seen in the spool started with its signal, not with the drain', () => {
  const [first, other] = [spoolToolBatch(20_000), testSession(app, 'bbbbbbbb-0002')]
  const body = { session_id: other.id, cwd: other.project, hook_event_name: 'SessionStart', source: 'startup' }
  const seconds = Number(first.split('.')[1])
  const head = ['claude-code', 'SessionStart', seconds, `HOME=${app.folder}`, '']
  const id = `${other.id}.${seconds}.250000.77.SessionStart`
  writeFileSync(join(spool, id), `${head.join('\n')}\n${JSON.stringify(body)}\n#end\n`)
  app.wait(3_600)
  drainSpool(app.engine, spool)
  const session = app.store.session(other.id)!
  expect(session.startedAt).toBe(new Date(seconds * 1_000 + 250).toISOString())
  expect(session.seenAt).toBe(app.now().toISOString())
  expect(
    app.store.events().filter(({ type, session_id }) => type === 'session_started' && session_id === other.id),
  ).toHaveLength(1)
})

/** Writes a spooled signal around a compaction, by a hook with this pid. */
function leaveCompaction(name: 'PreCompact' | 'SessionStart-compact', pid: number): string {
  const seconds = Math.floor(Date.now() / 1000)
  const [kind = name] = name.split('-')
  const id = `${s.id}.${seconds}.${String(++signals).padStart(6, '0')}.${pid}.${name}`
  const body = { session_id: s.id, transcript_path: s.transcript, cwd: s.project, hook_event_name: kind }
  const more = kind === 'PreCompact' ? { trigger: 'auto' } : { source: 'compact', model: 'claude-opus-4-6' }
  const head = ['claude-code', kind, seconds, `HOME=${app.folder}`, '']
  writeFileSync(join(spool, id), `${head.join('\n')}\n${JSON.stringify({ ...body, ...more })}\n#end\n`)
  return id
}

const nobody = (): number => spawnSync('true').pid

test('a compaction whose hook waits is left to that hook, and later signals of the session wait too', () => {
  s.write({
    type: 'user',
    promptSource: 'typed',
    turnOrigin: 'human',
    message: { role: 'user', content: 'Never touch legacy/a.ts.' },
  })
  const begins = leaveCompaction('PreCompact', process.pid)
  expect(drainSpool(app.engine, spool)).toBe(0)
  expect(readdirSync(spool)).toEqual([begins])
  answerWaitingHook(app.engine, spool, begins)
  expect(readdirSync(spool)).toEqual([])
  expect(s.record().state).toBe('compacting')
  const goesOn = leaveCompaction('SessionStart-compact', process.pid)
  expect(drainSpool(app.engine, spool)).toBe(0)
  expect(textsOfAnswer(answerWaitingHook(app.engine, spool, goesOn)).agent).toMatch(
    /This conversation was just compacted/,
  )
  expect(readdirSync(spool)).toEqual([])
})

test('a compaction signal is processed by any engine once its hook is gone', () => {
  leaveCompaction('PreCompact', nobody())
  expect(drainSpool(app.engine, spool)).toBe(1)
  expect(s.record().state).toBe('compacting')
  leaveCompaction('SessionStart-compact', nobody())
  expect(drainSpool(app.engine, spool)).toBe(1)
})

test('a hook that waits for the answer to any event keeps its signal from other engines while it runs', () => {
  const id = spoolToolBatch(90_000)
  const [session, , micros, , kind] = id.split('.')
  const waits = (pid: number) => `${session}.${Math.floor(Date.now() / 1000)}.${micros}.${pid}.${kind}-now`
  renameSync(join(spool, id), join(spool, waits(process.pid)))
  expect(drainSpool(app.secondEngine(), spool)).toBe(0)
  expect(textsOfAnswer(answerWaitingHook(app.engine, spool, readdirSync(spool)[0]!)).agent).toMatch(
    /Context level "notice"/,
  )
  renameSync(join(spool, spoolToolBatch(91_000)), join(spool, waits(nobody())))
  expect(drainSpool(app.engine, spool)).toBe(1)
})

test('a signal has the time of its hook, more precise than a second if the shell supports it', () => {
  const id = spoolToolBatch(90_000)
  const [, seconds] = id.split('.')
  expect(readSpooled(spool, id)!.raw.at).toBe(Number(seconds) * 1000)
  const text = readFileSync(join(spool, id), 'utf8')
  for (const [part, ms] of [
    ['437512', 437],
    ['9113', 0],
  ] as const) {
    const other = `${s.id}.${seconds}.${part}.7.PostToolBatch`
    writeFileSync(join(spool, other), text)
    expect(readSpooled(spool, other)!.raw.at).toBe(Number(seconds) * 1000 + ms)
  }
})
