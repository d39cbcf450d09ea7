import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sampleOrigin } from '../../briefs/fixtures/samples.js'
import { withFrontMatter } from '../../briefs/front-matter.js'
import { signBrief } from '../../briefs/sign.js'
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
  USER_REQUEST,
} from '../../testing/cli-handoffs.js'
import { createTestHome } from '../../testing/cli-home.js'

test('handoff --json reports the brief’s path, its missing facts and the next step', async () => {
  const fixture = homeWithWorkingSession()
  const file = fixture.put(join(fixture.dir, 'elsewhere', 'brief.md'), INCOMPLETE_BRIEF)
  const ran = await fixture.run(['handoff', file, '--reason', 'half way', '--json'], {
    env: sessionEnvironment(SESSION_A),
  })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.json).toMatchObject({
    brief_id: expect.stringMatching(/^brief_/),
    session_id: SESSION_A,
    seat_id: expect.stringMatching(/^seat_/),
    sequence: 1,
    status: 'checked',
    handoff_state: 'checked',
    next: expect.stringMatching(/^End your turn now/),
  })
  const { score, missing } = ran.json.coverage
  expect(score).toBeLessThan(1)
  expect(missing).toContainEqual({ kind: 'constraint', text: 'Never touch legacy/a.ts.' })
  rmSync(file)
  const kept = readFileSync(ran.json.path, 'utf8')
  expect(kept).toContain('Run the tests of src/login.ts.')
  expect(kept).toContain('## Added by Baton')
  expect(kept).toContain(USER_REQUEST)
  const shown = (await fixture.run(['show', 'api', '--json'])).json
  expect(shown.handoff).toMatchObject({
    state: 'checked',
    brief_id: ran.json.brief_id,
    cause: 'agent',
    reason: 'half way',
  })
  expect(shown.briefs).toMatchObject([
    {
      sequence: 1,
      author: 'agent',
      status: 'checked',
      path: ran.json.path,
      coverage: { score },
      taken_at: expect.any(String),
    },
  ])
})

