import { expect, test } from 'vitest'
import { newTrial, tell, tellEvent } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
const C = 'cccccccc-ef1f-4334-9716-3be98836406b'

test('baton name names a seat by one of its sessions and renames it by its name', async () => {
  const trial = newTrial()
  trial.fill((app) => tell(app, { session: A, project: trial.project, used: 20_000 }))
  const named = (await trial.run(['name', 'aaaa', 'api', '--json'])).json
  expect(named).toMatchObject({ name: 'api', former_name: null })
  expect((await trial.run(['name', 'api', 'backend'])).stdout).toBe(
    `Seat ${named.seat_id} is called backend now (api before). To sit in it with another client: BATON_SEAT=backend claude.\n`,
  )
  expect((await trial.run(['show', 'backend', '--json'])).json).toMatchObject({ session_id: A, seat_name: 'backend' })
})

test('a client that was started with the former name keeps its seat after /clear', async () => {
  const trial = newTrial()
  const env = { BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
  const start = (session: string, source: string): void =>
    trial.fill((app) => tellEvent(app, 'SessionStart', session, trial.project, { source }, env))
  start(A, 'startup')
  await trial.run(['name', 'api', 'backend'])
  trial.fill((app) => tellEvent(app, 'SessionEnd', A, trial.project, { reason: 'clear' }, env))
  start(B, 'clear')
  expect((await trial.run(['show', 'backend', '--json'])).json).toMatchObject({ session_id: B })
})

test('a name that another seat has, or that looks like an id, is refused', async () => {
  const trial = newTrial()
  trial.fill((app) => {
    tell(app, { session: A, project: trial.project, used: 20_000, env: { BATON_SEAT: 'api' } })
    tell(app, { session: C, project: trial.project, used: 20_000, env: { BATON_SEAT: 'web' } })
  })
  expect(await trial.run(['name', 'api', 'web'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('is called "web" already.'),
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
    expect((await trial.run(['name', 'api', name])).code).toBe(2)
  expect((await trial.run(['show', 'api', '--json'])).json).toMatchObject({ session_id: A })
})
