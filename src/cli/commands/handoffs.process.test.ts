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
import { waitersFolder } from '../../agents/claude-code/waiter.js'
import { batonHome } from '../../lib/home.js'
import { A, atWork, B, ended, inside, state, THIN, WHOLE, working } from '../../testing/cli-handoffs.js'
import { newTrial, type Trial, tellEvent } from '../../testing/cli-home.js'

async function given(
  trial: Trial,
  text = THIN,
  session = A,
): Promise<{ brief_id: string; path: string; seat_id: string }> {
  const file = trial.put(join(trial.dir, 'given.md'), text)
  return (await trial.run(['handoff', file, '--json'], { env: inside(session) })).json
}

function cleared(trial: Trial): void {
  const C = 'cccccccc-ef1f-4334-9716-3be98836406b'
  const env = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
  trial.fill((app) => {
    tellEvent(app, 'SessionEnd', A, trial.project, { reason: 'clear' }, env)
    tellEvent(app, 'SessionStart', C, trial.project, { source: 'clear' }, env)
  })
}

test('handoffs list shows the newest first, replaced ones with --all, and the handoff under way', async () => {
  const trial = atWork()
  expect((await trial.run(['handoffs', 'list'])).stdout).toMatch(/^No briefs yet\./)
  expect((await trial.run(['handoffs', 'list', '--json'])).json).toEqual({ briefs: [], handoffs: [] })
  working(trial, B, { BATON_SEAT: 'web' })
  await given(trial)
  const second = await given(trial, WHOLE)
  const other = await given(trial, WHOLE, B)
  const ids = async (...args: string[]) =>
    (await trial.run(['handoffs', 'list', ...args, '--json'])).json.briefs.map(
      (one: { brief_id: string }) => one.brief_id,
    )
  expect(await ids()).toEqual([other.brief_id, second.brief_id])
  expect(await ids('--all')).toHaveLength(3)
  for (const seat of ['api', A, 'aaaa', second.seat_id]) expect(await ids('--seat', seat)).toEqual([second.brief_id])
  const { stdout } = await trial.run(['handoffs', 'list'])
  expect(stdout).toMatch(/^BRIEF +WRITTEN +SEAT +TITLE +NO +SESSION +PROJECT +AUTHOR +COVERS +STATUS\n/)
  expect(stdout).toMatch(
    new RegExp(
      `${second.brief_id} .* api +Never touch legacy/a.ts. Fix the login. +2 +aaaaaaaa +~/shop +agent +100% +ready`,
    ),
  )
  expect(stdout).toContain('and 1 more: baton handoffs list --all')
  expect(stdout).toMatch(/under way {2}api: checked for \d+s, asked for by agent/)
  expect(await trial.run(['handoffs', 'list', '--seat', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})

test('handoffs show prints text, front matter, check, additions and handoff, and marks a tampered file', async () => {
  const trial = atWork()
  const { brief_id, path } = await given(trial)
  const short = brief_id.slice(6, 12)
  const shown = (await trial.run(['handoffs', 'show', short, '--json'])).json
  expect(shown).toMatchObject({
    brief_id,
    verdict: 'genuine',
    author: 'agent',
    front_matter: { brief_id, session_id: A, sequence: 1 },
    text: expect.stringContaining('Run the tests of src/login.ts.'),
    added: expect.stringMatching(/^## Added by Baton[\s\S]*Never touch legacy/),
    handoff: { state: 'checked', brief_id },
  })
  expect(shown.added).not.toContain('Run the tests')
  const { stdout } = await trial.run(['handoffs', 'show', brief_id.slice(0, 10)])
  expect(stdout).toMatch(new RegExp(`^${brief_id} {2}ready\n {2}seat {8}api \\(seat_\\w+\\), brief 1\n`))
  expect(stdout).toContain('  signature   genuine')
  expect(stdout).toMatch(/ {2}handoff {5}checked for /)
  expect(stdout).toContain('\nText\n# Handoff brief\n')
  chmodSync(path, 0o600)
  writeFileSync(path, readFileSync(path, 'utf8').replace('Run the tests', 'Drop the tests'))
  const tampered = (await trial.run(['handoffs', 'show', short, '--json'])).json
  expect(tampered).toMatchObject({ verdict: 'tampered', text: null, added: null, front_matter: null })
  expect(tampered.untrusted_text).toMatch(/did not sign it as it stands[\s\S]*\n\| Drop the tests/)
  const page = (await trial.run(['handoffs', 'show', short])).stdout
  expect(page).toContain('TAMPERED')
  expect(page).toMatch(/\nNot the text Baton kept\n[\s\S]*\n\| Drop the tests/)
  expect(page).not.toMatch(/^Drop the tests/m)
  expect(await trial.run(['handoffs', 'show', 'ffffffff'])).toMatchObject({ code: 3, stdout: '' })
  expect(await trial.run(['handoffs', 'show', 'br'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('four characters'),
  })
})

test('handoffs check works for anyone against the own, named or newest session and changes nothing', async () => {
  const trial = atWork()
  trial.put(join(trial.project, 'thin.md'), THIN)
  trial.put(join(trial.project, 'whole.md'), WHOLE)
  const before = state(trial)
  const thin = await trial.run(['handoffs', 'check', 'thin.md', '--json'])
  expect(thin.code).toBe(0)
  expect(thin.json).toMatchObject({ session_id: A, verdict: null, unsupported: [], passed: true })
  expect(thin.json.missing).toContainEqual({ kind: 'constraint', text: 'Never touch legacy/a.ts.' })
  expect((await trial.run(['handoffs', 'check', 'whole.md', '--json'])).json).toMatchObject({ score: 1, missing: [] })
  expect((await trial.run(['handoffs', 'check', 'whole.md', '--session', 'api', '--bar', '1'])).code).toBe(0)
  const below = await trial.run(['handoffs', 'check', 'thin.md', '--bar', '0.9'], { env: inside(A) })
  expect(below.code).toBe(1)
  expect(below.stdout).toMatch(/^Carries \d+% of what happened in session aaaaaaaa\.\n/)
  expect(below.stdout).toContain('It lacks:\n')
  expect(below.stdout).toContain('Below the bar of 0.9.')
  expect(state(trial)).toEqual(before)
  expect(existsSync(join(trial.env.BATON_HOME!, 'key'))).toBe(false)
  expect(await trial.run(['handoffs', 'check', 'missing.md'])).toMatchObject({ code: 3 })
  expect(await trial.run(['handoffs', 'check', 'thin.md', '--bar', '2'])).toMatchObject({ code: 2 })
  expect(await trial.run(['handoffs', 'check', 'thin.md', '--session', 'nobody'])).toMatchObject({ code: 3 })
  const empty = newTrial()
  empty.put(join(empty.project, 'thin.md'), THIN)
  expect(await empty.run(['handoffs', 'check', 'thin.md'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('No session was seen in'),
  })
})

test('handoffs check reports whether the front matter of a file is valid', async () => {
  const trial = atWork()
  const { path } = await given(trial, WHOLE)
  const verdict = async (text: string) => {
    trial.put(join(trial.project, 'copy.md'), text)
    return (await trial.run(['handoffs', 'check', 'copy.md', '--json'])).json.verdict
  }
  const kept = readFileSync(path, 'utf8')
  expect(await verdict(kept)).toBe('genuine')
  expect(await verdict(kept.replace('Run the', 'Skip the'))).toBe('tampered')
  expect(await verdict(kept.replace(/^signature: .*\n/m, ''))).toBe('unsigned')
  expect(await verdict(WHOLE)).toBeNull()
  trial.put(join(trial.project, 'copy.md'), kept.replace(/^signature: .*\n/m, ''))
  expect((await trial.run(['handoffs', 'check', 'copy.md'])).stdout).toContain('bears no signature')
})

test('handoffs request asks the agent with the reason, and refuses other agents', async () => {
  const trial = atWork()
  working(trial, B, { BATON_SEAT: 'web' })
  const before = state(trial)
  expect((await trial.run(['handoffs', 'request', 'api'], { env: inside(B) })).code).toBe(4)
  expect(await trial.run(['handoffs', 'request', 'nobody'])).toMatchObject({ code: 3 })
  expect(state(trial)).toEqual(before)
  const ran = await trial.run(['handoffs', 'request', 'api', '--reason', 'new model', '--json'])
  expect(ran.json).toMatchObject({ state: 'requested', cause: 'user', session_id: A, reason: 'new model' })
  expect(ran.json.next).toMatch(/^Its agent is asked at the next tool call/)
  const { messages } = (await trial.run(['messages', '--seat', 'api', '--json'])).json
  expect(messages.at(-1)).toMatchObject({ category: 'handoff', mode: 'urgent', status: 'queued' })
  expect(messages.at(-1).agent_text).toMatch(/^\[baton\] A handoff brief for api is wanted[\s\S]*new model/)
  const again = await trial.run(['handoffs', 'request', 'aaaaaaaa'])
  expect(again.stdout).toMatch(/^A handoff of session aaaaaaaa of seat api is asked for\. /)
  const { handoffs } = (await trial.run(['handoffs', 'list', '--json'])).json
  expect(handoffs).toHaveLength(1)
  expect(handoffs[0].handoff_id).not.toBe(ran.json.handoff_id)
})

test('handoffs cancel works by brief or by seat, once, and not after the brief was used', async () => {
  const trial = atWork()
  const { brief_id } = await given(trial)
  expect((await trial.run(['handoffs', 'cancel', brief_id, '--json'])).json).toMatchObject({
    handoff: { state: 'cancelled', trouble: 'the user cancelled it' },
    brief: { brief_id, status: 'cancelled' },
  })
  expect(await trial.run(['handoffs', 'cancel', 'api'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('No handoff of seat api is under way'),
  })
  await trial.run(['handoffs', 'request', 'api'])
  const { stdout } = await trial.run(['handoffs', 'cancel', 'api'])
  expect(stdout).toBe('The handoff of seat api is cancelled: session aaaaaaaa goes on.\n')
  const first = await given(trial)
  const used = await given(trial, WHOLE)
  expect(await trial.run(['handoffs', 'cancel', first.brief_id])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`was replaced by ${used.brief_id}`),
  })
  cleared(trial)
  const refused = await trial.run(['handoffs', 'cancel', used.brief_id])
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect((await trial.run(['handoffs', 'show', used.brief_id, '--json'])).json.status).toBe('used')
  expect(await trial.run(['handoffs', 'edit', used.brief_id, '--file', 'x.md'])).toMatchObject({ code: 4 })
  expect(await trial.run(['handoffs', 'cancel', 'nobody'])).toMatchObject({ code: 3 })
})

test('handoffs approve releases a brief under review, and refuses any other', async () => {
  const trial = atWork()
  const { brief_id } = await given(trial)
  expect(await trial.run(['handoffs', 'approve', brief_id])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('does not wait for a review'),
  })
  trial.fill(({ store }) =>
    store.transaction(() => {
      store.putHandoff({ ...store.openHandoffs()[0]!, state: 'review' })
      store.putBrief({ ...store.brief(brief_id)!, status: 'review' })
    }),
  )
  expect((await trial.run(['handoffs', 'approve', brief_id], { env: inside(A) })).code).toBe(4)
  expect((await trial.run(['handoffs', 'approve', brief_id, '--json'])).json).toMatchObject({
    brief_id,
    status: 'approved',
    handoff: { state: 'checked' },
  })
  ended(trial)
  cleared(trial)
  expect((await trial.run(['handoffs', 'show', brief_id, '--json'])).json.status).toBe('used')
})

test('a refused handoffs command names the whole command that helps', async () => {
  const trial = atWork()
  expect((await trial.run(['handoffs', 'cancel', 'zzzz'])).stderr).toContain(
    'There is no brief, seat or session "zzzz"',
  )
  trial.put(join(trial.project, 'b.md'), WHOLE)
  const { json } = await trial.run(['handoff', 'b.md', '--session', A, '--json'])
  const approved = await trial.run(['handoffs', 'approve', json.brief_id])
  expect(approved.code).toBe(4)
  expect(approved.stderr).toContain('It needs no approval: it is used when the turn of its session ends.')
})

test('handoffs edit opens a copy in the editor and saves it as a new brief by the user', async () => {
  const trial = atWork()
  const { brief_id, path } = await given(trial)
  const before = readFileSync(path, 'utf8')
  const editor = trial.put(
    join(trial.dir, 'my editor'),
    '#!/bin/sh\nsed -i "s/Run the tests/Rewrite the tests/" "$1"\n',
  )
  chmodSync(editor, 0o755)
  const TMPDIR = join(trial.dir, 'tmp')
  mkdirSync(TMPDIR)
  const edited = await trial.run(['handoffs', 'edit', brief_id, '--json'], { env: { EDITOR: `'${editor}'`, TMPDIR } })
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
  expect((await trial.run(['handoffs', 'show', brief_id, '--json'])).json.status).toBe('superseded')
  expect((await trial.run(['handoffs', 'edit', brief_id], { env: { EDITOR: 'true' } })).code).toBe(4)

  const same = await trial.run(['handoffs', 'edit', edited.json.brief_id], { env: { EDITOR: 'true', TMPDIR } })
  expect(same).toMatchObject({ code: 0, stdout: `Nothing was changed in ${edited.json.brief_id}.\n` })
  const failed = await trial.run(['handoffs', 'edit', edited.json.brief_id], { env: { EDITOR: 'false', TMPDIR } })
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('left as it is') })
  expect(await trial.run(['handoffs', 'edit', edited.json.brief_id])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--file FILE'),
  })
  expect((await trial.run(['handoffs', 'edit', edited.json.brief_id, '--file', 'x'], { env: inside(A) })).code).toBe(4)
  const spoiled = await trial.run(['handoffs', 'edit', edited.json.brief_id], { env: { EDITOR: ': >', TMPDIR } })
  expect(spoiled).toMatchObject({ code: 2, stderr: expect.stringContaining('Your text is still in ') })
  rmSync(/still in (.*)\/.*\.md\.$/m.exec(spoiled.stderr)![1]!, { recursive: true })
  trial.put(join(trial.project, 'new.md'), WHOLE)
  const whole = await trial.run(['handoffs', 'edit', edited.json.brief_id, '--file', 'new.md'])
  expect(whole.stdout).toMatch(/takes the place of brief_\w+\. It covers 100% of what happened\./)
  expect(readdirSync(TMPDIR)).toEqual([])
})

test('handoffs without an action lists them', async () => {
  const trial = newTrial()
  const listed = await trial.run(['handoffs', 'list'])
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('No briefs yet') })
  expect(await trial.run(['handoffs'])).toEqual(listed)
  expect((await trial.run(['handoffs', '--json'])).json).toEqual({ briefs: [], handoffs: [] })
  expect((await trial.run(['jobs', '--json'])).json).toEqual({ jobs: [] })
})

