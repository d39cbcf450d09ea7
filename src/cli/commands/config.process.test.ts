import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial, type Trial, tell, tellEvent } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'

test('without files config check shows the defaults and where a file would be', async () => {
  const trial = newTrial()
  const file = join(trial.env.BATON_HOME!, 'config.yaml')
  expect(await trial.run(['config', 'check'])).toMatchObject({
    code: 0,
    stdout: `There is no configuration file: the defaults apply. Yours would be ${file}.\n`,
  })
  expect((await trial.run(['config', 'check', '--json'])).json).toMatchObject({ ok: true, errors: [] })
})

test('config check names key, file, reason and remedy of every mistake and exits with 2', async () => {
  const trial = newTrial()
  const user = trial.put(
    join(trial.env.BATON_HOME!, 'config.yaml'),
    'levles: []\nlevels:\n  - {name: warning, at: 101%}\n',
  )
  const project = trial.put(join(trial.project, 'baton.yaml'), 'enabled: "yes"\n')
  const ran = await trial.run(['config', 'check', '--json'])
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
  const text = await trial.run(['config', 'check'])
  expect(text).toMatchObject({ code: 2, stderr: '' })
  expect(text.stdout).toContain('3 things are wrong')
  expect(text.stdout).toContain(`levles  ${user}:1\n  unknown key \`levles\`\n  did you mean \`levels\`?`)
  expect(text.stdout).toContain('enabled  ~/shop/baton.yaml:1')
})

