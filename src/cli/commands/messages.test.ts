import { expect, test } from 'vitest'
import { newTrial, tell } from '../trial.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'

test('messages are listed with their seat, mode and status, for all seats or one', async () => {
  const trial = newTrial()
  trial.fill((house) => {
    tell(house, { session: A, project: trial.project, used: 90_000, env: { BATON_SEAT: 'api', BATON_PARENT_SEAT: 'lead' } })
    tell(house, { session: B, project: trial.project, used: 120_000 })
  })
  const all = (await trial.run(['messages', '--json'])).json.messages
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
    const { messages } = (await trial.run(['messages', '--seat', seat, '--json'])).json
    expect(messages.map((m: { session_id: string }) => m.session_id)).toEqual([A])
  }
  expect((await trial.run(['messages', '--seat', 'lead', '--json'])).json).toEqual({ messages: [] })
  const { stdout } = await trial.run(['messages'])
  expect(stdout).toMatch(/^QUEUED +SEAT +ABOUT +FROM +CATEGORY +MODE +STATUS +TEXT +ID\n/)
  expect(stdout).toMatch(/ api +aaaaaaaa +baton +context +sequential {2}queued {2}notice: 90,000 tokens used/)
})

test('a long text does not make every line of a file as long as it; --json has it whole', async () => {
  const trial = newTrial()
  trial.fill((house) => tell(house, { session: A, project: trial.project, used: 20_000, env: { BATON_SEAT: 'api' } }))
  await trial.run(['send', 'api', 'short'])
  await trial.run(['send', 'api', `long ${'x'.repeat(5_000)}`])
  const { stdout } = await trial.run(['messages'])
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(350)
  expect(stdout).toMatch(/ short +msg_/)
  expect(JSON.stringify((await trial.run(['messages', '--json'])).json)).toContain('x'.repeat(5_000))
})

test('none at all, and no such seat', async () => {
  const trial = newTrial()
  expect((await trial.run(['messages'])).stdout).toContain('No messages.')
  expect((await trial.run(['messages', '--json'])).json).toEqual({ messages: [] })
  expect(await trial.run(['messages', '--seat', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})
