import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { trialHome, trustFile } from '../testing/config-home.js'
import { emptyConfig } from './compiled.js'
import { type CompiledCopy, copyPath, readCompiled, writeCompiled } from './compiled-copy.js'
import { policyFor } from './policy-for.js'

let trial: ReturnType<typeof trialHome>
beforeEach(() => {
  trial = trialHome()
})
afterEach(() => trial.remove())

const subject = { agent: 'claude-code', project: null, model: null, seat: null }
const levelsNow = (env: Record<string, string> = {}) =>
  policyFor(trial.current(env).config, subject).levels.map(({ name }) => name)
const copies = () => readdirSync(trial.home.compiled)

describe('currentConfig', () => {
  test('without files the defaults are used, and nothing is loaded, read or written', () => {
    expect(trial.current()).toMatchObject({ config: emptyConfig(), problems: [], using: 'defaults' })
    expect(trial.loads()).toBe(0)
    expect(() => statSync(trial.home.compiled)).toThrow()
  })

  test('unchanged files are loaded once and then read from the compiled copy', () => {
    trial.putUser({ presets: ['sm'] })
    trial.putProject({ compaction: 'allow' })
    const first = trial.current()
    expect(first).toMatchObject({ problems: [], using: 'files' })
    expect(trial.current()).toEqual(first)
    expect(trial.current().config).toEqual(trial.load().config)
    expect(trial.loads()).toBe(1)
  })

  test('the files are loaded again when one changes, appears or is removed', () => {
    trial.putUser({ presets: ['sm'] })
    expect(levelsNow()).toEqual(['warning', 'critical'])
    trial.putUser({ presets: ['mpm'] })
    expect(levelsNow()).toContain('auto_pause')
    trial.putProject({ presets: ['sm'] })
    expect(levelsNow()).toEqual(['warning', 'critical'])
    trial.putProject({ presets: [] })
    expect(levelsNow()).toEqual([])
    rmSync(trial.projectFile)
    expect(levelsNow()).toContain('auto_pause')
    rmSync(trial.home.config)
    expect(levelsNow()).toEqual(['notice', 'warning', 'handoff', 'critical'])
  })

  test('refused files leave the last good configuration in force, with the problem, until they are corrected', () => {
    trial.putUser({ presets: ['sm'] })
    trial.current()
    trial.putUser({ presets: ['smm'] })
    const bad = trial.current()
    expect(bad).toMatchObject({ using: 'last-good', problems: [{ key: 'presets[0]', file: trial.home.config }] })
    expect(policyFor(bad.config, subject).levels.map(({ name }) => name)).toEqual(['warning', 'critical'])
    expect(trial.current()).toEqual(bad)
    expect(trial.loads()).toBe(2)
    trial.putUser('levels: [')
    expect(trial.current()).toMatchObject({ using: 'last-good', config: bad.config })
    expect(trial.current().mark).not.toBe(bad.mark)
    trial.putUser({ presets: [] })
    expect(trial.current()).toMatchObject({ using: 'files', problems: [] })
    expect(levelsNow()).toEqual([])
  })

  test('files refused from the start leave only the valid files in force, with the problem', () => {
    trial.putUser({ presets: ['mpm'] })
    trial.putProject({ presets: ['smm'] })
    expect(trial.current()).toMatchObject({
      using: 'valid-files',
      problems: [{ key: 'presets[0]', file: trial.projectFile }],
    })
    expect(levelsNow()).toContain('auto_pause')
    trial.putProject({ presets: ['snn'] })
    expect(trial.current().using).toBe('valid-files')
  })

  test('the last good configuration is kept across projects without a file of their own', () => {
    trial.putUser({ presets: ['sm'] })
    trial.current()
    trial.putUser({ presets: ['smm'] })
    mkdirSync(join(trial.user, 'other'))
    const other = trial.currentIn(join(trial.user, 'other'))
    expect(other.using).toBe('last-good')
  })

  test('a refused user file keeps its last good state in a folder with a new untrusted project file', () => {
    trial.putUser({ presets: ['sm'], handoff: { mode: 'off' } })
    trial.current()
    trial.putUser('foo: [')
    trial.putUntrusted({ levels: [{ name: 'early', at: '10%', actions: ['user'] }], handoff: { mode: 'auto' } })
    const now = trial.current()
    expect(now).toMatchObject({ using: 'last-good', problems: [{ file: trial.home.config }] })
    const policy = policyFor(now.config, subject)
    expect([policy.handoff.mode, policy.levels.map(({ name }) => name)]).toEqual([
      'off',
      ['early', 'warning', 'critical'],
    ])
    trial.putUntrusted('levels: [')
    expect(policyFor(trial.current().config, subject).handoff.mode).toBe('off')
  })

  test('a refused user file keeps its last good state when the trust in the project file changes', () => {
    trial.putUser({ handoff: { mode: 'off' } })
    trial.putProject({ presets: ['sm'] })
    trial.current()
    trial.putUser('foo: [')
    trial.putUntrusted({ presets: ['mpm'] })
    const untrusted = trial.current()
    expect(untrusted.using).toBe('last-good')
    expect(policyFor(untrusted.config, subject).handoff.mode).toBe('off')
    expect(policyFor(untrusted.config, subject).levels).toHaveLength(4)
    trial.putProject({ presets: ['tens'] })
    const trusted = trial.current()
    expect(trusted.using).toBe('last-good')
    expect(policyFor(trusted.config, subject)).toMatchObject({ handoff: { mode: 'off' } })
    expect(policyFor(trusted.config, subject).levels).toHaveLength(9)
  })

  test('a trusted project file may refer to levels of the last good user file', () => {
    trial.putUser({ levels: [{ name: 'mine', at: '10%', actions: ['user'] }] })
    trial.current()
    trial.putUser('foo: [')
    trial.putProject({ levels: [{ name: 'mine', at: '20%' }] })
    const now = trial.current()
    expect(now.problems.map(({ file }) => file)).toEqual([trial.home.config])
    expect(policyFor(now.config, subject).levels.find(({ name }) => name === 'mine')?.rule).toBe('20%')
  })

  test('every project has a compiled copy of its own', () => {
    trial.putUser({ presets: ['sm'] })
    trial.putProject({ presets: ['mpm'] })
    trial.put(join(trial.user, 'other', 'baton.yaml'), { presets: ['tens'] })
    trustFile(trial.home.trust, join(trial.user, 'other', 'baton.yaml'))
    for (let i = 0; i < 2; i++) {
      expect(policyFor(trial.current().config, subject).levels).toHaveLength(4)
      expect(policyFor(trial.currentIn(join(trial.user, 'other')).config, subject).levels).toHaveLength(9)
    }
    expect(copies(), 'one for each project, one for the user file alone').toHaveLength(3)
    expect(trial.loads()).toBe(2)
  })

  test('the environment of a session is applied on top and never stored in the compiled copy', () => {
    trial.putUser({ presets: ['sm'] })
    expect(levelsNow({ BATON_PRESETS: 'none' })).toEqual([])
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(trial.current({ BATON_ENABLED: 'perhaps' })).toMatchObject({
      using: 'files',
      problems: [{ key: 'BATON_ENABLED' }],
    })
    expect(trial.loads()).toBe(1)
    rmSync(trial.home.config)
    expect(levelsNow({ BATON_PRESETS: 'sm' })).toEqual(['warning', 'critical'])
  })

  test.each([
    '',
    '{',
    'null',
    '[]',
    '{"version":1}',
    '{"version":1,"mark":"x","config":{"version":1,"layers":[]},"problems":[]}',
  ])('a damaged compiled copy is made again: %j', (damage) => {
    trial.putUser({ presets: ['sm'] })
    trial.current()
    const [name] = copies()
    writeFileSync(join(trial.home.compiled, name!), damage)
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(trial.loads()).toBe(2)
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(trial.loads()).toBe(2)
  })

  test('the configuration is loaded each time where no compiled copy can be written', () => {
    trial.putUser({ presets: ['sm'] })
    mkdirSync(dirname(trial.home.compiled), { recursive: true })
    writeFileSync(trial.home.compiled, 'a file where the folder should be')
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(trial.loads()).toBe(2)
  })

  test('a process with a memory neither loads nor reads unchanged files again, and sees every change', () => {
    const memory = new Map<string, CompiledCopy>()
    const now = () => trial.currentIn(trial.project, {}, memory)
    trial.putUser({ presets: ['sm'] })
    const first = now()
    rmSync(trial.home.compiled, { recursive: true })
    expect(now()).toEqual(first)
    expect(trial.loads()).toBe(1)
    trial.putUser({ presets: ['smm'] })
    expect(now()).toMatchObject({ using: 'last-good', config: first.config })
    trial.putUser({ presets: [] })
    expect(now()).toMatchObject({ using: 'files', problems: [] })
    expect(trial.loads()).toBe(3)
  })

  test('a process with a memory keeps the last good configuration even if no copy can be written', () => {
    const memory = new Map<string, CompiledCopy>()
    mkdirSync(dirname(trial.home.compiled), { recursive: true })
    writeFileSync(trial.home.compiled, 'a file where the folder should be')
    trial.putUser({ presets: ['sm'] })
    const first = trial.currentIn(trial.project, {}, memory)
    trial.putUser({ presets: ['smm'] })
    expect(trial.currentIn(trial.project, {}, memory)).toMatchObject({ using: 'last-good', config: first.config })
  })

  test('compiled copies have mode 0600, and no temporary files remain', () => {
    trial.putUser({ presets: ['sm'] })
    for (let i = 0; i < 5; i++) {
      trial.putUser({ presets: ['sm'], guards: { cooldown_seconds: i } })
      trial.current()
    }
    expect(copies()).toEqual([expect.stringMatching(/^[0-9a-f]{16}\.json$/)])
    expect(statSync(trial.home.compiled).mode & 0o777).toBe(0o700)
    expect(statSync(join(trial.home.compiled, copies()[0]!)).mode & 0o777).toBe(0o600)
  })
})

describe('the compiled copy', () => {
  const copy = {
    version: 4 as const,
    mark: `${JSON.stringify(['/a', '/b'])}|x`,
    good: true,
    config: emptyConfig(),
    problems: [],
    project: null,
    trusted: null,
  }

  test('a compiled copy is read back as it was written', () => {
    expect(writeCompiled(trial.home.compiled, ['/a', '/b'], copy)).toBe(true)
    expect(readCompiled(trial.home.compiled, ['/a', '/b'])).toEqual(copy)
  })

  test('a compiled copy of other files is not used, even under the same name', () => {
    writeCompiled(trial.home.compiled, ['/a', '/b'], copy)
    const other = copyPath(trial.home.compiled, ['/a', '/c'])
    writeFileSync(other, readFileSync(copyPath(trial.home.compiled, ['/a', '/b'])))
    expect(readCompiled(trial.home.compiled, ['/a', '/c'])).toBeNull()
  })

  test('every set of files has its own name for the compiled copy', () => {
    const names = Array.from({ length: 2_000 }, (_, i) =>
      copyPath('/x', ['/home/me/config.yaml', `/home/me/p${i}/baton.yaml`]),
    )
    expect(new Set(names).size).toBe(2_000)
  })
})
