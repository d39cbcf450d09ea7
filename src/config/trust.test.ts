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
import { createConfigHome, trustFile } from '../testing/config-home.js'
import type { CompiledCopy } from './compiled-copy.js'
import { policyFor } from './policy-for.js'
import { acceptedHash, removeTrust, storeTrust } from './trust.js'
import { demandsOf } from './untrusted.js'

let fixture: ReturnType<typeof createConfigHome>
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

const subject = { agent: 'claude-code', project: null, model: null, seat: null }
const policyNow = () => policyFor(fixture.current().config, subject)
const defaults = () => policyFor({ ...fixture.load().config, layers: [] }, subject)

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
  fixture.putUntrusted(EVERY_KEY)
  const { config, project, problems, notes } = fixture.load()
  expect(problems).toEqual([])
  expect(policyFor(config, subject)).toEqual(defaults())
  expect({ ...config, layers: [] }).toEqual({ ...fixture.load({ project: fixture.user }).config, layers: [] })
  expect(project).toMatchObject({ trusted: false, reason: 'not accepted yet', path: fixture.projectFile })
  expect(project!.ignored.map(({ key }) => key).sort()).toEqual(Object.keys(EVERY_KEY).sort())
  expect(notes.map(({ key }) => key).sort()).toEqual(Object.keys(EVERY_KEY).sort())
})

test('an untrusted file may set the status line, also in an override', () => {
  fixture.putUntrusted({
    status_line: { segments: ['model', 'gauge'], width: 60 },
    overrides: [{ when: { agent: '*' }, status_line: { style: 'ascii' }, enabled: false }],
  })
  const { config, project } = fixture.load()
  expect(policyFor(config, subject)).toEqual({
    ...defaults(),
    statusLine: { segments: ['model', 'gauge'], width: 60, style: 'ascii' },
  })
  expect(project!.ignored.map(({ key }) => key)).toEqual(['overrides[0].enabled'])
})

test('an override in an untrusted file changes nothing either', () => {
  const { context_monitor, budgets, limits, prices, hooks, agents, ...policy } = EVERY_KEY
  fixture.putUntrusted({ overrides: [{ when: { agent: '*' }, ...policy }] })
  const { config, project, problems } = fixture.load()
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
  fixture.putUntrusted({ hooks, levels: [{ name: 'early', at: '20%', actions, mode: 'important' }] })
  const early = policyNow().levels.find(({ name }) => name === 'early')
  expect(early).toMatchObject({ actions: ['user', 'agent'], mode: 'important', at: { of: 'compaction', percent: 20 } })
  const dropped = fixture.current().project!.ignored.filter(({ key }) => key === 'levels[0].actions')
  expect(dropped.map(({ reason }) => reason.split('`')[1])).toEqual(actions.slice(2))
})

test('an untrusted file cannot move, silence or replace a level of the user or of a preset', () => {
  fixture.putUser({ levels: [{ name: 'mine', at: '60%', actions: ['user', 'request-handoff'] }] })
  const before = policyFor(fixture.load({ project: fixture.user }).config, subject).levels
  const names = ['notice', 'warning', 'handoff', 'critical', 'auto_pause', 'remaining-10', 'mine']
  fixture.putUntrusted({
    levels: names.map((name, index) => ({ name, at: `${90 + index}%`, actions: [] })),
    overrides: [{ when: { agent: '*' }, levels: [{ name: 'critical', actions: [] }] }],
  })
  const { config, project, problems } = fixture.load()
  expect(problems).toEqual([])
  expect(policyFor(config, subject).levels).toEqual(before)
  expect(project!.ignored).toHaveLength(names.length + 1)
})

test('an untrusted file cannot change a level that only an override of the user has', () => {
  const override = { when: { agent: 'claude-code' }, levels: [{ name: 'only-here', at: '40%', actions: ['user'] }] }
  fixture.putUser({ overrides: [override] })
  fixture.putUntrusted({ levels: [{ name: 'only-here', at: '99%', actions: [] }] })
  expect(policyNow().levels.find(({ name }) => name === 'only-here')).toMatchObject({ rule: '40%', actions: ['user'] })
})

test('levels of an untrusted file with invalid names, or beyond the 16th, are ignored and listed', () => {
  const bad = ['Early', 'early.x', 'e'.repeat(33)].map((name, i) => ({ name, at: `${i + 1}%`, actions: ['agent'] }))
  const many = Array.from({ length: 20 }, (_, i) => ({ name: `l${i}`, at: `${10 + i}%`, actions: ['agent'] }))
  fixture.putUntrusted({ levels: [...bad, ...many] })
  const { project } = fixture.load()
  expect(project!.ignored.map(({ key }) => key)).toEqual([0, 1, 2, 19, 20, 21, 22].map((n) => `levels[${n}]`))
  expect(policyNow().levels).toHaveLength(4 + 16)
})

