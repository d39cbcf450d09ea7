import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { BATON } from '../../../test/harness/paths.js'
import { until } from '../../../test/harness/wait.js'
import type { Event } from '../../contract/records/event.js'
import { createTestHome, sendClientEvent, sendReading, type TestHome } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'

function happened(): TestHome {
  const fixture = createTestHome()
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project, used: 90_000 }), {
    now: new Date(Date.now() - 7_200_000),
  })
  fixture.fill((app) => sendReading(app, { session: B, project: fixture.project, used: 10_000 }))
  return fixture
}

const lines = (text: string): Event[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('events --json prints one event per line with rising ids and UTC times', async () => {
  const fixture = happened()
  const ran = await fixture.run(['events', '--json'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const events = lines(ran.stdout)
  expect(events.map(({ type, session_id }) => [type, session_id!.slice(0, 1)].join(' '))).toEqual([
    'session_started a',
    'cycle_started a',
    'reading a',
    'level_crossed a',
    'message_queued a',
    'context_warning a',
    'session_started b',
    'cycle_started b',
    'reading b',
  ])
  for (const [index, event] of events.entries()) {
    expect(Object.keys(event).sort()).toEqual(['at', 'data', 'id', 'job_id', 'seat_id', 'session_id', 'type'])
    expect(event.at).toMatch(/Z$/)
    if (index > 0) expect(event.id).toBeGreaterThan(events[index - 1]!.id)
  }
})

test('events can be limited by session, event id or time', async () => {
  const fixture = happened()
  const all = lines((await fixture.run(['events', '--json'])).stdout)
  const ask = async (...args: string[]) => lines((await fixture.run(['events', '--json', ...args])).stdout)
  expect(await ask('--session', 'bbbb')).toEqual(all.filter((event) => event.session_id === B))
  expect(await ask('--since', String(all[3]!.id))).toEqual(all.slice(4))
  expect(await ask('--since', '1h')).toEqual(all.slice(6))
  expect(await ask('--since', all[6]!.at)).toEqual(all.slice(6))
  expect(await ask('--since', '0')).toEqual(all)
  expect(await fixture.run(['events', '--since', 'soon'])).toMatchObject({ code: 2, stdout: '' })
  expect(await fixture.run(['events', '--session', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})

test('events prints all events when there are more than one page', async () => {
  const fixture = createTestHome()
  fixture.fill((app) =>
    app.store.transaction(() => {
      for (let i = 0; i < 2_500; i++) {
        app.store.addEvent({
          type: 'reading',
          at: new Date().toISOString(),
          session_id: A,
          seat_id: null,
          job_id: null,
          data: { used_tokens: i },
        })
      }
    }),
  )
  expect(lines((await fixture.run(['events', '--json'])).stdout)).toHaveLength(2_500)
  expect(
    execFileSync('bash', ['-c', `node "${BATON}" events | head -2`], { env: fixture.env, encoding: 'utf8' }).split(
      '\n',
    ),
  ).toHaveLength(3)
})

test('without --json events shows local time, session and event', async () => {
  const fixture = happened()
  const { stdout } = await fixture.run(['events', '--session', A])
  expect(stdout).toMatch(
    new RegExp(
      String.raw`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+00:00 {2}aaaaaaaa {2}level reached +notice · at 83,500 · used ` +
        '90,000 · 53.9% full$',
      'm',
    ),
  )
})

test('an empty store has no events', async () => {
  expect(await createTestHome().run(['events', '--json'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

test('events --follow prints new events and exits with 0 at Ctrl-C', async () => {
  const fixture = happened()
  const following = fixture.start(['events', '--follow', '--json', '--since', '1h'])
  await until('what was there', () => lines(following.stdout()).length === 3)
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', B, fixture.project, { reason: 'other' }))
  await until('what came', () => following.stdout().includes('session_ended'))
  expect(await following.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' })
})

test('events --follow ends when its reader closes the pipe', async () => {
  const fixture = happened()
  const following = fixture.start(['events', '--follow', '--json'])
  await following.firstLine()
  following.child.stdout!.destroy()
  // Writing the next event fails, because the reader has exited.
  fixture.fill((app) => sendClientEvent(app, 'SessionEnd', A, fixture.project, { reason: 'other' }))
  expect(await following.done).toMatchObject({ code: 0, stderr: '' })
})

test('an empty event list says why it is empty and what to do', async () => {
  const fresh = createTestHome()
  const empty = await fresh.run(['events'])
  expect(empty).toMatchObject({ code: 0, stdout: '' })
  expect(empty.stderr).toBe(
    'No events yet.\nRun baton install, then open Claude Code and send a prompt to see events.\n',
  )
  expect(await fresh.run(['events', '--json'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const fixture = happened()
  expect((await fixture.run(['events', '--since', '2999-01-01T00:00:00Z'])).stderr).toBe(
    'No events since then. Without --since all events are listed.\n',
  )
})
