import { expect, test } from 'vitest'
import { sendMessage } from '../../engine/messages/send-message.js'
import { waitReasons } from '../../engine/views/message-view.js'
import { sampleMessage } from '../../store/samples.cases.js'
import { createTestHome, sendClientEvent, sendReading } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'

test('messages lists seat, mode and status of each message, for all seats or one', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => {
    sendReading(app, {
      session: A,
      project: fixture.project,
      used: 90_000,
      env: { BATON_SEAT: 'api', BATON_PARENT_SEAT: 'lead' },
    })
    sendReading(app, { session: B, project: fixture.project, used: 120_000 })
  })
  const all = (await fixture.run(['messages', '--json'])).json.messages
  expect(all).toHaveLength(2)
  for (const message of all) {
    expect(message).toMatchObject({
      category: 'context',
      status: 'queued',
      queued_at: expect.stringMatching(/Z$/),
      delivered_at: null,
    })
    expect(message.message_id).toMatch(/^msg_/)
    expect(message.seat_id).toMatch(/^seat_/)
  }
  for (const seat of ['api', A, 'aaaa']) {
    const { messages } = (await fixture.run(['messages', '--seat', seat, '--json'])).json
    expect(messages.map((m: { session_id: string }) => m.session_id)).toEqual([A])
  }
  expect((await fixture.run(['messages', '--seat', 'lead', '--json'])).json).toEqual({ messages: [] })
  const { stdout } = await fixture.run(['messages'])
  expect(stdout).toMatch(/^QUEUED +SEAT +ABOUT +FROM +CATEGORY +WHEN +STATUS +REASON TO WAIT +TEXT +ID\n/)
  expect(stdout).toMatch(
    / api +aaaaaaaa +baton +context +after the turn {2}queued {2}delivered with the next event .* notice: 54% full/,
  )
})

test('a long text does not widen every line in a file, and --json has the whole text', async () => {
  const fixture = createTestHome()
  fixture.fill((app) =>
    sendReading(app, { session: A, project: fixture.project, used: 20_000, env: { BATON_SEAT: 'api' } }),
  )
  await fixture.run(['send', 'api', 'short'])
  await fixture.run(['send', 'api', `long ${'x'.repeat(5_000)}`])
  const { stdout } = await fixture.run(['messages'])
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(350)
  expect(stdout).toMatch(/ short +msg_/)
  expect(JSON.stringify((await fixture.run(['messages', '--json'])).json)).toContain('x'.repeat(5_000))
})

test('a message to a seat whose session has ended says that no session will read it', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => {
    sendReading(app, { session: A, project: fixture.project, used: 20_000, env: { BATON_SEAT: 'api' } })
    sendClientEvent(app, 'SessionEnd', A, fixture.project, { reason: 'other' }, { BATON_SEAT: 'api' })
  })
  await fixture.run(['send', 'api', 'hello'])
  const { messages } = (await fixture.run(['messages', '--json'])).json
  expect(messages).toMatchObject([{ status: 'queued', reason: 'its seat has no running session' }])
})

test('messages reports an empty list and an unknown seat', async () => {
  const fixture = createTestHome()
  expect((await fixture.run(['messages'])).stdout).toContain('No messages.')
  expect((await fixture.run(['messages', '--json'])).json).toEqual({ messages: [] })
  expect(await fixture.run(['messages', '--seat', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})

const C = 'cccccccc-ef1f-4334-9716-3be98836406b'

test.each([80, 100, 120])(
  'at %i columns every row of messages shows the whole id and the whole reason',
  async (columns) => {
    const fixture = createTestHome()
    fixture.fill((app) => {
      sendReading(app, { session: A, project: fixture.project, used: 90_000, env: { BATON_SEAT: 'api' } })
      sendReading(app, { session: C, project: fixture.project, used: 20_000, env: { BATON_SEAT: 'gone' } })
      sendClientEvent(app, 'SessionEnd', C, fixture.project, { reason: 'other' }, { BATON_SEAT: 'gone' })
    })
    await fixture.run(['send', 'api', `look at ${'this and '.repeat(30)}that`])
    await fixture.run(['send', 'gone', 'hello'])
    const { messages } = (await fixture.run(['messages', '--json'])).json
    const { stdout } = await fixture.run(['messages'], { columns })
    for (const { message_id, reason } of messages) {
      expect(stdout).toContain(message_id)
      expect(stdout).toContain(reason)
    }
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns)
    expect(stdout).not.toContain('ABOUT')
  },
)

test('messages cancel takes the beginning of an id and refuses an ambiguous one', async () => {
  const fixture = createTestHome()
  fixture.fill(({ store }) => {
    for (const id of ['msg_3f0c1', 'msg_3f0c2', 'msg_3faa']) store.putMessage(sampleMessage(id, { status: 'queued' }))
  })
  const cancel = (id: string) => fixture.run(['messages', 'cancel', id])
  expect(await cancel('3f0c')).toMatchObject({ code: 2, stderr: expect.stringContaining('2 messages begin with') })
  expect(await cancel('3fa')).toMatchObject({ code: 0, stdout: 'Cancelled msg_3faa.\n' })
  expect(await cancel('msg_3f0c2')).toMatchObject({ code: 0, stdout: 'Cancelled msg_3f0c2.\n' })
  // The cancelled message no longer makes the prefix ambiguous.
  expect(await cancel('msg_3f0c')).toMatchObject({ code: 0, stdout: 'Cancelled msg_3f0c1.\n' })
  for (const id of ['msg_', 'zzzz']) expect((await cancel(id)).code).toBe(3)
})

test('the reasons of many messages need one store query for each seat', () => {
  const fixture = createTestHome()
  fixture.fill((app) => {
    sendReading(app, { session: A, project: fixture.project, used: 20_000, env: { BATON_SEAT: 'api' } })
    const seatId = app.store.session(A)!.seatId
    for (let i = 0; i < 50; i++)
      sendMessage(app.engine.deps, { seatId, sender: 'user', mode: 'sequential', text: `${i}`, file: null })
    const messages = app.store.messages({ seatId })
    let reads = 0
    const store = new Proxy(app.store, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (typeof value === 'function') reads++
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const deps = { ...app.engine.deps, store }
    expect(waitReasons(deps, messages.slice(0, 1)).size).toBe(1)
    const forOne = reads
    expect(waitReasons(deps, messages).size).toBe(messages.length)
    expect(reads).toBe(2 * forOne)
  })
})
