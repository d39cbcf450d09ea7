import { expect, test } from 'vitest'
import { createTestHome, sendClientEvent, sendReading } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'aaaaaaab-ef1f-4334-9716-3be98836406b'

function shown() {
  const fixture = createTestHome()
  fixture.fill((app) => {
    sendClientEvent(app, 'SessionStart', A, fixture.project, { source: 'startup' }, { BATON_SEAT: 'api' })
    sendReading(app, { session: A, project: fixture.project, used: 118_600, cost: 1.25 })
  })
  return fixture
}

test('show --json prints the session with its cycle, levels, subagents and chain', async () => {
  const fixture = shown()
  const ran = await fixture.run(['show', 'aaaaaaaa', '--json'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.json).toMatchObject({
    session_id: A,
    used_tokens: 118_600,
    cycle_started_at: expect.stringMatching(/Z$/),
    cycle_reason: 'start',
    levels: [
      { name: 'notice', at_tokens: 83_500, crossed_at: expect.stringMatching(/Z$/), reachable: true },
      { name: 'warning', at_tokens: 116_900, crossed_at: expect.any(String), reachable: true },
      { name: 'handoff', at_tokens: 141_950, crossed_at: null, reachable: true },
      { name: 'critical', at_tokens: 158_650, crossed_at: null, reachable: true },
    ],
    subagents: [],
    chain: [{ session_id: A }],
    briefs: [],
    archives: [],
    losses: [],
  })
})

test('show accepts a seat name or a seat id, and without a name shows the calling agent', async () => {
  const fixture = shown()
  const page = (await fixture.run(['show', 'api'])).stdout
  expect(page).toMatch(/^aaaaaaaa-ef1f-4334-9716-3be98836406b {2}idle\n {2}seat {8}api \(seat_/)
  expect(page).toContain('● warning     116,900  crossed')
  expect(page).toContain('○ handoff     141,950  23,350 to go')
  expect(page).toContain('cost        1.25 USD')
  expect(page).toContain('level reached')
  const seat = (await fixture.run(['show', A, '--json'])).json.seat_id
  expect((await fixture.run(['show', seat])).stdout).toContain(A)
  expect((await fixture.run(['show'], { env: { CLAUDE_CODE_SESSION_ID: A } })).stdout).toContain(A)
})

test('show has its own sentence for an unknown, an ambiguous and a missing name', async () => {
  const fixture = shown()
  fixture.fill((app) => sendReading(app, { session: B, project: fixture.project, used: 1000 }))
  expect(await fixture.run(['show', 'nobody'])).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('baton status --all'),
  })
  const several = await fixture.run(['show', 'aaaaaaa'])
  expect(several).toMatchObject({ code: 2, stdout: '' })
  expect(several.stderr).toContain('2 sessions begin with "aaaaaaa".')
  expect(several.stderr).toMatch(/aaaaaaab, aaaaaaaa/)
  expect(await fixture.run(['show', 'aaa'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('at least four characters'),
  })
  expect(await fixture.run(['show'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('baton show <session|seat>'),
  })
})