test('config check accepts a valid file and names the keys that have no effect yet', async () => {
  const trial = newTrial()
  trial.put(join(trial.env.BATON_HOME!, 'config.yaml'), 'compaction: allow\nmust_survive: [x]\n')
  const { code, stdout } = await trial.run(['config', 'check'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^The configuration is right \(/)
  expect(stdout).toMatch(/Notes\n {2}must_survive \(.*\): is told to nobody/)
  expect((await trial.run(['config', 'check', '--json'])).json.notes).toHaveLength(1)
  expect(await trial.run(['config', 'check', 'aaaa'])).toMatchObject({ code: 2, stdout: '' })
})

test('config explain shows the levels of a session and the line that set each of them', async () => {
  const trial = newTrial()
  const file = trial.put(
    join(trial.env.BATON_HOME!, 'config.yaml'),
    'levels:\n  - {name: warning, at: 60%}\n  - {name: far, at: 190k, actions: [user]}\noverrides:\n  - when: {model: "*sonnet*"}\n    levels: [{name: notice, at: 30k}]\n',
  )
  trial.fill((app) => tell(app, { session: A, project: trial.project, used: 10_000, model: 'claude-sonnet-4-6' }))
  const { json } = await trial.run(['config', 'explain', 'aaaa', '--json'])
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
  const { stdout } = await trial.run(['config', 'explain', 'aaaa'])
  expect(stdout).toContain('Compaction point about 167,000, window 200,000 (derived:')
  expect(stdout).toMatch(/^notice +30,000 {2}30k .*overrides\[0\]\.levels\[0\]/m)
  expect(stdout).toContain('Unreachable, because the agent compacts first (at 167,000): far.')
})

test('with an unknown window config explain places no percentages, and says why', async () => {
  const trial = newTrial()
  trial.fill((app) => tellEvent(app, 'SessionStart', A, trial.project, { source: 'startup' }))
  const { json } = await trial.run(['config', 'explain', A, '--json'])
  expect(json.levels[0]).toMatchObject({ name: 'notice', at_tokens: null, rule: '50% or 150k' })
  expect((await trial.run(['config', 'explain', A])).stdout).toContain(
    'Its window is not known yet: levels in percent cannot be placed.',
  )
})

test('without a name config explain uses the own session, or the newest open one here, or only the rules', async () => {
  const trial = newTrial()
  const rules = await trial.run(['config', 'explain', '--json'])
  expect(rules.json).toMatchObject({ session_id: null, window_tokens: null })
  expect((await trial.run(['config', 'explain'])).stdout).toMatch(
    /goes on from it \(handoff\.mode: auto\); a brief is used without a review/,
  )
  expect((await trial.run(['config', 'explain'])).stdout).toMatch(/^A new session in ~\/shop\nNo session was seen here/)
  const C = 'cccccccc-ef1f-4334-9716-3be98836406b'
  trial.fill((app) => {
    tell(app, { session: A, project: trial.project, used: 10_000 })
    tell(app, { session: C, project: trial.project, used: 10_000 })
    tellEvent(app, 'SessionEnd', C, trial.project, { reason: 'other' })
  })
  expect((await trial.run(['config', 'explain', '--json'])).json.session_id).toBe(A)
  expect(
    (await trial.run(['config', 'explain', '--json'], { env: { CLAUDE_CODE_SESSION_ID: C } })).json.session_id,
  ).toBe(C)
  expect(await trial.run(['config', 'explain', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
})

test('config explain names the switch that turned Baton off', async () => {
  const trial = newTrial()
  trial.fill((app) => tell(app, { session: A, project: trial.project, used: 10_000 }))
  const by = async () => (await trial.run(['config', 'explain', A, '--json'])).json
  await trial.run(['off', '--all'])
  expect(await by()).toMatchObject({ enabled: false, enabled_by: 'baton off --all' })
  await trial.run(['off', '--project'])
  expect(await by()).toMatchObject({ enabled: false, enabled_by: 'baton off --project' })
  await trial.run(['on', A])
  expect(await by()).toMatchObject({ enabled: true, enabled_by: 'baton on for this session' })
})

const fileOf = (trial: Trial): string => join(trial.env.BATON_HOME!, 'config.yaml')

test('config init writes a commented file that only its owner can read, and overwrites none', async () => {
  const trial = newTrial()
  const { json } = await trial.run(['config', 'init', '--json'])
  expect(json).toEqual({ file: fileOf(trial), created: true })
  expect(statSync(fileOf(trial)).mode & 0o777).toBe(0o600)
  expect((await trial.run(['config', 'check'])).code).toBe(0)
  writeFileSync(fileOf(trial), 'enabled: false\n')
  expect(await trial.run(['config', 'init'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('left as it is'),
  })
  expect(readFileSync(fileOf(trial), 'utf8')).toBe('enabled: false\n')
})

test('config set changes one key and keeps comments, and refuses a wrong value without any change', async () => {
  const trial = newTrial()
  trial.put(fileOf(trial), '# mine\nhandoff:\n  mode: auto # how\n')
  expect((await trial.run(['config', 'set', 'handoff.mode', 'ask', '--json'])).json).toEqual({
    file: fileOf(trial),
    key: 'handoff.mode',
    value: 'ask',
    changed: true,
  })
  const text = '# mine\nhandoff:\n  mode: ask # how\n'
  expect(readFileSync(fileOf(trial), 'utf8')).toBe(text)
  const refusals: [key: string, value: string, reason: string][] = [
    ['handoff.mode', 'maybe', 'handoff.mode (line 3)'],
    ['handof.mode', 'ask', 'handoff'],
    ['levels', '[{name: early}]', 'levels[0]'],
    ['handoff.mode.x', '1', 'mode is not a map'],
    ['handoff..mode', 'ask', 'is no key'],
    ['presets', '[default', 'cannot be read'],
  ]
  for (const [key, value, reason] of refusals) {
    const refused = await trial.run(['config', 'set', key, value])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(reason)
    expect(readFileSync(fileOf(trial), 'utf8')).toBe(text)
  }
  expect((await trial.run(['config', 'set', 'handoff.mode', 'ask', '--json'])).json.changed).toBe(false)
})

test('config set can fix an invalid file, and creates a missing one', async () => {
  const trial = newTrial()
  expect((await trial.run(['config', 'set', 'presets', '[default, tens]'])).code).toBe(0)
  expect(readFileSync(fileOf(trial), 'utf8')).toBe('presets: [default, tens]\n')
  writeFileSync(fileOf(trial), 'enabled: maybe\n')
  expect((await trial.run(['config', 'set', 'enabled', 'true'])).code).toBe(0)
  writeFileSync(fileOf(trial), 'enabled: [\n')
  expect(await trial.run(['config', 'set', 'enabled', 'true'])).toMatchObject({ code: 2 })
  expect(readFileSync(fileOf(trial), 'utf8')).toBe('enabled: [\n')
})

test('config edit saves a valid file, and otherwise keeps the old file and the rejected text', async () => {
  const trial = newTrial()
  const editor = (text: string): Record<string, string> => ({ EDITOR: `printf '${text}' >` })
  expect((await trial.run(['config', 'edit'], { env: editor('enabled: false\\n') })).code).toBe(0)
  expect(readFileSync(fileOf(trial), 'utf8')).toBe('enabled: false\n')
  const refused = await trial.run(['config', 'edit'], { env: editor('enabled: maybe\\n') })
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(readFileSync(fileOf(trial), 'utf8')).toBe('enabled: false\n')
  const kept = /Your text is in (\S+)\./.exec(refused.stderr)![1]!
  expect(readFileSync(kept, 'utf8')).toBe('enabled: maybe\n')
  const untouched = await trial.run(['config', 'edit', '--json'], { env: { EDITOR: 'true' } })
  expect(untouched.json).toMatchObject({ changed: false })
  expect((await trial.run(['config', 'edit'], { env: { EDITOR: 'false' } })).code).toBe(1)
  expect((await trial.run(['config', 'edit'])).stderr).toContain('There is no editor to open here.')
  expect(existsSync(fileOf(trial))).toBe(true)
})

test('config explain marks handoff actions as not in force where handoff.mode is off', async () => {
  const trial = newTrial()
  const path = join(trial.env.BATON_HOME!, 'config.yaml')
  expect((await trial.run(['config', 'explain'])).stdout).not.toContain('In brackets')
  trial.put(path, 'handoff: {mode: off}\n')
  const { stdout } = await trial.run(['config', 'explain'])
  expect(stdout).toMatch(/\[(?:hand-off|request-handoff)\]/)
  expect(stdout).toContain('In brackets: not in force, because handoff.mode is off.')
})
