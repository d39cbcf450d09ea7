import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome, sendReading, type TestHome } from '../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'

function two(): TestHome & { other: string } {
  const fixture = createTestHome()
  const other = join(fixture.user, 'blog')
  mkdirSync(other)
  fixture.fill((app) => {
    sendReading(app, { session: A, project: fixture.project, used: 10_000 })
    sendReading(app, { session: B, project: other, used: 10_000 })
  })
  return { ...fixture, other }
}

const enabled = async (fixture: TestHome): Promise<Record<string, boolean>> => {
  const { sessions } = (await fixture.run(['status', '--json'])).json
  return Object.fromEntries(
    sessions.map((s: { session_id: string; enabled: boolean }) => [s.session_id.slice(0, 1), s.enabled]),
  )
}

test('baton off switches one session by the beginning of its id', async () => {
  const fixture = two()
  expect((await fixture.run(['off', 'aaaa', '--json'])).json).toEqual({
    scope: 'session',
    enabled: false,
    session_id: A,
  })
  expect(await enabled(fixture)).toEqual({ a: false, b: true })
  expect((await fixture.run(['on', 'aaaa'])).stdout).toBe(
    'Baton is now on for session aaaaaaaa.\nTo undo: baton off aaaaaaaa.\n',
  )
  expect(await enabled(fixture)).toEqual({ a: true, b: true })
  expect(await fixture.run(['off', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})

test('baton off finds the project from any folder in it and through a link, and touches no other project', async () => {
  const fixture = two()
  const inside = join(fixture.project, 'src', 'deep')
  mkdirSync(inside, { recursive: true })
  expect((await fixture.run(['off', '--project', '--json'], { cwd: inside })).json).toEqual({
    scope: 'project',
    enabled: false,
    project: fixture.project,
  })
  expect(await enabled(fixture)).toEqual({ a: false, b: true })
  const link = join(fixture.dir, 'link')
  symlinkSync(fixture.project, link)
  await fixture.run(['on', '--project'], { cwd: link })
  expect(await enabled(fixture)).toEqual({ a: true, b: true })
})

test('sessions that name a project through a link are switched with the project', async () => {
  const fixture = createTestHome()
  const link = join(fixture.dir, 'link')
  symlinkSync(fixture.project, link)
  fixture.fill((app) => {
    sendReading(app, { session: A, project: fixture.project, used: 10_000 })
    sendReading(app, { session: B, project: link, used: 10_000 })
  })
  await fixture.run(['off', '--project'])
  expect(await enabled(fixture)).toEqual({ a: false, b: false })
})

test('a project without sessions is the git repository, or else the folder', async () => {
  const fixture = createTestHome()
  const inside = join(fixture.project, 'src')
  mkdirSync(inside)
  expect((await fixture.run(['off', '--json'], { cwd: inside })).json.project).toBe(inside)
  mkdirSync(join(fixture.project, '.git'))
  const { stdout } = await fixture.run(['off'], { cwd: inside })
  expect(stdout).toContain('Baton is now off for the project ~/shop (no session seen there yet).')
  fixture.fill((app) => sendReading(app, { session: A, project: realpathSync(fixture.project), used: 10_000 }))
  expect(await enabled(fixture)).toEqual({ a: false })
})

test('without arguments baton off switches the agent’s own session, or else the project', async () => {
  const fixture = two()
  const own = await fixture.run(['off'], { env: { CLAUDE_CODE_SESSION_ID: B } })
  expect(own.stdout).toContain('Baton is now off for session bbbbbbbb (the one this command runs in).')
  expect(await enabled(fixture)).toEqual({ a: true, b: false })
  expect((await fixture.run(['off', '--json'])).json.scope).toBe('project')
  expect((await fixture.run(['on', '--project', '--json'], { env: { CLAUDE_CODE_SESSION_ID: B } })).json).toMatchObject(
    {
      scope: 'project',
      project: fixture.project,
    },
  )
})

test('baton off --all switches everything, and the latest switch wins over narrower ones', async () => {
  const fixture = two()
  await fixture.run(['off', 'aaaa'])
  expect((await fixture.run(['off', '--all', '--json'])).json).toEqual({ scope: 'all', enabled: false })
  await fixture.run(['on', '--all'])
  expect(await enabled(fixture)).toEqual({ a: true, b: true })
})

test('two scopes in one call are refused and change nothing', async () => {
  const fixture = two()
  for (const args of [
    ['aaaa', '--all'],
    ['--project', '--all'],
    ['aaaa', '--project'],
  ]) {
    expect(await fixture.run(['off', ...args])).toMatchObject({ code: 2, stdout: '' })
  }
  expect(await enabled(fixture)).toEqual({ a: true, b: true })
})

test('baton on opens the levels again, and baton off cancels waiting messages', async () => {
  const fixture = two()
  const climb = (used: number, durationMs: number) =>
    fixture.fill((app) => sendReading(app, { session: A, project: fixture.project, used, durationMs }))
  const statuses = async () =>
    (await fixture.run(['messages', '--json'])).json.messages.map((m: { status: string }) => m.status)
  climb(90_000, 2_000)
  expect(await statuses()).toEqual(['queued'])
  await fixture.run(['off', 'aaaa'])
  expect(await statuses()).toEqual(['cancelled'])
  climb(91_000, 3_000)
  await fixture.run(['on', 'aaaa'])
  climb(92_000, 4_000)
  expect(await statuses()).toEqual(['cancelled', 'queued'])
})

test('a folder after --project is refused with the right way to name it', async () => {
  const fixture = createTestHome()
  const { code, stderr } = await fixture.run(['off', '--project', fixture.project], { cwd: fixture.user })
  expect(code).toBe(2)
  expect(stderr).toContain('--project takes no folder')
  expect(stderr).toContain(`cd '${fixture.project}' && baton off --project`)
})
