import { expect, test } from 'vitest'
import { createTestHome, sendClientEvent, sendReading } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
const C = 'cccccccc-ef1f-4334-9716-3be98836406b'

test('baton name names a seat by one of its sessions and renames it by its name', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project, used: 20_000 }))
  const named = (await fixture.run(['name', 'aaaa', 'api', '--json'])).json
  expect(named).toMatchObject({ name: 'api', former_name: null })
  expect((await fixture.run(['name', 'api', 'backend'])).stdout).toBe(
    `Seat ${named.seat_id} now has the name backend instead of api. ` +
      'To start another client in this seat: BATON_SEAT=backend claude.\n',
  )
  expect((await fixture.run(['show', 'backend', '--json'])).json).toMatchObject({ session_id: A, seat_name: 'backend' })
})

test('a client that was started with the former name keeps its seat after /clear', async () => {
  const fixture = createTestHome()
  const env = { BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
  const start = (session: string, source: string): void =>
    fixture.fill((app) => sendClientEvent(app, 'SessionStart', session, fixture.project, { source }, env))
  start(A, 'startup')
  await fixture.run(['name', 'api', 'backend'])
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', A, fixture.project, { reason: 'clear' }, env))
  start(B, 'clear')
  expect((await fixture.run(['show', 'backend', '--json'])).json).toMatchObject({ session_id: B })
})

test('a name that another seat has, or that looks like an id, is refused', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => {
    sendReading(app, { session: A, project: fixture.project, used: 20_000, env: { BATON_SEAT: 'api' } })
    sendReading(app, { session: C, project: fixture.project, used: 20_000, env: { BATON_SEAT: 'web' } })
  })
  expect(await fixture.run(['name', 'api', 'web'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('already has the name "web".'),
  })
  for (const name of [
    'seat_1',
    'job_1',
    'aaaaaaaa-ef1f',
    '',
    'bad name/with',
    'a;b',
    '$(x)',
    '-x',
    'a\nb',
    'x'.repeat(65),
  ])
    expect((await fixture.run(['name', 'api', name])).code).toBe(2)
  expect((await fixture.run(['show', 'api', '--json'])).json).toMatchObject({ session_id: A })
})
