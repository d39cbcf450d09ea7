import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome, sendClientEvent, sendReading, type TestHome } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'

test('without files config check shows the defaults and where a file would be', async () => {
  const fixture = createTestHome()
  const file = join(fixture.env.BATON_HOME!, 'config.yaml')
  expect(await fixture.run(['config', 'check'])).toMatchObject({
    code: 0,
    stdout: `There is no configuration file, so the defaults apply. baton config init creates ${file}.\n`,
  })
  expect((await fixture.run(['config', 'check', '--json'])).json).toMatchObject({ ok: true, errors: [] })
})

test('config check names key, file, reason and remedy of every mistake and exits with 2', async () => {
  const fixture = createTestHome()
  const user = fixture.put(
    join(fixture.env.BATON_HOME!, 'config.yaml'),
    'levles: []\nlevels:\n  - {name: warning, at: 101%}\n',
  )
  const project = fixture.put(join(fixture.project, 'baton.yaml'), 'enabled: "yes"\n')
  const ran = await fixture.run(['config', 'check', '--json'])
  expect(ran).toMatchObject({ code: 2, stderr: '' })
  expect(ran.json.ok).toBe(false)
  expect(ran.json.errors.map((e: { key: string; file: string }) => [e.key, e.file])).toEqual([
    ['levles', user],
    ['levels[0].at', user],
    ['enabled', project],
  ])
  expect(ran.json.errors[0]).toMatchObject({
    reason: expect.stringContaining('unknown key'),
    hint: 'did you mean `levels`?',
  })
  const text = await fixture.run(['config', 'check'])
  expect(text).toMatchObject({ code: 2, stderr: '' })
  expect(text.stdout).toContain('3 errors')
  expect(text.stdout).toContain(`levles  ${user}:1\n  unknown key \`levles\`\n  did you mean \`levels\`?`)
  expect(text.stdout).toContain('enabled  ~/shop/baton.yaml:1')
})

test('config check accepts a valid file and names the keys that have no effect yet', async () => {
  const fixture = createTestHome()
  fixture.put(join(fixture.env.BATON_HOME!, 'config.yaml'), 'compaction: allow\nmust_survive: [x]\n')
  const { code, stdout } = await fixture.run(['config', 'check'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^The configuration is valid \(/)
  expect(stdout).toMatch(/Notes\n {2}must_survive \(.*\): has no effect/)
  expect((await fixture.run(['config', 'check', '--json'])).json.notes).toHaveLength(1)
  expect(await fixture.run(['config', 'check', 'aaaa'])).toMatchObject({ code: 2, stdout: '' })
})

test('config explain shows the levels of a session and the line that set each of them', async () => {
  const fixture = createTestHome()
  const file = fixture.put(
    join(fixture.env.BATON_HOME!, 'config.yaml'),
    'levels:\n  - {name: warning, at: 60%}\n  - {name: far, at: 190k, actions: [user]}\noverrides:\n' +
      '  - when: {model: "*sonnet*"}\n    levels: [{name: notice, at: 30k}]\n',
  )
  fixture.fill((app) =>
    sendReading(app, { session: A, project: fixture.project, used: 10_000, model: 'claude-sonnet-4-6' }),
  )
  const { json } = await fixture.run(['config', 'explain', 'aaaa', '--json'])
  expect(json).toMatchObject({
    session_id: A,
    window_tokens: 200_000,
    compaction_tokens: 167_000,
    exact: false,
    enabled: true,
    enabled_by: 'configuration',
    errors: [],
  })
  expect(json.levels.map((l: Record<string, unknown>) => [l.name, l.at_tokens, l.rule, l.reachable])).toEqual([
    ['notice', 30_000, '30k', true],
    ['warning', 100_200, '60%', true],
    ['handoff', 141_950, '85% or 300k', true],
    ['critical', 158_650, '95%', true],
    ['far', 190_000, '190k', false],
  ])
  expect(json.levels[0].from).toBe(`user file ${file}, overrides[0].levels[0]`)
  expect(json.levels[2].from).toBe('preset default')
  const { stdout } = await fixture.run(['config', 'explain', 'aaaa'])
  expect(stdout).toContain('Compaction point: about 167,000 tokens, window 200,000; derived:')
  expect(stdout).toMatch(/^notice +30,000 {2}30k .*overrides\[0\]\.levels\[0\]/m)
  expect(stdout).toContain('Unreachable, because the agent compacts at 167,000 tokens: far.')
})

test('with an unknown window config explain places no percentages, and says why', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendClientEvent(app, 'SessionStart', A, fixture.project, { source: 'startup' }))
  const { json } = await fixture.run(['config', 'explain', A, '--json'])
  expect(json.levels[0]).toMatchObject({ name: 'notice', at_tokens: null, rule: '50% or 150k' })
  expect((await fixture.run(['config', 'explain', A])).stdout).toContain('not known yet')
})

