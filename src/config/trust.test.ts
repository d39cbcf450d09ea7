import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { trialHome, trustFile } from '../testing/config-home.js'
import type { CompiledCopy } from './compiled-copy.js'
import { policyFor } from './policy-for.js'
import { acceptedHash, removeTrust, storeTrust } from './trust.js'
import { demandsOf } from './untrusted.js'

let trial: ReturnType<typeof trialHome>
beforeEach(() => {
  trial = trialHome()
})
afterEach(() => trial.remove())

const subject = { agent: 'claude-code', project: null, model: null, seat: null }
const policyNow = () => policyFor(trial.current().config, subject)
const defaults = () => policyFor({ ...trial.load().config, layers: [] }, subject)

const EVERY_KEY = {
  enabled: false,
  presets: [],
  compaction: 'allow',
  must_survive: ['obey me'],
  handoff: { mode: 'off', fork: true, bar: 0 },
  guards: { min_new_tokens: 0, max_unattended_per_hour: 1000 },
  archive: { enabled: false, redact: ['x'], keep_days: 1 },
  context_monitor: { enabled: false, warning_percentage: 98, critical_percentage: 99 },
  notify: [{ command: 'touch /tmp/pwned' }],
  budgets: { usd: 1000 },
  limits: { jobs: 1000 },
  prices: { '*': { input: 0 } },
  hooks: { run: { type: 'shell', command: 'touch /tmp/pwned' } },
  agents: { coder: { prompt: 'x', checks: ['touch /tmp/pwned'] } },
}

test('an untrusted file that sets every key changes nothing, and each key is listed as ignored', () => {
  trial.putUntrusted(EVERY_KEY)
  const { config, project, problems, notes } = trial.load()
  expect(problems).toEqual([])
  expect(policyFor(config, subject)).toEqual(defaults())
  expect({ ...config, layers: [] }).toEqual({ ...trial.load({ project: trial.user }).config, layers: [] })
  expect(project).toMatchObject({ trusted: false, reason: 'not accepted yet', path: trial.projectFile })
  expect(project!.ignored.map(({ key }) => key).sort()).toEqual(Object.keys(EVERY_KEY).sort())
  expect(notes.map(({ key }) => key).sort()).toEqual(Object.keys(EVERY_KEY).sort())
})

test('an untrusted file may set the status line, also in an override', () => {
  trial.putUntrusted({
    status_line: { segments: ['model', 'gauge'], width: 60 },
    overrides: [{ when: { agent: '*' }, status_line: { style: 'ascii' }, enabled: false }],
  })
  const { config, project } = trial.load()
  expect(policyFor(config, subject)).toEqual({
    ...defaults(),
    statusLine: { segments: ['model', 'gauge'], width: 60, style: 'ascii' },
  })
  expect(project!.ignored.map(({ key }) => key)).toEqual(['overrides[0].enabled'])
})

test('an override in an untrusted file changes nothing either', () => {
  const { context_monitor, budgets, limits, prices, hooks, agents, ...policy } = EVERY_KEY
  trial.putUntrusted({ overrides: [{ when: { agent: '*' }, ...policy }] })
  const { config, project, problems } = trial.load()
  expect(problems).toEqual([])
  expect(policyFor(config, subject)).toEqual(defaults())
  expect(project!.ignored.map(({ key }) => key).sort()).toEqual(
    Object.keys(policy)
      .map((key) => `overrides[0].${key}`)
      .sort(),
  )
})

test('an untrusted file may add levels for user and agent, and other actions are ignored and listed', () => {
  const hooks = { run: { type: 'shell', command: 'true' } }
  const actions = ['user', 'agent', 'parent', 'request-handoff', 'hand-off', 'pause', 'hook:run']
  trial.putUntrusted({ hooks, levels: [{ name: 'early', at: '20%', actions, mode: 'important' }] })
  const early = policyNow().levels.find(({ name }) => name === 'early')
  expect(early).toMatchObject({ actions: ['user', 'agent'], mode: 'important', at: { of: 'compaction', percent: 20 } })
  const dropped = trial.current().project!.ignored.filter(({ key }) => key === 'levels[0].actions')
  expect(dropped.map(({ reason }) => reason.split('`')[1])).toEqual(actions.slice(2))
})

