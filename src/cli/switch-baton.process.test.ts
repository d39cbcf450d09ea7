import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial, type Trial, tell } from '../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'

function two(): Trial & { other: string } {
  const trial = newTrial()
  const other = join(trial.user, 'blog')
  mkdirSync(other)
  trial.fill((app) => {
    tell(app, { session: A, project: trial.project, used: 10_000 })
    tell(app, { session: B, project: other, used: 10_000 })
  })
  return { ...trial, other }
}

const enabled = async (trial: Trial): Promise<Record<string, boolean>> => {
  const { sessions } = (await trial.run(['status', '--json'])).json
  return Object.fromEntries(
    sessions.map((s: { session_id: string; enabled: boolean }) => [s.session_id.slice(0, 1), s.enabled]),
  )
}

test('baton off switches one session by the beginning of its id', async () => {
  const trial = two()
  expect((await trial.run(['off', 'aaaa', '--json'])).json).toEqual({ scope: 'session', enabled: false, session_id: A })
  expect(await enabled(trial)).toEqual({ a: false, b: true })
  expect((await trial.run(['on', 'aaaa'])).stdout).toBe(
    'Baton is on for session aaaaaaaa.\nbaton off aaaaaaaa turns it off again.\n',
  )
  expect(await enabled(trial)).toEqual({ a: true, b: true })
  expect(await trial.run(['off', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})

test('baton off finds the project from any folder in it and through a link, and touches no other project', async () => {
  const trial = two()
  const inside = join(trial.project, 'src', 'deep')
  mkdirSync(inside, { recursive: true })
  expect((await trial.run(['off', '--project', '--json'], { cwd: inside })).json).toEqual({
    scope: 'project',
    enabled: false,
    project: trial.project,
  })
  expect(await enabled(trial)).toEqual({ a: false, b: true })
  const link = join(trial.dir, 'link')
  symlinkSync(trial.project, link)
  await trial.run(['on', '--project'], { cwd: link })
  expect(await enabled(trial)).toEqual({ a: true, b: true })
})

test('sessions that name a project through a link are switched with the project', async () => {
  const trial = newTrial()
  const link = join(trial.dir, 'link')
  symlinkSync(trial.project, link)
  trial.fill((app) => {
    tell(app, { session: A, project: trial.project, used: 10_000 })
    tell(app, { session: B, project: link, used: 10_000 })
  })
  await trial.run(['off', '--project'])
  expect(await enabled(trial)).toEqual({ a: false, b: false })
})

test('a project without sessions is the git repository, or else the folder', async () => {
  const trial = newTrial()
  const inside = join(trial.project, 'src')
  mkdirSync(inside)
  expect((await trial.run(['off', '--json'], { cwd: inside })).json.project).toBe(inside)
  mkdirSync(join(trial.project, '.git'))
  const { stdout } = await trial.run(['off'], { cwd: inside })
  expect(stdout).toContain('Baton is off for the project ~/shop (no session was seen there yet).')
  trial.fill((app) => tell(app, { session: A, project: realpathSync(trial.project), used: 10_000 }))
  expect(await enabled(trial)).toEqual({ a: false })
})

test('without arguments baton off switches the agent’s own session, or else the project', async () => {
  const trial = two()
  const own = await trial.run(['off'], { env: { CLAUDE_CODE_SESSION_ID: B } })
  expect(own.stdout).toContain('Baton is off for session bbbbbbbb (the one this command runs in).')
  expect(await enabled(trial)).toEqual({ a: true, b: false })
  expect((await trial.run(['off', '--json'])).json.scope).toBe('project')
  expect((await trial.run(['on', '--project', '--json'], { env: { CLAUDE_CODE_SESSION_ID: B } })).json).toMatchObject({
    scope: 'project',
    project: trial.project,
  })
})

test('baton off --all switches everything, and the latest switch wins over narrower ones', async () => {
  const trial = two()
  await trial.run(['off', 'aaaa'])
  expect((await trial.run(['off', '--all', '--json'])).json).toEqual({ scope: 'all', enabled: false })
  await trial.run(['on', '--all'])
  expect(await enabled(trial)).toEqual({ a: true, b: true })
})

test('two scopes in one call are refused and change nothing', async () => {
  const trial = two()
  for (const args of [
    ['aaaa', '--all'],
    ['--project', '--all'],
    ['aaaa', '--project'],
  ]) {
    expect(await trial.run(['off', ...args])).toMatchObject({ code: 2, stdout: '' })
  }
  expect(await enabled(trial)).toEqual({ a: true, b: true })
})

test('baton on opens the levels again, and baton off cancels waiting messages', async () => {
  const trial = two()
  const climb = (used: number, durationMs: number) =>
    trial.fill((app) => tell(app, { session: A, project: trial.project, used, durationMs }))
  const statuses = async () =>
    (await trial.run(['messages', '--json'])).json.messages.map((m: { status: string }) => m.status)
  climb(90_000, 2_000)
  expect(await statuses()).toEqual(['queued'])
  await trial.run(['off', 'aaaa'])
  expect(await statuses()).toEqual(['cancelled'])
  climb(91_000, 3_000)
  await trial.run(['on', 'aaaa'])
  climb(92_000, 4_000)
  expect(await statuses()).toEqual(['cancelled', 'queued'])
})

test('a folder after --project is refused with the right way to name it', async () => {
  const trial = newTrial()
  const { code, stderr } = await trial.run(['off', '--project', trial.project], { cwd: trial.user })
  expect(code).toBe(2)
  expect(stderr).toContain('--project takes no folder')
  expect(stderr).toContain(`cd '${trial.project}' && baton off --project`)
})
