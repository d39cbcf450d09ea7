import { expect, test } from 'vitest'
import type { NoticeRecord, NotifyTarget } from '../contract/records/notice.js'
import {
  jobLimitNotices,
  jobNotice,
  levelNotice,
  limitEnding,
  limitNotices,
  noticeLine,
  noticeName,
  noticesFor,
  permissionNotice,
  reviewNotice,
  silenceNotice,
} from './notice-text.js'
import { sampleLevel, sampleTrack } from './samples.cases.js'

const AT = '2026-03-01T10:00:00.000Z'
const target = (changes: Partial<NotifyTarget> = {}): NotifyTarget => ({
  via: 'bell',
  on: ['level', 'permission', 'limit', 'job'],
  command: null,
  url: null,
  everyMs: 30_000,
  ...changes,
})
const origin = {
  name: 'api',
  subject: { agent: 'claude-code', project: '/x/api', model: null, seat: 'api' },
  sessionId: 's1',
  seatId: 'seat_1',
  jobId: null,
  terminal: null,
}
const ids = () => {
  let count = 0
  return { at: AT, newId: () => String(++count), hash: (text: string) => `hash of ${text}` }
}

test('every kind of notice is one short line', () => {
  const track = sampleTrack(118_600)
  const line = (content: Parameters<typeof noticesFor>[0], jobId: string | null = null) =>
    noticeLine([{ ...content, name: 'api', jobId }])
  expect(line(levelNotice(track, sampleLevel('warning')))).toBe(
    'api: 71% full, about 48k tokens until compaction (warning)',
  )
  expect(line(reviewNotice('handoff_1', 'brief_cc8e1234abcd', null))).toBe(
    'api: a handoff brief waits for your review: baton handoffs approve cc8e1234',
  )
  expect(line(permissionNotice(false))).toBe('api: waits for your permission')
  expect(line(silenceNotice(1, 12))).toMatch(/^api: .*\b1 tool call\b.*\b12 min\b.*baton doctor$/)
  const ended = { exitReason: 'success', handoffs: 2, durationMs: 12 * 60_000 }
  expect(line(jobNotice({ ...ended, state: 'completed' }), 'job_1')).toBe('job api completed in 12 min')
  expect(line(jobNotice({ ...ended, state: 'failed', exitReason: 'max_budget' }), 'job_1')).toBe(
    'job api failed after 12 min (max_budget)',
  )
  expect(line(jobNotice({ ...ended, state: 'cancelled', exitReason: 'cancelled', durationMs: 400 }), 'job_1')).toBe(
    'job api cancelled after 1 s',
  )
  expect(line(limitNotices({ name: 'five_hour', resetsAt: null }, AT)[0]!)).toBe('Five-hour limit reached')
})

test('a review notice with a deadline says when the brief is used', () => {
  const at = new Date(2026, 2, 1, 14, 5, 30)
  expect(reviewNotice('h', 'brief_1', at.toISOString()).text).toContain(' at 14:05: baton handoffs approve 1')
})

test('a session without a name is named by its folder and short id', () => {
  expect(noticeName('api', '/x/shop', '1f2e3d4c-5678')).toBe('api')
  expect(noticeName(null, '/x/shop/', '1f2e3d4c-5678')).toBe('shop 1f2e3d4c')
  expect(noticeName(null, null, '1f2e3d4c-5678')).toBe('session 1f2e3d4c')
})

test('a notice goes to every target that wants its kind and to no other', () => {
  const targets = [target(), target({ via: 'desktop', on: ['review'] }), target({ via: 'desktop', on: ['permission'] })]
  const notices = noticesFor(permissionNotice(false), origin, targets, ids())
  expect(notices.map((one) => [one.noticeId, one.target.via, one.state, one.dueAt])).toEqual([
    ['notice_1', 'bell', 'waiting', AT],
    ['notice_2', 'desktop', 'waiting', AT],
  ])
  expect(noticesFor(silenceNotice(20, 1), origin, targets, ids())).toEqual([])
})

