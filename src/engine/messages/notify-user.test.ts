import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NoticeKind, NotifyTarget } from '../../contract/records/notice.js'
import { NOTICE_KINDS } from '../../contract/records/notice.js'
import { LEVEL_TOKENS, type TestApp, testApp, testSession } from '../../testing/engine-session.js'

let app: TestApp
beforeEach(() => {
  app = testApp()
})
afterEach(() => app.remove())

const target = (on: NoticeKind[] = [...NOTICE_KINDS], via: NotifyTarget['via'] = 'bell'): NotifyTarget => ({
  via,
  on,
  command: null,
  url: null,
  everyMs: 30_000,
})
const configureTargets = (...notify: NotifyTarget[]) => app.configure((policy) => ({ ...policy, notify }))
/** Returns stored notices up to a date at which even the reset of a limit is due. */
const storedNotices = () =>
  app.store.dueNotices('2027-01-01').map(({ kind, text, name, sessionId }) => ({ kind, text, name, sessionId }))
const storedKinds = () => storedNotices().map(({ kind }) => kind)
const PERMISSION = { notification_type: 'permission_prompt', message: 'Claude needs your permission' }

test('a level that tells the user gives one notice with the figures and no conversation text', () => {
  configureTargets(target())
  const s = testSession(app, 'aaaaaaaa-0001')
  s.start()
  s.hook('UserPromptSubmit', { prompt: 'the secret plan' })
  s.step(LEVEL_TOKENS.warning + 100)
  expect(storedNotices()).toEqual([
    {
      kind: 'level',
      text: '70% full, about 50k tokens until compaction (warning)',
      name: 'shop aaaaaaaa',
      sessionId: s.id,
    },
  ])
  s.step(LEVEL_TOKENS.warning + 200)
  expect(storedKinds()).toEqual(['level'])
  expect(JSON.stringify(app.store.dueNotices('2027-01-01'))).not.toContain('secret plan')
})

test('a level that tells no user gives no notice', () => {
  configureTargets(target())
  app.configure((policy) => ({ ...policy, levels: policy.levels.map((level) => ({ ...level, actions: [] })) }))
  const s = testSession(app)
  s.start()
  s.step(LEVEL_TOKENS.warning + 100)
  expect(storedNotices()).toEqual([])
})

test('each permission dialog gives one notice, even when its signal arrives twice', () => {
  configureTargets(target())
  const s = testSession(app, 'aaaaaaaa-0001', { BATON_SEAT: 'api' })
  s.start()
  s.hook('Notification', PERMISSION, { signalId: 'one' })
  s.hook('Notification', PERMISSION, { signalId: 'one' })
  expect(storedNotices()).toEqual([
    { kind: 'permission', text: 'waits for your permission', name: 'api', sessionId: s.id },
  ])
  expect(s.record().state).toBe('waiting')
  s.hook('Notification', PERMISSION, { signalId: 'two' })
  expect(storedKinds()).toEqual(['permission', 'permission'])
  s.hook('Notification', { notification_type: 'idle_prompt', message: 'Claude is waiting for your input' })
  expect(storedKinds()).toHaveLength(2)
})

test('a used-up plan limit and its reset are each reported once for all sessions of the plan', () => {
  configureTargets(target())
  const resets = Math.round(app.now().getTime() / 1000) + 7_200
  const limits = (used: number) => ({ rate_limits: { five_hour: { used_percentage: used, resets_at: resets } } })
  for (const id of ['aaaaaaaa-0001', 'bbbbbbbb-0002']) {
    const s = testSession(app, id)
    s.start()
    s.hook('status-line', limits(99))
    s.hook('status-line', limits(100))
    s.hook('status-line', limits(100))
  }
  expect(storedNotices().map(({ text }) => text)).toEqual([
    expect.stringMatching(/^Five-hour limit reached, resets at \d\d:\d\d$/),
    'Five-hour limit has reset',
  ])
})

test('sessions that round the reset of a limit differently give one pair of notices', () => {
  configureTargets(target())
  const resets = Math.round(app.now().getTime() / 1000) + 7_199
  ;['aaaaaaaa-0001', 'bbbbbbbb-0002'].forEach((id, index) => {
    const s = testSession(app, id)
    s.start()
    s.hook('status-line', { rate_limits: { five_hour: { used_percentage: 100, resets_at: resets + index * 599 } } })
  })
  const other = testSession(app, 'cccccccc-0003')
  other.start()
  other.hook('StopFailure', { error: 'rate_limit', last_assistant_message: "You've hit your limit" })
  expect(storedKinds()).toEqual(['limit', 'limit'])
})

test('the id of a notice, which targets are sent, holds no address and no command', () => {
  const url = 'https://me:password@ntfy.example/topic'
  configureTargets({ ...target(), via: 'ntfy', url }, { ...target(), via: 'command', command: 'notify --key password' })
  const s = testSession(app)
  s.start()
  s.hook('Notification', PERMISSION)
  s.hook('StopFailure', { error: 'rate_limit', last_assistant_message: "You've hit your limit" })
  const ids = app.store.dueNotices('2027-01-01').map(({ noticeId }) => noticeId)
  expect(new Set(ids).size).toBe(4)
  for (const id of ids) expect(id).toMatch(/^notice_\w+$/)
})

test('a turn ended by a usage limit is reported even if the client reports no limits', () => {
  configureTargets(target())
  const s = testSession(app)
  s.start()
  s.hook('StopFailure', { error: 'server_error', last_assistant_message: 'x' })
  expect(storedNotices()).toEqual([])
  s.hook('StopFailure', { error: 'rate_limit', last_assistant_message: "You've hit your limit" })
  s.hook('StopFailure', { error: 'rate_limit', last_assistant_message: "You've hit your limit" })
  expect(storedNotices()).toMatchObject([{ kind: 'limit', text: 'Usage limit reached' }])
})

test('a session without readings is reported as silent once', () => {
  configureTargets(target())
  const s = testSession(app)
  s.start()
  for (let n = 0; n < 25; n++) s.batch([`toolu_${n}`])
  expect(storedNotices()).toMatchObject([{ kind: 'silence', text: expect.stringMatching(/\b20 tool calls\b/) }])
})

test('only targets that want the event get a notice', () => {
  configureTargets(target(['silence']), target(['permission'], 'desktop'))
  const s = testSession(app)
  s.start()
  s.step(LEVEL_TOKENS.warning + 100)
  s.hook('Notification', PERMISSION)
  expect(app.store.dueNotices('2027-01-01').map((one) => [one.kind, one.target.via])).toEqual([
    ['permission', 'desktop'],
  ])
})

test('no notice is stored where Baton is off, in a job, or without targets', () => {
  const s = testSession(app)
  s.start()
  s.hook('Notification', PERMISSION)
  configureTargets(target())
  const job = testSession(app, 'bbbbbbbb-0002', { BATON_JOB_ID: 'job_1' })
  job.start()
  job.hook('Notification', PERMISSION)
  app.configure((policy) => ({ ...policy, enabled: false }))
  s.hook('Notification', PERMISSION)
  expect(storedNotices()).toEqual([])
})