test('an unknown action, a missing argument or a wrong option of handoffs is reported', async () => {
  const trial = newTrial()
  const cases: [string[], string][] = [
    [['handoffs', 'shwo'], 'Did you mean show?'],
    [['handoffs', 'show'], 'baton handoffs show <brief>'],
    [['handoffs', 'list', '--bar', '1'], 'baton handoffs list has no option --bar'],
    [['handoffs', 'list', 'x'], 'does not know what to do with "x"'],
  ]
  for (const [args, words] of cases)
    expect(await trial.run(args), args.join(' ')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(words),
    })
})

test('handoffs request says that a just woken idle session is asked now', async () => {
  const trial = newTrial()
  const env = { BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
  working(trial, A, env)
  trial.fill((app) => {
    tellEvent(app, 'Stop', A, trial.project, { stop_hook_active: false }, { CLAUDE_CODE_SESSION_ATTENDED: '1', ...env })
  })
  const folder = waitersFolder(batonHome(trial.env).live)
  mkdirSync(folder, { recursive: true })
  const pipe = join(folder, `${process.pid}.1`)
  spawnSync('mkfifo', [pipe])
  const asleep = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(asleep))
  const { next } = (await trial.run(['handoffs', 'request', 'api', '--json'])).json
  expect((await trial.run(['messages', '--json'])).json.messages).toMatchObject([
    { category: 'handoff', status: 'sent', via: 'waiter' },
  ])
  expect(next).toMatch(/^It is idle: its agent is asked now/)
})

test('a mistyped seat name is reported with the nearest name', async () => {
  const trial = atWork()
  expect((await trial.run(['handoffs', 'list', '--seat', 'apj'])).stderr).toContain('Did you mean api?')
})
