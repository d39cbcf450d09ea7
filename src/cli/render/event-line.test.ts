import { expect, test } from 'vitest'
import { ARCHIVE_TRIGGERS, type Archive } from '../../contract/records/archive.js'
import { EVENT_TYPES, type Event, type EventType } from '../../contract/records/event.js'
import { archiveTriggerText } from '../../policy/archive-trigger-text.js'
import { eventLine } from './event-line.js'
import { plain } from './screen.js'
import { archiveLines } from './session-page.js'
import { localTimestamp } from './text.js'

const at = '2026-03-01T12:00:00.000Z'
const event = (type: EventType, data: Record<string, unknown> = {}): Event => ({
  id: 1,
  type,
  at,
  session_id: 'd76d6c4d-ef1f',
  seat_id: 's',
  job_id: null,
  data,
})
const line = (of: Event): string => eventLine(of, { paint: plain, fullTime: true, session: true })

test('an event line shows time, session, event and its main figures', () => {
  const crossed = event('level_crossed', {
    level: 'warning',
    at_tokens: 116_900,
    used_tokens: 118_600,
    compaction_percent: 71,
    cycle: 1,
  })
  expect(line(crossed).replace(/ {2,}/g, '  ')).toBe(
    `${localTimestamp(at)}  d76d6c4d  level reached  warning · at 116,900 · used 118,600 · 71% full`,
  )
  const compacted = event('compaction_complete', {
    outcome: 'completed',
    triggerReason: 'threshold_exceeded',
    overflow: true,
    tokensBefore: 190_000,
    tokensAfter: null,
  })
  expect(line(compacted)).toContain('completed · after the API refused a request · 190,000 → –')
})

test('a warning above the compaction point shows the percentage of its level, not the bounded whole number', () => {
  const [usedTokens, compactionTokens] = [169_008, 167_000]
  const data = { levels: ['critical'], usedTokens, compactionTokens, contextUsedPercent: 100 }
  expect(line(event('context_warning', data))).toMatch(/ 101\.2% full$/)
})

test('an archive’s trigger has the same name in the event list and on the session page', () => {
  const [now, columns] = [new Date(at), Number.POSITIVE_INFINITY]
  for (const trigger of ARCHIVE_TRIGGERS) {
    const words = archiveTriggerText(trigger)
    expect(words).toMatch(/^(before|at|after|by|on) /)
    expect(line(event('archive_created', { archive_id: 'a1', trigger, bytes: 10 }))).toContain(`  ${words} · 10 B · a1`)
    const archive = { archive_id: 'a1', trigger, bytes: 10, created_at: at, status: 'kept' } as Archive
    expect(archiveLines([archive], { columns, paint: plain, now })[1]).toMatch(new RegExp(`, ${words}$`))
  }
})

test('events around a compaction show their figures first', () => {
  const archived = event('archive_created', {
    archive_id: 'a1b2',
    trigger: 'auto',
    bytes: 1_234_567,
    subagents: 2,
    path: '/x',
  })
  expect(line(archived)).toMatch(/archived +before a compaction · 1\.2 MB · and 2 subagents · a1b2$/)
  const loss = event('loss_report', {
    facts: 17,
    facts_kept: 12,
    by_kind: { constraint: { total: 5, kept: 2 }, file: { total: 8, kept: 6 }, request: { total: 4, kept: 4 } },
    lost: [{ kind: 'constraint', text: 'Never touch the migrations' }],
  })
  expect(line(loss)).toMatch(
    /facts kept 12 of 17 · lost: constraint 3, file 2 · most needed: Never touch the migrations$/,
  )
  expect(line(event('recovery_delivered', { step: 1, facts: 8 }))).toMatch(/8 facts · with the next request$/)
  expect(line(event('recovery_delivered', { step: 2, facts: 1 }))).toMatch(/1 fact · missing from the summary$/)
})

test('unknown values and fields of an event are shown as plain words, not as keys', () => {
  expect(line(event('session_ended', { reason: 'prompt_input_exit' }))).toMatch(/session ended +exited by the user$/)
  expect(line(event('message_queued', { category: 'context', mode: 'sequential', message_id: 'msg_1' }))).toMatch(
    /context · after the turn · msg_1$/,
  )
  expect(line(event('job_paused', { detail: 'its budget is spent' }))).toMatch(/job paused +its budget is spent$/)
  expect(line({ ...event('job_started'), session_id: null, job_id: 'job_3f2a91' })).toMatch(
    / {2}job_3f2a {2}job started +job_3f2a91$/,
  )
  expect(line({ ...event('job_completed', { detail: '', handoffs: 1 }), job_id: 'job_3f2a91' })).toMatch(
    /job_3f2a91 · 1 handoff$/,
  )
  const passed = { round: 2, rounds: 4, of: 3, passed: 3, failed: 0, next: 'completed' }
  expect(line(event('checks_completed', passed))).toMatch(/checks ended +all checks passed in round 2 of 4$/)
  expect(line(event('silence_alarm', { tool_calls: 1, minutes: 3 }))).toMatch(/no reading for 1 tool call, 3 min/)
})

test('every event type has a line, also with unknown data', () => {
  for (const type of EVENT_TYPES) {
    expect(line(event(type))).not.toContain('_')
    expect(line(event(type)).split('  ')[2]!.length).toBeGreaterThan(4)
    expect(line(event(type, { surprise: '\u001b[2J', nested: { a: 1 } }))).not.toMatch(/\u001b/)
  }
})

test('each event of a handoff, from its request to its end, has a line', () => {
  const describeEvent = (type: EventType, data: Record<string, unknown>): string =>
    line(event(type, data)).split('  ').slice(3).join('  ').trim()
  const fields = {
    handoffNumber: 2,
    oldSessionId: 'aaaaaaaa-1',
    newSessionId: 'bbbbbbbb-2',
    brief_id: 'brief_1',
    inputTokens: 5,
  }
  expect(describeEvent('handoff_requested', { number: 2, cause: 'level', level: 'handoff', reason: null })).toBe(
    'handoff 2 · by level handoff',
  )
  expect(describeEvent('handoff_requested', { number: 2, cause: 'user', reason: 'new model' })).toBe(
    'handoff 2 · by user · new model',
  )
  expect(describeEvent('handoff_started', { ...fields, newSessionId: null, way: 'mod' })).toBe(
    'handoff 2 · by the plugin module · brief_1',
  )
  expect(describeEvent('handoff_completed', { ...fields, way: 'start' })).toBe(
    'handoff 2 · by a /clear or start of the user · aaaaaaaa → bbbbbbbb · brief_1',
  )
  expect(describeEvent('handoff_failed', { ...fields, reason: 'its brief is gone' })).toBe(
    'handoff 2 · its brief is gone',
  )
})