test('handoff tells users the same in sentences, and the handoff happens at the end of the turn', async () => {
  const fixture = homeWithWorkingSession()
  fixture.put(join(fixture.project, 'brief.md'), INCOMPLETE_BRIEF)
  const { code, stdout } = await fixture.run(['handoff', 'brief.md', '--session', 'api'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Brief 1 of seat api is stored as brief_\w+\. It covers \d+% of what happened\.\n {2}/)
  expect(stdout).toContain('Facts that Baton added')
  expect(stdout).toContain('constraint  Never touch legacy/a.ts.')
  expect(stdout).toMatch(/When its turn ends, the session is cleared and a fresh one continues from the brief/)
  const status = (await fixture.run(['status'])).stdout
  expect(status).toMatch(/Handoff of api: checked for \d+s \(by user\): the brief is ready\b.*after this turn\./)
  expect((await fixture.run(['status', '--json'])).json.sessions[0].handoff).toMatchObject({
    state: 'checked',
    session_id: SESSION_A,
  })
  const page = (await fixture.run(['show', 'api'])).stdout
  expect(page).toMatch(
    /Handoffs\n {2}open handoff {2}checked for .*\n {2}1 {2}ready {2}by user, \d+s ago, covers \d+% {2}brief_/,
  )
  endTurn(fixture)
  expect((await fixture.run(['show', 'api', '--json'])).json.handoff).toMatchObject({ state: 'waiting', way: 'start' })
})

test('handoff for an idle session says that it is idle', async () => {
  const fixture = homeWithWorkingSession()
  endTurn(fixture)
  fixture.put(join(fixture.project, 'brief.md'), COMPLETE_BRIEF)
  const { stdout } = await fixture.run(['handoff', 'brief.md', '--session', SESSION_A])
  expect(stdout).toContain('It covers 100% of what happened.')
  expect(stdout).toMatch(/session is idle.*Type \/clear there/)
  expect(stdout).not.toContain('lacks')
})

test('of two briefs for a session the last one counts, and its front matter is dropped', async () => {
  const fixture = homeWithWorkingSession()
  const give = (text: string) => {
    fixture.put(join(fixture.project, 'brief.md'), text)
    return fixture.run(['handoff', 'brief.md', '--json'], { env: sessionEnvironment(SESSION_A) })
  }
  const first = (await give(INCOMPLETE_BRIEF)).json
  const second = (await give(`---\nbrief_id: brief_of_mine\nsequence: 77\n---\n\n${COMPLETE_BRIEF}`)).json
  expect(second.sequence).toBe(2)
  expect(second.coverage).toMatchObject({ score: 1, missing: [] })
  expect(readFileSync(second.path, 'utf8')).not.toContain('brief_of_mine')
  const { briefs, handoffs } = (await fixture.run(['handoffs', 'list', '--all', '--json'])).json
  expect(briefs.map((one: { brief_id: string; status: string }) => [one.brief_id, one.status])).toEqual([
    [second.brief_id, 'checked'],
    [first.brief_id, 'superseded'],
  ])
  expect(handoffs).toMatchObject([{ brief_id: second.brief_id, state: 'checked' }])
})

test('a file that cannot be a brief is refused with its own exit code and changes nothing', async () => {
  const fixture = homeWithWorkingSession()
  const put = (name: string, bytes: string | Buffer) => writeFileSync(join(fixture.project, name), bytes)
  put('empty.md', '')
  put('blank.md', ' \n\t\n')
  put('front.md', '---\nformat: 1\n---\n\n')
  put(
    'foreign.md',
    signBrief(withFrontMatter(sampleOrigin(1), COMPLETE_BRIEF), Buffer.from('the key of another machine')),
  )
  put('binary.md', Buffer.from([0x23, 0x20, 0x00, 0xff]))
  put('large.md', 'x'.repeat(1024 * 1024 + 1))
  mkdirSync(join(fixture.project, 'folder.md'))
  const before = storedState(fixture)
  const cases: [string, number, string][] = [
    ['missing.md', 3, 'There is no file'],
    ['empty.md', 2, 'is empty'],
    ['blank.md', 2, 'is empty'],
    ['front.md', 2, 'only front matter'],
    ['foreign.md', 4, 'invalid signature'],
    ['binary.md', 2, 'not a text in UTF-8'],
    ['large.md', 2, 'larger than 1 MB'],
    ['folder.md', 2, 'is a folder'],
  ]
  for (const [file, code, words] of cases) {
    const ran = await fixture.run(['handoff', file, '--json'], { env: sessionEnvironment(SESSION_A) })
    expect(ran, file).toMatchObject({ code, stdout: '' })
    expect(JSON.parse(ran.stderr), file).toMatchObject({ error: expect.stringContaining(words), code })
  }
  expect(storedState(fixture)).toEqual(before)
})

test('a session may hand off only for its own seat and its children', async () => {
  const fixture = homeWithWorkingSession()
  startTurn(fixture, SESSION_B, { BATON_SEAT: 'worker', BATON_PARENT_SEAT: 'api' })
  fixture.put(join(fixture.project, 'brief.md'), COMPLETE_BRIEF)
  const give = (caller: string, target: string) =>
    fixture.run(['handoff', 'brief.md', '--session', target, '--json'], { env: sessionEnvironment(caller) })
  const before = storedState(fixture)
  const up = await give(SESSION_B, 'api')
  expect(up).toMatchObject({ code: 4, stdout: '' })
  expect(JSON.parse(up.stderr)).toMatchObject({
    error: expect.stringContaining('may not decide about the handoff'),
    code: 4,
  })
  expect((await give('ffffffff-0000-4000-8000-000000000000', SESSION_A)).code).toBe(4)
  expect(storedState(fixture)).toEqual(before)
  expect((await give(SESSION_A, 'api')).json.session_id).toBe(SESSION_A)
  expect((await give(SESSION_A, 'worker')).json.session_id).toBe(SESSION_B)
})

test('handoff gives each reason for which it finds no usable session its own error message', async () => {
  const fixture = createTestHome()
  fixture.put(join(fixture.project, 'brief.md'), COMPLETE_BRIEF)
  expect(await fixture.run(['handoff'])).toMatchObject({ code: 2, stdout: '' })
  expect(await fixture.run(['handoff', 'brief.md'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--session ID'),
  })
  expect(await fixture.run(['handoff', 'brief.md', '--session', 'nobody'])).toMatchObject({ code: 3 })
  const unseen = await fixture.run(['handoff', 'brief.md'], { env: sessionEnvironment(SESSION_A) })
  expect(unseen).toMatchObject({ code: 3, stderr: expect.stringContaining('baton doctor') })
  startTurn(fixture)
  await fixture.run(['off', SESSION_A])
  expect(await fixture.run(['handoff', 'brief.md'], { env: sessionEnvironment(SESSION_A) })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('baton on aaaaaaaa'),
  })
})