test('a plan limit causes a notice when it is reached and when it resets, once for all sessions', () => {
  const resetsAt = '2026-03-01T13:00:00.000Z'
  const [reached, reset] = limitNotices({ name: 'five_hour', resetsAt }, AT)
  expect(reached).toMatchObject({ kind: 'limit', data: { moment: 'reached', resets_at: resetsAt } })
  expect(reached!.text).toMatch(/^Five-hour limit reached, resets at \d\d:\d\d$/)
  expect(reset).toMatchObject({ text: 'Five-hour limit has reset', dueAt: resetsAt, data: { moment: 'reset' } })
  expect(reset!.once).not.toBe(reached!.once)
  expect(limitNotices({ name: 'five_hour', resetsAt: '2026-03-01T09:00:00.000Z' }, AT)).toHaveLength(1)
})

/** Returns the limit events that targets get, if each report is stored before the next arrives. */
const limitEvents = (...reports: [name: string, resetsAt: string | null, at: string][]): string[] => {
  const stored = new Map<string, NoticeRecord>()
  for (const [name, resetsAt, at] of reports)
    for (const content of limitNotices({ name, resetsAt }, at, [...stored.values()]))
      for (const notice of noticesFor(content, origin, [target()], { ...ids(), at }))
        if (!stored.has(notice.noticeId)) stored.set(notice.noticeId, notice)
  return [...stored.values()].map(({ data }) => `${data.limit} ${data.moment}`)
}

test('resets that sessions report up to ten minutes apart count as one reset', () => {
  const at = '2026-03-01T12:00:00.000Z'
  const both = ['five_hour reached', 'five_hour reset']
  const first = '2026-03-01T15:04:59.000Z'
  expect(limitEvents(['five_hour', first, at], ['five_hour', '2026-03-01T15:05:01.000Z', at])).toEqual(both)
  expect(limitEvents(['five_hour', first, at], ['five_hour', '2026-03-01T15:14:59.000Z', at])).toEqual(both)
  expect(limitEvents(['five_hour', first, at], ['five_hour', '2026-03-01T15:15:00.000Z', at])).toEqual([
    ...both,
    ...both,
  ])
  expect(limitEvents(['five_hour', first, at], ['five_hour', null, at])).toEqual(both)
})

test('a limit without a reset causes one notice within any hour', () => {
  const at = '2026-03-01T10:59:59.000Z'
  expect(limitEvents(['usage', null, at], ['usage', null, '2026-03-01T11:00:01.000Z'])).toEqual(['usage reached'])
  expect(limitEvents(['usage', null, at], ['usage', null, '2026-03-01T11:59:59.000Z'])).toHaveLength(2)
})

test('a usage limit without a name counts as the named limit that is open', () => {
  const resetsAt = '2026-03-01T15:00:00.000Z'
  const named = ['five_hour', resetsAt, '2026-03-01T12:00:00.000Z'] as const
  const both = ['five_hour reached', 'five_hour reset']
  expect(limitEvents([...named], ['usage', null, '2026-03-01T14:59:00.000Z'])).toEqual(both)
  expect(limitEvents([...named], ['usage', null, '2026-03-01T15:01:00.000Z'])).toEqual([...both, 'usage reached'])
})

test('a reset on another day is shown with its date', () => {
  const at = new Date(2026, 10, 18, 20, 0)
  const resetsAt = new Date(2026, 10, 21, 9, 5).toISOString()
  expect(limitNotices({ name: 'seven_day', resetsAt }, at.toISOString())[0]!.text).toBe(
    'Seven-day limit reached, resets at 21 Nov 09:05',
  )
})

test('a job that waits for a limit causes a notice at both moments under its own name', () => {
  const until = '2026-03-01T13:00:00.000Z'
  const [reached, continues] = jobLimitNotices('job_1', until, AT)
  expect(noticeLine([{ ...reached!, name: 'fix-login', jobId: 'job_1' }])).toMatch(
    /^job fix-login: usage limit reached, continues at \d\d:\d\d$/,
  )
  expect(continues).toMatchObject({ text: 'continues after the usage limit', dueAt: until })
})

test('the notice of a reached limit says what the client does, if its settings tell', () => {
  expect([true, false, null].map(limitEnding)).toEqual([
    '; the client continues by itself',
    '; the client asks you what to do',
    '',
  ])
})

test('several notices make one line, newest first, with at most three spelled out', () => {
  const many = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...permissionNotice(false), name, jobId: null }))
  expect(noticeLine(many.slice(0, 2))).toBe('b: waits for your permission · a: waits for your permission')
  expect(noticeLine(many)).toMatch(/^e: .* · d: .* · c: waits for your permission · and 2 more$/)
})
