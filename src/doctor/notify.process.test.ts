import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { toNotifyTarget } from '../config/notify-schema.js'
import { sampleNotice } from '../store/samples.cases.js'
import { createDoctorHome } from './fixtures/doctor-home.js'

test('a notify target whose last delivery failed is reported until it works or is removed', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  fixture.signal('SessionStart', { session_id: 's1', source: 'startup' })
  const notified = async () => (await fixture.examine()).of('notify')
  expect(await notified()).toMatchObject({ ok: true, detail: expect.stringContaining('No notice') })

  const entry = { via: 'ntfy', url: 'https://ntfy.example/secret-topic' }
  writeFileSync(fixture.home.config, JSON.stringify({ notify: [entry] }))
  const store = fixture.open().store
  const over = (noticeId: string, state: 'sent' | 'failed', secondsAgo: number): void => {
    const claimedAt = new Date(Date.now() - secondsAgo * 1_000).toISOString()
    const subject = { agent: 'claude-code', project: fixture.project, model: null, seat: null }
    const trouble = state === 'failed' ? 'answered 404' : null
    store.addNotice(
      sampleNotice(noticeId, { state, trouble, subject, target: toNotifyTarget(entry), claimedAt, dueAt: null }),
    )
  }
  over('n1', 'failed', 600)
  const failed = await notified()
  expect(failed).toMatchObject({ ok: false, fix: expect.stringContaining('baton notify test') })
  expect(failed.detail).toBe('The last notice by ntfy ntfy.example (notify[0]) failed (10 min ago): answered 404.')

  writeFileSync(fixture.home.config, 'notify: [bell]\n')
  expect((await notified()).ok).toBe(true)
  writeFileSync(fixture.home.config, JSON.stringify({ notify: [entry] }))
  over('n2', 'sent', 1)
  expect(await notified()).toMatchObject({ ok: true, detail: expect.stringContaining('1 notify target') })
})
