import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { waitingHooksFolder } from '../../agents/claude-code/waiter.js'
import { batonHome } from '../../lib/home.js'
import {
  COMPLETE_BRIEF,
  endTurn,
  homeWithWorkingSession,
  INCOMPLETE_BRIEF,
  SESSION_A,
  SESSION_B,
  sessionEnvironment,
  startTurn,
  storedState,
} from '../../testing/cli-handoffs.js'
import { createTestHome, sendClientEvent, type TestHome } from '../../testing/cli-home.js'

async function given(
  fixture: TestHome,
  text = INCOMPLETE_BRIEF,
  session = SESSION_A,
): Promise<{ brief_id: string; path: string; seat_id: string }> {
  const file = fixture.put(join(fixture.dir, 'given.md'), text)
  return (await fixture.run(['handoff', file, '--json'], { env: sessionEnvironment(session) })).json
}

function cleared(fixture: TestHome): void {
  const C = 'cccccccc-ef1f-4334-9716-3be98836406b'
  const env = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
  fixture.fill((app) => {
    sendClientEvent(app, 'SessionEnd', SESSION_A, fixture.project, { reason: 'clear' }, env)
    sendClientEvent(app, 'SessionStart', C, fixture.project, { source: 'clear' }, env)
  })
}

test('handoffs list shows the newest first, replaced ones with --all, and the open handoff', async () => {
  const fixture = homeWithWorkingSession()
  expect((await fixture.run(['handoffs', 'list'])).stdout).toMatch(/^No briefs yet\./)
  expect((await fixture.run(['handoffs', 'list', '--json'])).json).toEqual({ briefs: [], handoffs: [] })
  startTurn(fixture, SESSION_B, { BATON_SEAT: 'web' })
  await given(fixture)
  const second = await given(fixture, COMPLETE_BRIEF)
  const other = await given(fixture, COMPLETE_BRIEF, SESSION_B)
  const ids = async (...args: string[]) =>
    (await fixture.run(['handoffs', 'list', ...args, '--json'])).json.briefs.map(
      (one: { brief_id: string }) => one.brief_id,
    )
  expect(await ids()).toEqual([other.brief_id, second.brief_id])
  expect(await ids('--all')).toHaveLength(3)
  for (const seat of ['api', SESSION_A, 'aaaa', second.seat_id])
    expect(await ids('--seat', seat)).toEqual([second.brief_id])
  const { stdout } = await fixture.run(['handoffs', 'list'])
  expect(stdout).toMatch(/^BRIEF +WRITTEN +SEAT +TITLE +NO +SESSION +PROJECT +AUTHOR +COVERS +STATUS\n/)
  expect(stdout).toMatch(
    new RegExp(
      `${second.brief_id} .* api +Never touch legacy/a.ts. Fix the login. +2 +aaaaaaaa +~/shop +agent +100% +ready`,
    ),
  )
  expect(stdout).toContain('and 1 more (baton handoffs list --all)')
  expect(stdout).toMatch(/open handoff {2}api: checked for \d+s \(by agent\)/)
  expect(await fixture.run(['handoffs', 'list', '--seat', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})

test('handoffs show prints text, front matter, check, additions and handoff, and marks a tampered file', async () => {
  const fixture = homeWithWorkingSession()
  const { brief_id, path } = await given(fixture)
  const short = brief_id.slice(6, 12)
  const shown = (await fixture.run(['handoffs', 'show', `${short}…`, '--json'])).json
  expect(shown).toMatchObject({
    brief_id,
    verdict: 'genuine',
    author: 'agent',
    front_matter: { brief_id, session_id: SESSION_A, sequence: 1 },
    text: expect.stringContaining('Run the tests of src/login.ts.'),
    added: expect.stringMatching(/^## Added by Baton[\s\S]*Never touch legacy/),
    handoff: { state: 'checked', brief_id },
  })
  expect(shown.added).not.toContain('Run the tests')
  const { stdout } = await fixture.run(['handoffs', 'show', brief_id.slice(0, 10)])
  expect(stdout).toMatch(new RegExp(`^${brief_id} {2}ready\n {2}seat {8}api \\(seat_\\w+\\), brief 1\n`))
  expect(stdout).toContain('  signature   valid')
  expect(stdout).toMatch(/ {2}handoff {5}checked for /)
  expect(stdout).toContain('\nText\n# Handoff brief\n')
  chmodSync(path, 0o600)
  writeFileSync(path, readFileSync(path, 'utf8').replace('Run the tests', 'Drop the tests'))
  const tampered = (await fixture.run(['handoffs', 'show', short, '--json'])).json
  expect(tampered).toMatchObject({ verdict: 'tampered', text: null, added: null, front_matter: null })
  expect(tampered.untrusted_text).toMatch(/without a valid signature[\s\S]*\n\| Drop the tests/)
  const page = (await fixture.run(['handoffs', 'show', short])).stdout
  expect(page).toContain('TAMPERED')
  expect(page).toMatch(/\nChanged text \(not trusted\)\n[\s\S]*\n\| Drop the tests/)
  expect(page).not.toMatch(/^Drop the tests/m)
  expect(await fixture.run(['handoffs', 'show', 'ffffffff'])).toMatchObject({ code: 3, stdout: '' })
  expect(await fixture.run(['handoffs', 'show', 'br'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('four characters'),
  })
})

test('handoffs check works for anyone against the own, named or newest session and changes nothing', async () => {
  const fixture = homeWithWorkingSession()
  fixture.put(join(fixture.project, 'thin.md'), INCOMPLETE_BRIEF)
  fixture.put(join(fixture.project, 'whole.md'), COMPLETE_BRIEF)
  const before = storedState(fixture)
  const thin = await fixture.run(['handoffs', 'check', 'thin.md', '--json'])
  expect(thin.code).toBe(0)
  expect(thin.json).toMatchObject({ session_id: SESSION_A, verdict: null, unsupported: [], passed: true })
  expect(thin.json.missing).toContainEqual({ kind: 'constraint', text: 'Never touch legacy/a.ts.' })
  expect((await fixture.run(['handoffs', 'check', 'whole.md', '--json'])).json).toMatchObject({ score: 1, missing: [] })
  expect((await fixture.run(['handoffs', 'check', 'whole.md', '--session', 'api', '--bar', '1'])).code).toBe(0)
  const below = await fixture.run(['handoffs', 'check', 'thin.md', '--bar', '0.9'], {
    env: sessionEnvironment(SESSION_A),
  })
  expect(below.code).toBe(1)
  expect(below.stdout).toMatch(/^The text covers \d+% of what happened in session aaaaaaaa\.\n/)
  expect(below.stdout).toContain('Missing facts:\n')
  expect(below.stdout).toContain('below 0.9')
  expect(storedState(fixture)).toEqual(before)
  expect(existsSync(join(fixture.env.BATON_HOME!, 'key'))).toBe(false)
  expect(await fixture.run(['handoffs', 'check', 'missing.md'])).toMatchObject({ code: 3 })
  expect(await fixture.run(['handoffs', 'check', 'thin.md', '--bar', '2'])).toMatchObject({ code: 2 })
  expect(await fixture.run(['handoffs', 'check', 'thin.md', '--session', 'nobody'])).toMatchObject({ code: 3 })
  const empty = createTestHome()
  empty.put(join(empty.project, 'thin.md'), INCOMPLETE_BRIEF)
  expect(await empty.run(['handoffs', 'check', 'thin.md'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('No session was seen in'),
  })
})

test('handoffs check reports whether the front matter of a file is valid', async () => {
  const fixture = homeWithWorkingSession()
  const { path } = await given(fixture, COMPLETE_BRIEF)
  const verdict = async (text: string) => {
    fixture.put(join(fixture.project, 'copy.md'), text)
    return (await fixture.run(['handoffs', 'check', 'copy.md', '--json'])).json.verdict
  }
  const kept = readFileSync(path, 'utf8')
  expect(await verdict(kept)).toBe('genuine')
  expect(await verdict(kept.replace('Run the', 'Skip the'))).toBe('tampered')
  expect(await verdict(kept.replace(/^signature: .*\n/m, ''))).toBe('unsigned')
  expect(await verdict(COMPLETE_BRIEF)).toBeNull()
  fixture.put(join(fixture.project, 'copy.md'), kept.replace(/^signature: .*\n/m, ''))
  expect((await fixture.run(['handoffs', 'check', 'copy.md'])).stdout).toContain('without a signature')
})

test('handoffs request asks the agent with the reason, and refuses other agents', async () => {
  const fixture = homeWithWorkingSession()
  startTurn(fixture, SESSION_B, { BATON_SEAT: 'web' })
  const before = storedState(fixture)
  expect((await fixture.run(['handoffs', 'request', 'api'], { env: sessionEnvironment(SESSION_B) })).code).toBe(4)
  expect(await fixture.run(['handoffs', 'request', 'nobody'])).toMatchObject({ code: 3 })
  expect(storedState(fixture)).toEqual(before)
  const ran = await fixture.run(['handoffs', 'request', 'api', '--reason', 'new model', '--json'])
  expect(ran.json).toMatchObject({ state: 'requested', cause: 'user', session_id: SESSION_A, reason: 'new model' })
  expect(ran.json.next).toMatch(/^The agent is asked at its next tool call/)
  const { messages } = (await fixture.run(['messages', '--seat', 'api', '--json'])).json
  expect(messages.at(-1)).toMatchObject({ category: 'handoff', mode: 'urgent', status: 'queued' })
  expect(messages.at(-1).agent_text).toMatch(/^\[baton\] A handoff brief for api [\s\S]*new model/)
  const again = await fixture.run(['handoffs', 'request', 'aaaaaaaa'])
  expect(again.stdout).toMatch(/^Requested a handoff of session aaaaaaaa of seat api\. /)
  const { handoffs } = (await fixture.run(['handoffs', 'list', '--json'])).json
  expect(handoffs).toHaveLength(1)
  expect(handoffs[0].handoff_id).not.toBe(ran.json.handoff_id)
})

test('handoffs cancel works by brief or by seat, once, and not after the brief was used', async () => {
  const fixture = homeWithWorkingSession()
  const { brief_id } = await given(fixture)
  expect((await fixture.run(['handoffs', 'cancel', brief_id, '--json'])).json).toMatchObject({
    handoff: { state: 'cancelled', trouble: 'the user cancelled it' },
    brief: { brief_id, status: 'cancelled' },
  })
  expect(await fixture.run(['handoffs', 'cancel', 'api'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('Seat api has no open handoff'),
  })
  await fixture.run(['handoffs', 'request', 'api'])
  const { stdout } = await fixture.run(['handoffs', 'cancel', 'api'])
  expect(stdout).toBe('The handoff of seat api is cancelled. Session aaaaaaaa continues.\n')
  const first = await given(fixture)
  const used = await given(fixture, COMPLETE_BRIEF)
  expect(await fixture.run(['handoffs', 'cancel', first.brief_id])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`was replaced by ${used.brief_id}`),
  })
  cleared(fixture)
  const refused = await fixture.run(['handoffs', 'cancel', used.brief_id])
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect((await fixture.run(['handoffs', 'show', used.brief_id, '--json'])).json.status).toBe('used')
  expect(await fixture.run(['handoffs', 'edit', used.brief_id, '--file', 'x.md'])).toMatchObject({ code: 4 })
  expect(await fixture.run(['handoffs', 'cancel', 'nobody'])).toMatchObject({ code: 3 })
})

test('handoffs approve releases a brief under review, and refuses any other', async () => {
  const fixture = homeWithWorkingSession()
  const { brief_id } = await given(fixture)
  expect(await fixture.run(['handoffs', 'approve', brief_id])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('does not wait for a review'),
  })
  fixture.fill(({ store }) =>
    store.transaction(() => {
      store.putHandoff({ ...store.openHandoffs()[0]!, state: 'review' })
      store.putBrief({ ...store.brief(brief_id)!, status: 'review' })
    }),
  )
  expect((await fixture.run(['handoffs', 'approve', brief_id], { env: sessionEnvironment(SESSION_A) })).code).toBe(4)
  expect((await fixture.run(['handoffs', 'approve', brief_id, '--json'])).json).toMatchObject({
    brief_id,
    status: 'approved',
    handoff: { state: 'checked' },
  })
  endTurn(fixture)
  cleared(fixture)
  expect((await fixture.run(['handoffs', 'show', brief_id, '--json'])).json.status).toBe('used')
})

test('a refused handoffs command names the whole command that helps', async () => {
  const fixture = homeWithWorkingSession()
  expect((await fixture.run(['handoffs', 'cancel', 'zzzz'])).stderr).toContain(
    'There is no brief, seat or session "zzzz"',
  )
  fixture.put(join(fixture.project, 'b.md'), COMPLETE_BRIEF)
  const { json } = await fixture.run(['handoff', 'b.md', '--session', SESSION_A, '--json'])
  const approved = await fixture.run(['handoffs', 'approve', json.brief_id])
  expect(approved.code).toBe(4)
  expect(approved.stderr).toMatch(/It needs no approval: .*turn/)
})

test('handoffs edit opens a copy in the editor and saves it as a new brief by the user', async () => {
  const fixture = homeWithWorkingSession()
  const { brief_id, path } = await given(fixture)
  const before = readFileSync(path, 'utf8')
  const editor = fixture.put(
    join(fixture.dir, 'my editor'),
    '#!/bin/sh\nsed -i "s/Run the tests/Rewrite the tests/" "$1"\n',
  )
  chmodSync(editor, 0o755)
  const TMPDIR = join(fixture.dir, 'tmp')
  mkdirSync(TMPDIR)
  const edited = await fixture.run(['handoffs', 'edit', brief_id, '--json'], { env: { EDITOR: `'${editor}'`, TMPDIR } })
  expect(edited).toMatchObject({ code: 0, stderr: '' })
  expect(edited.json).toMatchObject({
    author: 'user',
    sequence: 2,
    status: 'checked',
    changed: true,
    handoff: { state: 'checked' },
  })
  expect(edited.json.handoff.brief_id).toBe(edited.json.brief_id)
  expect(readFileSync(edited.json.path, 'utf8')).toContain('Rewrite the tests')
  expect(readFileSync(path, 'utf8')).toBe(before)
  expect((await fixture.run(['handoffs', 'show', brief_id, '--json'])).json.status).toBe('superseded')
  expect((await fixture.run(['handoffs', 'edit', brief_id], { env: { EDITOR: 'true' } })).code).toBe(4)

  const same = await fixture.run(['handoffs', 'edit', edited.json.brief_id], { env: { EDITOR: 'true', TMPDIR } })
  expect(same).toMatchObject({ code: 0, stdout: `${edited.json.brief_id} is unchanged.\n` })
  const failed = await fixture.run(['handoffs', 'edit', edited.json.brief_id], { env: { EDITOR: 'false', TMPDIR } })
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('the brief was not changed') })
  expect(await fixture.run(['handoffs', 'edit', edited.json.brief_id])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--file FILE'),
  })
  expect(
    (
      await fixture.run(['handoffs', 'edit', edited.json.brief_id, '--file', 'x'], {
        env: sessionEnvironment(SESSION_A),
      })
    ).code,
  ).toBe(4)
  const spoiled = await fixture.run(['handoffs', 'edit', edited.json.brief_id], { env: { EDITOR: ': >', TMPDIR } })
  expect(spoiled).toMatchObject({ code: 2, stderr: expect.stringContaining('Your text is kept in ') })
  rmSync(/kept in (.*)\/.*\.md\.$/m.exec(spoiled.stderr)![1]!, { recursive: true })
  fixture.put(join(fixture.project, 'new.md'), COMPLETE_BRIEF)
  const whole = await fixture.run(['handoffs', 'edit', edited.json.brief_id, '--file', 'new.md'])
  expect(whole.stdout).toMatch(/replaces brief_\w+\. It covers 100% of what happened\./)
  expect(readdirSync(TMPDIR)).toEqual([])
})

test('handoffs without an action lists them', async () => {
  const fixture = createTestHome()
  const listed = await fixture.run(['handoffs', 'list'])
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('No briefs yet') })
  expect(await fixture.run(['handoffs'])).toEqual(listed)
  expect((await fixture.run(['handoffs', '--json'])).json).toEqual({ briefs: [], handoffs: [] })
  expect((await fixture.run(['jobs', '--json'])).json).toEqual({ jobs: [] })
})