test('an untrusted file cannot move, silence or replace a level of the user or of a preset', () => {
  trial.putUser({ levels: [{ name: 'mine', at: '60%', actions: ['user', 'request-handoff'] }] })
  const before = policyFor(trial.load({ project: trial.user }).config, subject).levels
  const names = ['notice', 'warning', 'handoff', 'critical', 'auto_pause', 'remaining-10', 'mine']
  trial.putUntrusted({
    levels: names.map((name, index) => ({ name, at: `${90 + index}%`, actions: [] })),
    overrides: [{ when: { agent: '*' }, levels: [{ name: 'critical', actions: [] }] }],
  })
  const { config, project, problems } = trial.load()
  expect(problems).toEqual([])
  expect(policyFor(config, subject).levels).toEqual(before)
  expect(project!.ignored).toHaveLength(names.length + 1)
})

test('an untrusted file cannot change a level that only an override of the user has', () => {
  const override = { when: { agent: 'claude-code' }, levels: [{ name: 'only-here', at: '40%', actions: ['user'] }] }
  trial.putUser({ overrides: [override] })
  trial.putUntrusted({ levels: [{ name: 'only-here', at: '99%', actions: [] }] })
  expect(policyNow().levels.find(({ name }) => name === 'only-here')).toMatchObject({ rule: '40%', actions: ['user'] })
})

test('levels of an untrusted file with invalid names, or beyond the 16th, are ignored and listed', () => {
  const bad = ['Early', 'early.x', 'e'.repeat(33)].map((name, i) => ({ name, at: `${i + 1}%`, actions: ['agent'] }))
  const many = Array.from({ length: 20 }, (_, i) => ({ name: `l${i}`, at: `${10 + i}%`, actions: ['agent'] }))
  trial.putUntrusted({ levels: [...bad, ...many] })
  const { project } = trial.load()
  expect(project!.ignored.map(({ key }) => key)).toEqual([0, 1, 2, 19, 20, 21, 22].map((n) => `levels[${n}]`))
  expect(policyNow().levels).toHaveLength(4 + 16)
})

test('an accepted file applies completely, and one changed byte makes it untrusted again', () => {
  trial.putProject('must_survive: [keep the port]\n')
  expect(policyNow().mustSurvive).toEqual(['keep the port'])
  trial.putUntrusted('must_survive: [keep the porT]\n')
  expect(policyNow().mustSurvive).toEqual([])
  expect(trial.current().project).toMatchObject({ trusted: false, reason: 'changed since it was accepted' })
  trial.putUntrusted('must_survive: [keep the port]\n')
  expect(policyNow().mustSurvive).toEqual(['keep the port'])
})

test('trust given or withdrawn takes effect at the next read, also in a process with a memory', () => {
  const memory = new Map<string, CompiledCopy>()
  const survives = () => policyFor(trial.currentIn(trial.project, {}, memory).config, subject).mustSurvive
  trial.putUntrusted({ must_survive: ['x'] })
  expect(survives()).toEqual([])
  trustFile(trial.home.trust, trial.projectFile)
  expect(survives()).toEqual(['x'])
  expect(policyNow().mustSurvive).toEqual(['x'])
  expect(removeTrust(trial.home.trust, trial.current().project!.folder!)).toBe(true)
  expect(survives()).toEqual([])
  expect(policyNow().mustSurvive).toEqual([])
  expect(removeTrust(trial.home.trust, trial.current().project!.folder!)).toBe(false)
})

test('the last good configuration is dropped together with the trust in it', () => {
  trial.putProject({ must_survive: ['x'] })
  trial.current()
  trial.putUntrusted('must_survive: [')
  expect(trial.current()).toMatchObject({ using: 'valid-files', problems: [{ file: trial.projectFile }] })
  expect(policyNow().mustSurvive).toEqual([])
})

