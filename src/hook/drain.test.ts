import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from '../engine/trial-session.js'
import { answerOne, drainSpool } from './drain.js'
import { readSpooled } from './spool.js'

let house: TrialHouse
let s: TrialSession
let spool: string
let signals = 0

beforeEach(() => {
  house = trialHouse()
  s = trialSession(house)
  spool = join(house.folder, 'spool')
  mkdirSync(spool)
  s.start('startup', { deliver: 'outbox' })
})
afterEach(() => house.remove())

/** A tool batch as the launcher leaves it; its id. */
function leave(used: number): string {
  const body = { session_id: s.id, transcript_path: s.transcript, cwd: s.project, hook_event_name: 'PostToolBatch' }
  const calls = [{ tool_name: 'Bash', tool_use_id: s.answers(used) }]
  house.wait(1)
  const seconds = Math.floor(house.now().getTime() / 1000)
  const id = `${s.id}.${seconds}.000001.${++signals}.PostToolBatch`
  const head = ['claude-code', 'PostToolBatch', seconds, `HOME=${house.folder}`, '']
  writeFileSync(join(spool, id), `${head.join('\n')}\n${JSON.stringify({ ...body, tool_calls: calls })}\n#end\n`)
  return id
}

it('an engine that holds the signal another has answered takes no word back', () => {
  const id = leave(90_000)
  const held = readSpooled(spool, id)!
  expect(said(answerOne(house.engine, spool, id)).agent).toMatch(/Context level "notice"/)
  house.secondEngine().take(held.raw, { deliver: 'outbox', signalId: id, unserved: true })
  expect(s.messages('context').map((message) => message.status)).toEqual(['sent'])
  expect(existsSync(join(house.outbox, s.id))).toBe(false)
  expect(said(answerOne(house.engine, spool, leave(91_000))).agent).toBeNull()
  expect(readdirSync(spool)).toEqual([])
})

it('a hook whose signal another engine took first finds the word in the outbox', () => {
  const id = leave(90_000)
  drainSpool(house.secondEngine(), spool)
  expect(answerOne(house.engine, spool, id)).toBe('')
  expect(existsSync(join(house.outbox, s.id, 'PostToolBatch'))).toBe(true)
})

/** What the launcher leaves around a compaction, by a hook of this pid. */
function leaveCompaction(name: 'PreCompact' | 'SessionStart-compact', pid: number): string {
  const seconds = Math.floor(Date.now() / 1000)
  const [kind = name] = name.split('-')
  const id = `${s.id}.${seconds}.${String(++signals).padStart(6, '0')}.${pid}.${name}`
  const body = { session_id: s.id, transcript_path: s.transcript, cwd: s.project, hook_event_name: kind }
  const more = kind === 'PreCompact' ? { trigger: 'auto' } : { source: 'compact', model: 'claude-opus-4-6' }
  const head = ['claude-code', kind, seconds, `HOME=${house.folder}`, '']
  writeFileSync(join(spool, id), `${head.join('\n')}\n${JSON.stringify({ ...body, ...more })}\n#end\n`)
  return id
}

const nobody = (): number => spawnSync('true').pid

it('a compaction whose hook waits is left to it, and what comes behind it waits too', () => {
  s.write({
    type: 'user',
    promptSource: 'typed',
    turnOrigin: 'human',
    message: { role: 'user', content: 'Never touch legacy/a.ts.' },
  })
  const begins = leaveCompaction('PreCompact', process.pid)
  expect(drainSpool(house.engine, spool)).toBe(0)
  expect(readdirSync(spool)).toEqual([begins])
  answerOne(house.engine, spool, begins)
  expect(readdirSync(spool)).toEqual([])
  expect(s.record().state).toBe('compacting')
  const goesOn = leaveCompaction('SessionStart-compact', process.pid)
  expect(drainSpool(house.engine, spool)).toBe(0)
  expect(said(answerOne(house.engine, spool, goesOn)).agent).toMatch(/This conversation was just compacted/)
  expect(readdirSync(spool)).toEqual([])
})

it('once its hook is gone, anybody takes it', () => {
  leaveCompaction('PreCompact', nobody())
  expect(drainSpool(house.engine, spool)).toBe(1)
  expect(s.record().state).toBe('compacting')
  leaveCompaction('SessionStart-compact', nobody())
  expect(drainSpool(house.engine, spool)).toBe(1)
})

it('a hook that waits for the answer to any event keeps it from other engines, for as long as it lives', () => {
  const id = leave(90_000)
  const [session, , micros, , kind] = id.split('.')
  const waits = (pid: number) => `${session}.${Math.floor(Date.now() / 1000)}.${micros}.${pid}.${kind}-now`
  renameSync(join(spool, id), join(spool, waits(process.pid)))
  expect(drainSpool(house.secondEngine(), spool)).toBe(0)
  expect(said(answerOne(house.engine, spool, readdirSync(spool)[0]!)).agent).toMatch(/Context level "notice"/)
  renameSync(join(spool, leave(91_000)), join(spool, waits(nobody())))
  expect(drainSpool(house.engine, spool)).toBe(1)
})

it('a signal bears the moment of its hook, finer than a second where the shell knows it', () => {
  const id = leave(90_000)
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