test('an unknown action, a missing argument or a wrong option of handoffs is reported', async () => {
  const fixture = createTestHome()
  const cases: [string[], string][] = [
    [['handoffs', 'shwo'], 'Did you mean baton handoffs show?'],
    [['handoffs', 'show'], 'baton handoffs show <brief>'],
    [['handoffs', 'list', '--bar', '1'], 'baton handoffs list has no option --bar'],
    [['handoffs', 'list', 'x'], 'takes no argument "x"'],
  ]
  for (const [args, words] of cases)
    expect(await fixture.run(args), args.join(' ')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(words),
    })
})

test('handoffs request says that a just woken idle session is asked now', async () => {
  const fixture = createTestHome()
  const env = { BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
  startTurn(fixture, SESSION_A, env)
  fixture.fill((app) => {
    sendClientEvent(
      app,
      'Stop',
      SESSION_A,
      fixture.project,
      { stop_hook_active: false },
      { CLAUDE_CODE_SESSION_ATTENDED: '1', ...env },
    )
  })
  const folder = waitingHooksFolder(batonHome(fixture.env).live)
  mkdirSync(folder, { recursive: true })
  const pipe = join(folder, `${process.pid}.1`)
  spawnSync('mkfifo', [pipe])
  const asleep = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(asleep))
  const { next } = (await fixture.run(['handoffs', 'request', 'api', '--json'])).json
  expect((await fixture.run(['messages', '--json'])).json.messages).toMatchObject([
    { category: 'handoff', status: 'sent', via: 'waiter' },
  ])
  expect(next).toMatch(/^The session is idle. Its agent is asked now/)
})

test('a mistyped seat name is reported with the nearest name', async () => {
  const fixture = homeWithWorkingSession()
  expect((await fixture.run(['handoffs', 'list', '--seat', 'apj'])).stderr).toContain('Did you mean api?')
})