test('an accepted file applies completely, and one changed byte makes it untrusted again', () => {
  fixture.putProject('must_survive: [keep the port]\n')
  expect(policyNow().mustSurvive).toEqual(['keep the port'])
  fixture.putUntrusted('must_survive: [keep the porT]\n')
  expect(policyNow().mustSurvive).toEqual([])
  expect(fixture.current().project).toMatchObject({ trusted: false, reason: 'changed since it was accepted' })
  fixture.putUntrusted('must_survive: [keep the port]\n')
  expect(policyNow().mustSurvive).toEqual(['keep the port'])
})

test('trust given or withdrawn takes effect at the next read, also in a process with a memory', () => {
  const memory = new Map<string, CompiledCopy>()
  const survives = () => policyFor(fixture.currentIn(fixture.project, {}, memory).config, subject).mustSurvive
  fixture.putUntrusted({ must_survive: ['x'] })
  expect(survives()).toEqual([])
  trustFile(fixture.home.trust, fixture.projectFile)
  expect(survives()).toEqual(['x'])
  expect(policyNow().mustSurvive).toEqual(['x'])
  expect(removeTrust(fixture.home.trust, fixture.current().project!.folder!)).toBe(true)
  expect(survives()).toEqual([])
  expect(policyNow().mustSurvive).toEqual([])
  expect(removeTrust(fixture.home.trust, fixture.current().project!.folder!)).toBe(false)
})

test('the last good configuration is dropped together with the trust in it', () => {
  fixture.putProject({ must_survive: ['x'] })
  fixture.current()
  fixture.putUntrusted('must_survive: [')
  expect(fixture.current()).toMatchObject({ using: 'valid-files', problems: [{ file: fixture.projectFile }] })
  expect(policyNow().mustSurvive).toEqual([])
})

test('an untrusted file with errors does not block a change of the user file', () => {
  fixture.putUser({ handoff: { mode: 'auto' } })
  fixture.putUntrusted({})
  fixture.current()
  fixture.putUntrusted('levels: [')
  fixture.putUser({ handoff: { mode: 'off' } })
  expect(policyNow().handoff.mode).toBe('off')
  fixture.putUser({ handoff: { mode: 'oof' } })
  expect(fixture.current().using).toBe('last-good')
  expect(policyNow().handoff.mode).toBe('off')
})

test('a compiled copy from before trust existed is not used, not even as the last good configuration', () => {
  fixture.putProject({ must_survive: ['x'] })
  fixture.current()
  const [name] = readdirSync(fixture.home.compiled)
  const path = join(fixture.home.compiled, name!)
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), version: 1 }))
  fixture.putUntrusted('must_survive: [')
  expect(policyNow().mustSurvive).toEqual([])
})

test('a trusted file in another folder, a moved folder or behind a link is refused by baton run', () => {
  fixture.putProject({ must_survive: ['x'] })
  const other = join(fixture.user, 'other')
  fixture.put(join(other, 'baton.yaml'), readFileSync(fixture.projectFile, 'utf8'))
  const survives = (folder: string) => policyFor(fixture.currentIn(folder).config, subject).mustSurvive
  expect(survives(fixture.project)).toEqual(['x'])
  expect(survives(other)).toEqual([])
  const moved = join(fixture.user, 'moved')
  renameSync(fixture.project, moved)
  expect(survives(moved)).toEqual([])
  symlinkSync(moved, fixture.project)
  expect(survives(fixture.project), 'the old path leads to the new folder').toEqual([])
})

test('a project reached through a link has the trust of the folder that the link leads to', () => {
  fixture.putProject({ must_survive: ['x'] })
  symlinkSync(fixture.project, join(fixture.user, 'link'))
  expect(policyFor(fixture.currentIn(join(fixture.user, 'link')).config, subject).mustSurvive).toEqual(['x'])
})

test('a trust record that others may write, or that names another folder, is ignored', () => {
  const sha256 = createHash('sha256').update('x').digest('hex')
  storeTrust(fixture.home.trust, { folder: '/srv/a', sha256 }, new Date())
  expect(statSync(fixture.home.trust).mode & 0o777).toBe(0o700)
  const path = join(fixture.home.trust, readdirSync(fixture.home.trust)[0]!)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(acceptedHash(fixture.home.trust, '/srv/a')).toBe(sha256)
  writeFileSync(path, readFileSync(path, 'utf8').replace('/srv/a', '/srv/b'))
  expect(acceptedHash(fixture.home.trust, '/srv/a')).toBeNull()
  writeFileSync(path, readFileSync(path, 'utf8').replace('/srv/b', '/srv/a'))
  chmodSync(path, 0o620)
  expect(acceptedHash(fixture.home.trust, '/srv/a')).toBeNull()
  for (const damage of ['', '{', 'null', '[]']) {
    writeFileSync(path, damage)
    expect(acceptedHash(fixture.home.trust, '/srv/a')).toBeNull()
  }
})

test('a folder in place of the project file is a problem and never trusted', () => {
  mkdirSync(fixture.projectFile)
  expect(fixture.load()).toMatchObject({ ok: false, project: { trusted: false, sha256: null } })
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
