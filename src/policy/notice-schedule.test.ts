import { expect, test } from 'vitest'
import type { NoticeRecord, NotifyTarget } from '../contract/records/notice.js'
import type { SessionRecord } from '../contract/records/session.js'
import { planDueNotices, recordOutcome, type SendOutcome, whyOutdated } from './notice-schedule.js'

const START = Date.parse('2026-03-01T10:00:00.000Z')
const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString()
const target: NotifyTarget = { via: 'bell', on: ['permission'], command: null, url: null, everyMs: 30_000 }

const aNotice = (noticeId: string, changes: Partial<NoticeRecord> = {}): NoticeRecord => ({
  noticeId,
  kind: 'permission',
  state: 'waiting',
  target,
  text: 'waits for your permission',
  name: 'api',
  at: at(0),
  dueAt: at(0),
  claimedAt: null,
  tries: 0,
  crashed: false,
  trouble: null,
  subject: { agent: 'claude-code', project: '/x', model: null, seat: null },
  sessionId: noticeId,
  seatId: 'seat_1',
  jobId: null,
  terminal: null,
  data: {},
  ...changes,
})

const plan = (due: NoticeRecord[], seconds: number, lastAt: string | null = null, outdated: string | null = null) => {
  const { send, settled } = planDueNotices(due, {
    now: new Date(START + seconds * 1000),
    lastAt: () => lastAt,
    outdated: () => outdated,
  })
  return { send: send.map((group) => group.map((one) => one.noticeId)), settled, claimed: send.flat() }
}

test('a notice is claimed with a lease before it is sent', () => {
  const { send, settled, claimed } = plan([aNotice('a')], 1)
  expect([send, settled]).toEqual([[['a']], []])
  expect(claimed[0]).toMatchObject({ state: 'sending', tries: 1, claimedAt: at(1), dueAt: at(91), crashed: false })
})

test('notices of one target and kind are sent together, oldest first, and others separately', () => {
  const other = { ...target, via: 'desktop' as const }
  const due = [
    aNotice('a'),
    aNotice('b', { at: at(1) }),
    aNotice('c', { kind: 'level' }),
    aNotice('d', { target: other }),
  ]
  expect(plan(due, 2).send.sort()).toEqual([['a', 'b'], ['c'], ['d']])
})

test('a notice within at_most_every is delayed, not dropped', () => {
  const { send, settled } = plan([aNotice('a'), aNotice('b')], 10, at(5))
  expect(send).toEqual([])
  expect(settled.map(({ state, dueAt, tries }) => [state, dueAt, tries])).toEqual([
    ['waiting', at(35), 0],
    ['waiting', at(35), 0],
  ])
  expect(plan(settled, 34.999, at(5)).send).toEqual([])
  expect(plan(settled, 35, at(5)).send).toHaveLength(1)
})

test('only the newest of several notices of one session is sent', () => {
  const due = [aNotice('a', { sessionId: 's' }), aNotice('b', { sessionId: 's', at: at(1) }), aNotice('c')]
  const { send, settled } = plan(due, 2)
  expect(send).toEqual([['c', 'b']])
  expect(settled).toMatchObject([{ noticeId: 'a', state: 'dropped', dueAt: null }])
})

test('both notices of a limit, reached and reset, are sent', () => {
  const limit = { kind: 'limit', sessionId: 's' } as const
  expect(plan([aNotice('a', limit), aNotice('b', { ...limit, at: at(1) })], 2).send).toEqual([['a', 'b']])
})

test('a notice whose sender died is tried once more, and not a third time', () => {
  const first = plan([aNotice('a')], 0).claimed[0]!
  const second = plan([first], 91).claimed[0]!
  expect(second).toMatchObject({ state: 'sending', tries: 2, crashed: true })
  const third = plan([second], 200)
  expect(third.send).toEqual([])
  expect(third.settled).toMatchObject([{ state: 'failed', dueAt: null, trouble: expect.stringContaining('died') }])
})

test('a crash is remembered while at_most_every holds the notice back', () => {
  const slow = { ...target, everyMs: 600_000 }
  const first = plan([aNotice('a', { target: slow })], 0).claimed[0]!
  // Another notice of this kind was sent after the claim whose sender died.
  const held = plan([first], 91, at(60)).settled[0]!
  expect(held).toMatchObject({ state: 'waiting', crashed: true, tries: 1, dueAt: at(660) })
  const second = plan([held], 660, at(60)).claimed[0]!
  expect(second).toMatchObject({ state: 'sending', crashed: true, tries: 2 })
  expect(plan([second], 751, at(60)).settled).toMatchObject([{ state: 'failed', dueAt: null }])
})