test('an untrusted file with errors does not block a change of the user file', () => {
  trial.putUser({ handoff: { mode: 'auto' } })
  trial.putUntrusted({})
  trial.current()
  trial.putUntrusted('levels: [')
  trial.putUser({ handoff: { mode: 'off' } })
  expect(policyNow().handoff.mode).toBe('off')
  trial.putUser({ handoff: { mode: 'oof' } })
  expect(trial.current().using).toBe('last-good')
  expect(policyNow().handoff.mode).toBe('off')
})

test('a compiled copy from before trust existed is not used, not even as the last good configuration', () => {
  trial.putProject({ must_survive: ['x'] })
  trial.current()
  const [name] = readdirSync(trial.home.compiled)
  const path = join(trial.home.compiled, name!)
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), version: 1 }))
  trial.putUntrusted('must_survive: [')
  expect(policyNow().mustSurvive).toEqual([])
})

test('the same bytes in another folder, a moved folder or behind a link are not trusted', () => {
  trial.putProject({ must_survive: ['x'] })
  const other = join(trial.user, 'other')
  trial.put(join(other, 'baton.yaml'), readFileSync(trial.projectFile, 'utf8'))
  const survives = (folder: string) => policyFor(trial.currentIn(folder).config, subject).mustSurvive
  expect(survives(trial.project)).toEqual(['x'])
  expect(survives(other)).toEqual([])
  const moved = join(trial.user, 'moved')
  renameSync(trial.project, moved)
  expect(survives(moved)).toEqual([])
  symlinkSync(moved, trial.project)
  expect(survives(trial.project), 'the old path leads to the new folder').toEqual([])
})

test('a project reached through a link has the trust of the folder that the link leads to', () => {
  trial.putProject({ must_survive: ['x'] })
  symlinkSync(trial.project, join(trial.user, 'link'))
  expect(policyFor(trial.currentIn(join(trial.user, 'link')).config, subject).mustSurvive).toEqual(['x'])
})

test('a trust record that others may write, or that names another folder, is ignored', () => {
  const sha256 = createHash('sha256').update('x').digest('hex')
  storeTrust(trial.home.trust, { folder: '/srv/a', sha256 }, new Date())
  expect(statSync(trial.home.trust).mode & 0o777).toBe(0o700)
  const path = join(trial.home.trust, readdirSync(trial.home.trust)[0]!)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(acceptedHash(trial.home.trust, '/srv/a')).toBe(sha256)
  writeFileSync(path, readFileSync(path, 'utf8').replace('/srv/a', '/srv/b'))
  expect(acceptedHash(trial.home.trust, '/srv/a')).toBeNull()
  writeFileSync(path, readFileSync(path, 'utf8').replace('/srv/b', '/srv/a'))
  chmodSync(path, 0o620)
  expect(acceptedHash(trial.home.trust, '/srv/a')).toBeNull()
  for (const damage of ['', '{', 'null', '[]']) {
    writeFileSync(path, damage)
    expect(acceptedHash(trial.home.trust, '/srv/a')).toBeNull()
  }
})

test('a folder in place of the project file is a problem and never trusted', () => {
  mkdirSync(trial.projectFile)
  expect(trial.load()).toMatchObject({ ok: false, project: { trusted: false, sha256: null } })
})

test('the demands of a file list every program, address and setting, also empty lists', () => {
  const demands = demandsOf({
    presets: [],
    archive: { keep_days: null },
    hooks: { a: { type: 'shell', command: './a.sh' }, b: { type: 'webhook', url: 'http://x' }, c: { type: 'slack' } },
    notify: [{ command: 'say' }, { webhook: 'http://y' }],
    agents: [{ name: 'coder', checks: ['npm test', { name: 'lint', command: 'npm run lint' }], env: { PATH: '/x' } }],
  })
  expect(demands.programs.map(({ command }) => command)).toEqual(['./a.sh', 'say', 'npm test', 'npm run lint'])
  expect(demands.addresses.map(({ url }) => url)).toEqual(['http://x', 'https://slack.com', 'http://y'])
  expect(demands.settings).toEqual(
    expect.arrayContaining([
      { key: 'presets', value: [] },
      { key: 'archive.keep_days', value: null },
      { key: 'agents[0].env.PATH', value: '/x' },
    ]),
  )
  expect(demandsOf(null)).toEqual({ programs: [], addresses: [], settings: [] })
})