test('without a name config explain uses the own session, or the newest open one here, or only the rules', async () => {
  const fixture = createTestHome()
  const rules = await fixture.run(['config', 'explain', '--json'])
  expect(rules.json).toMatchObject({ session_id: null, window_tokens: null })
  expect((await fixture.run(['config', 'explain'])).stdout).toMatch(
    /continues from it \(handoff\.mode: auto\)\. A brief is used without a review/,
  )
  expect((await fixture.run(['config', 'explain'])).stdout).toMatch(
    /^A new session in ~\/shop\nNo session was seen here/,
  )
  const C = 'cccccccc-ef1f-4334-9716-3be98836406b'
  fixture.fill((app) => {
    sendReading(app, { session: A, project: fixture.project, used: 10_000 })
    sendReading(app, { session: C, project: fixture.project, used: 10_000 })
    sendClientEvent(app, 'SessionEnd', C, fixture.project, { reason: 'other' })
  })
  expect((await fixture.run(['config', 'explain', '--json'])).json.session_id).toBe(A)
  expect(
    (await fixture.run(['config', 'explain', '--json'], { env: { CLAUDE_CODE_SESSION_ID: C } })).json.session_id,
  ).toBe(C)
  expect(await fixture.run(['config', 'explain', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})

test('config explain names the switch that turned Baton off', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project, used: 10_000 }))
  const by = async () => (await fixture.run(['config', 'explain', A, '--json'])).json
  await fixture.run(['off', '--all'])
  expect(await by()).toMatchObject({ enabled: false, enabled_by: 'baton off --all' })
  await fixture.run(['off', '--project'])
  expect(await by()).toMatchObject({ enabled: false, enabled_by: 'baton off --project' })
  await fixture.run(['on', A])
  expect(await by()).toMatchObject({ enabled: true, enabled_by: 'baton on for this session' })
})

const fileOf = (fixture: TestHome): string => join(fixture.env.BATON_HOME!, 'config.yaml')

test('config init writes a commented file that only its owner can read, and overwrites none', async () => {
  const fixture = createTestHome()
  const { json } = await fixture.run(['config', 'init', '--json'])
  expect(json).toEqual({ file: fileOf(fixture), created: true })
  expect(statSync(fileOf(fixture)).mode & 0o777).toBe(0o600)
  expect((await fixture.run(['config', 'check'])).code).toBe(0)
  writeFileSync(fileOf(fixture), 'enabled: false\n')
  expect(await fixture.run(['config', 'init'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('was not changed'),
  })
  expect(readFileSync(fileOf(fixture), 'utf8')).toBe('enabled: false\n')
})

test('config set changes one key and keeps comments, and refuses a wrong value without any change', async () => {
  const fixture = createTestHome()
  fixture.put(fileOf(fixture), '# mine\nhandoff:\n  mode: auto # how\n')
  expect((await fixture.run(['config', 'set', 'handoff.mode', 'ask', '--json'])).json).toEqual({
    file: fileOf(fixture),
    key: 'handoff.mode',
    value: 'ask',
    changed: true,
  })
  const text = '# mine\nhandoff:\n  mode: ask # how\n'
  expect(readFileSync(fileOf(fixture), 'utf8')).toBe(text)
  const refusals: [key: string, value: string, reason: string][] = [
    ['handoff.mode', 'maybe', 'handoff.mode (line 3)'],
    ['handof.mode', 'ask', 'handoff'],
    ['levels', '[{name: early}]', 'levels[0]'],
    ['handoff.mode.x', '1', 'mode is not a map'],
    ['handoff..mode', 'ask', 'is not a key'],
    ['presets', '[default', 'cannot be read'],
  ]
  for (const [key, value, reason] of refusals) {
    const refused = await fixture.run(['config', 'set', key, value])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(reason)
    expect(readFileSync(fileOf(fixture), 'utf8')).toBe(text)
  }
  expect((await fixture.run(['config', 'set', 'handoff.mode', 'ask', '--json'])).json.changed).toBe(false)
})

test('config set can fix an invalid file, and creates a missing one', async () => {
  const fixture = createTestHome()
  expect((await fixture.run(['config', 'set', 'presets', '[default, tens]'])).code).toBe(0)
  expect(readFileSync(fileOf(fixture), 'utf8')).toBe('presets: [default, tens]\n')
  writeFileSync(fileOf(fixture), 'enabled: maybe\n')
  expect((await fixture.run(['config', 'set', 'enabled', 'true'])).code).toBe(0)
  writeFileSync(fileOf(fixture), 'enabled: [\n')
  expect(await fixture.run(['config', 'set', 'enabled', 'true'])).toMatchObject({ code: 2 })
  expect(readFileSync(fileOf(fixture), 'utf8')).toBe('enabled: [\n')
})

test('config edit saves a valid file, and otherwise keeps the old file and the rejected text', async () => {
  const fixture = createTestHome()
  const editor = (text: string): Record<string, string> => ({ EDITOR: `printf '${text}' >` })
  expect((await fixture.run(['config', 'edit'], { env: editor('enabled: false\\n') })).code).toBe(0)
  expect(readFileSync(fileOf(fixture), 'utf8')).toBe('enabled: false\n')
  const refused = await fixture.run(['config', 'edit'], { env: editor('enabled: maybe\\n') })
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(readFileSync(fileOf(fixture), 'utf8')).toBe('enabled: false\n')
  const kept = /Your text is kept in (\S+)\./.exec(refused.stderr)![1]!
  expect(readFileSync(kept, 'utf8')).toBe('enabled: maybe\n')
  const untouched = await fixture.run(['config', 'edit', '--json'], { env: { EDITOR: 'true' } })
  expect(untouched.json).toMatchObject({ changed: false })
  expect((await fixture.run(['config', 'edit'], { env: { EDITOR: 'false' } })).code).toBe(1)
  expect((await fixture.run(['config', 'edit'])).stderr).toContain('Set EDITOR')
  expect(existsSync(fileOf(fixture))).toBe(true)
})

test('config explain marks handoff actions as not in force where handoff.mode is off', async () => {
  const fixture = createTestHome()
  const path = join(fixture.env.BATON_HOME!, 'config.yaml')
  expect((await fixture.run(['config', 'explain'])).stdout).not.toContain('brackets')
  fixture.put(path, 'handoff: {mode: off}\n')
  const { stdout } = await fixture.run(['config', 'explain'])
  expect(stdout).toMatch(/\[(?:hand-off|request-handoff)\]/)
  expect(stdout).toContain('Actions in brackets have no effect, because handoff.mode is off.')
})