test('a notice without tries left is not sent again, whatever became of its last try', () => {
  const dead = aNotice('a', { state: 'sending', tries: 4 })
  expect(plan([dead], 1)).toMatchObject({ send: [], settled: [{ state: 'failed', dueAt: null, tries: 4 }] })
  const waiting = aNotice('a', { tries: 4, trouble: 'answered 500' })
  expect(plan([waiting], 1)).toMatchObject({ send: [], settled: [{ state: 'failed', trouble: 'answered 500' }] })
})

test('a notice that was not sent within an hour is dropped', () => {
  expect(plan([aNotice('a')], 3_600).send).toHaveLength(1)
  expect(plan([aNotice('a')], 3_601).settled).toMatchObject([{ state: 'dropped' }])
})

test('an outdated notice is dropped with the reason', () => {
  expect(plan([aNotice('a')], 1, null, 'its dialog was answered').settled).toMatchObject([
    { state: 'dropped', trouble: 'its dialog was answered' },
  ])
})

test('a failing notice is tried four times with growing pauses and then fails', () => {
  const failed: SendOutcome = { result: 'failed', reason: 'no answer', retryable: true }
  const tried = (tries: number) => recordOutcome(aNotice('a', { state: 'sending', tries }), failed, new Date(START))
  expect([1, 2, 3].map((tries) => [tried(tries).state, tried(tries).dueAt])).toEqual([
    ['waiting', at(5)],
    ['waiting', at(30)],
    ['waiting', at(120)],
  ])
  expect(tried(4)).toMatchObject({ state: 'failed', dueAt: null, trouble: 'no answer' })
  expect(recordOutcome(aNotice('a', { tries: 1 }), { ...failed, retryable: false }, new Date(START)).state).toBe(
    'failed',
  )
})

test('a notice that was sent, or has no recipient, is finished', () => {
  const now = new Date(START)
  expect(recordOutcome(aNotice('a', { tries: 2, trouble: 'x' }), { result: 'sent' }, now)).toMatchObject({
    state: 'sent',
    dueAt: null,
    trouble: null,
  })
  expect(recordOutcome(aNotice('a'), { result: 'no-recipient', reason: 'no terminal' }, now)).toMatchObject({
    state: 'dropped',
    dueAt: null,
    trouble: 'no terminal',
  })
})

test('a notice is outdated as soon as its session, handoff or job has moved on', () => {
  const session = (changes: object) => ({
    state: 'waiting',
    track: { cycle: 2 },
    silence: { alarmed: true },
    ...changes,
  })
  const why = (notice: NoticeRecord, facts: { session?: object | null; handoff?: object; job?: object }) =>
    whyOutdated(notice, { session: null, handoff: null, job: null, ...facts } as {
      session: SessionRecord | null
      handoff: null
      job: null
    })
  const permission = aNotice('a')
  expect(why(permission, { session: session({}) })).toBeNull()
  expect(why(permission, { session: session({ state: 'working' }) })).toBe('its dialog was answered')
  expect(why({ ...permission, data: { subagent: true } }, { session: session({ state: 'working' }) })).toBeNull()
  const level = aNotice('a', { kind: 'level', data: { cycle: 2 } })
  expect(why(level, { session: session({}) })).toBeNull()
  expect(why(level, { session: session({ track: { cycle: 3 } }) })).not.toBeNull()
  expect(why(level, {})).not.toBeNull()
  const review = aNotice('a', { kind: 'review' })
  expect(why(review, { handoff: { state: 'review' } })).toBeNull()
  expect(why(review, { handoff: { state: 'waiting' } })).toBe('its review is over')
  const silence = aNotice('a', { kind: 'silence' })
  expect(why(silence, { session: session({}) })).toBeNull()
  expect(why(silence, { session: session({ silence: { alarmed: false } }) })).toBe('readings arrive again')
  const limit = aNotice('a', { kind: 'limit' })
  expect(why(limit, {})).toBeNull()
  expect(why(limit, { job: { state: 'waiting' } })).toBeNull()
  expect(why(limit, { job: { state: 'cancelled' } })).toBe('its job has stopped')
  expect(why(aNotice('a', { kind: 'job' }), { job: { state: 'completed' } })).toBeNull()
})
