import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createConfigHome, trustFile } from '../testing/config-home.js'
import { emptyConfig } from './compiled.js'
import { type CompiledCopy, compiledCopyPath, readCompiledCopy, writeCompiledCopy } from './compiled-copy.js'
import { policyFor } from './policy-for.js'

let fixture: ReturnType<typeof createConfigHome>
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

const subject = { agent: 'claude-code', project: null, model: null, seat: null }
const levelsNow = (env: Record<string, string> = {}) =>
  policyFor(fixture.current(env).config, subject).levels.map(({ name }) => name)
const copies = () => readdirSync(fixture.home.compiled)

describe('currentConfig', () => {
  test('without files the defaults are used, and nothing is loaded, read or written', () => {
    expect(fixture.current()).toMatchObject({ config: emptyConfig(), problems: [], using: 'defaults' })
    expect(fixture.loads()).toBe(0)
    expect(() => statSync(fixture.home.compiled)).toThrow()
  })

  test('unchanged files are loaded once and then read from the compiled copy', () => {
    fixture.putUser({ presets: ['sm'] })
    fixture.putProject({ compaction: 'allow' })
    const first = fixture.current()
    expect(first).toMatchObject({ problems: [], using: 'files' })
    expect(fixture.current()).toEqual(first)
    expect(fixture.current().config).toEqual(fixture.load().config)
    expect(fixture.loads()).toBe(1)
  })

  test('the files are loaded again when one changes, appears or is removed', () => {
    fixture.putUser({ presets: ['sm'] })
    expect(levelsNow()).toEqual(['warning', 'critical'])
    fixture.putUser({ presets: ['mpm'] })
    expect(levelsNow()).toContain('auto_pause')
    fixture.putProject({ presets: ['sm'] })
    expect(levelsNow()).toEqual(['warning', 'critical'])
    fixture.putProject({ presets: [] })
    expect(levelsNow()).toEqual([])
    rmSync(fixture.projectFile)
    expect(levelsNow()).toContain('auto_pause')
    rmSync(fixture.home.config)
    expect(levelsNow()).toEqual(['notice', 'warning', 'handoff', 'critical'])
  })

  test('refused files leave the last good configuration in force, with the problem, until they are corrected', () => {
    fixture.putUser({ presets: ['sm'] })
    fixture.current()
    fixture.putUser({ presets: ['smm'] })
    const bad = fixture.current()
    expect(bad).toMatchObject({ using: 'last-good', problems: [{ key: 'presets[0]', file: fixture.home.config }] })
    expect(policyFor(bad.config, subject).levels.map(({ name }) => name)).toEqual(['warning', 'critical'])
    expect(fixture.current()).toEqual(bad)
    expect(fixture.loads()).toBe(2)
    fixture.putUser('levels: [')
    expect(fixture.current()).toMatchObject({ using: 'last-good', config: bad.config })
    expect(fixture.current().mark).not.toBe(bad.mark)
    fixture.putUser({ presets: [] })
    expect(fixture.current()).toMatchObject({ using: 'files', problems: [] })
    expect(levelsNow()).toEqual([])
  })

  test('files refused from the start leave only the valid files in force, with the problem', () => {
    fixture.putUser({ presets: ['mpm'] })
    fixture.putProject({ presets: ['smm'] })
    expect(fixture.current()).toMatchObject({
      using: 'valid-files',
      problems: [{ key: 'presets[0]', file: fixture.projectFile }],
    })
    expect(levelsNow()).toContain('auto_pause')
    fixture.putProject({ presets: ['snn'] })
    expect(fixture.current().using).toBe('valid-files')
  })

  test('the last good configuration is kept across projects without a file of their own', () => {
    fixture.putUser({ presets: ['sm'] })
    fixture.current()
    fixture.putUser({ presets: ['smm'] })
    mkdirSync(join(fixture.user, 'other'))
    const other = fixture.currentIn(join(fixture.user, 'other'))
    expect(other.using).toBe('last-good')
  })

  test('a refused user file keeps its last good state in a folder with a new untrusted project file', () => {
    fixture.putUser({ presets: ['sm'], handoff: { mode: 'off' } })
    fixture.current()
    fixture.putUser('foo: [')
    fixture.putUntrusted({ levels: [{ name: 'early', at: '10%', actions: ['user'] }], handoff: { mode: 'auto' } })
    const now = fixture.current()
    expect(now).toMatchObject({ using: 'last-good', problems: [{ file: fixture.home.config }] })
    const policy = policyFor(now.config, subject)
    expect([policy.handoff.mode, policy.levels.map(({ name }) => name)]).toEqual([
      'off',
      ['early', 'warning', 'critical'],
    ])
    fixture.putUntrusted('levels: [')
    expect(policyFor(fixture.current().config, subject).handoff.mode).toBe('off')
  })

  test('a refused user file keeps its last good state when the trust in the project file changes', () => {
    fixture.putUser({ handoff: { mode: 'off' } })
    fixture.putProject({ presets: ['sm'] })
    fixture.current()
    fixture.putUser('foo: [')
    fixture.putUntrusted({ presets: ['mpm'] })
    const untrusted = fixture.current()
    expect(untrusted.using).toBe('last-good')
    expect(policyFor(untrusted.config, subject).handoff.mode).toBe('off')
    expect(policyFor(untrusted.config, subject).levels).toHaveLength(4)
    fixture.putProject({ presets: ['tens'] })
    const trusted = fixture.current()
    expect(trusted.using).toBe('last-good')
    expect(policyFor(trusted.config, subject)).toMatchObject({ handoff: { mode: 'off' } })
    expect(policyFor(trusted.config, subject).levels).toHaveLength(9)
  })

  test('a trusted project file may refer to levels of the last good user file', () => {
    fixture.putUser({ levels: [{ name: 'mine', at: '10%', actions: ['user'] }] })
    fixture.current()
    fixture.putUser('foo: [')
    fixture.putProject({ levels: [{ name: 'mine', at: '20%' }] })
    const now = fixture.current()
    expect(now.problems.map(({ file }) => file)).toEqual([fixture.home.config])
    expect(policyFor(now.config, subject).levels.find(({ name }) => name === 'mine')?.rule).toBe('20%')
  })

  test('every project has a compiled copy of its own', () => {
    fixture.putUser({ presets: ['sm'] })
    fixture.putProject({ presets: ['mpm'] })
    fixture.put(join(fixture.user, 'other', 'baton.yaml'), { presets: ['tens'] })
    trustFile(fixture.home.trust, join(fixture.user, 'other', 'baton.yaml'))
    for (let i = 0; i < 2; i++) {
      expect(policyFor(fixture.current().config, subject).levels).toHaveLength(4)
      expect(policyFor(fixture.currentIn(join(fixture.user, 'other')).config, subject).levels).toHaveLength(9)
    }
    expect(copies(), 'one for each project, one for the user file alone').toHaveLength(3)
    expect(fixture.loads()).toBe(2)
  })

  test('the environment of a session is applied on top and never stored in the compiled copy', () => {
    fixture.putUser({ presets: ['sm'] })
    expect(levelsNow({ BATON_PRESETS: 'none' })).toEqual([])
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(fixture.current({ BATON_ENABLED: 'perhaps' })).toMatchObject({
      using: 'files',
      problems: [{ key: 'BATON_ENABLED' }],
    })
    expect(fixture.loads()).toBe(1)
    rmSync(fixture.home.config)
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
    fixture.putUser({ presets: ['sm'] })
    fixture.current()
    const [name] = copies()
    writeFileSync(join(fixture.home.compiled, name!), damage)
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(fixture.loads()).toBe(2)
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(fixture.loads()).toBe(2)
  })

  test('the configuration is loaded each time where no compiled copy can be written', () => {
    fixture.putUser({ presets: ['sm'] })
    mkdirSync(dirname(fixture.home.compiled), { recursive: true })
    writeFileSync(fixture.home.compiled, 'a file where the folder should be')
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(levelsNow()).toEqual(['warning', 'critical'])
    expect(fixture.loads()).toBe(2)
  })

  test('a process with a memory neither loads nor reads unchanged files again, and sees every change', () => {
    const memory = new Map<string, CompiledCopy>()
    const now = () => fixture.currentIn(fixture.project, {}, memory)
    fixture.putUser({ presets: ['sm'] })
    const first = now()
    rmSync(fixture.home.compiled, { recursive: true })
    expect(now()).toEqual(first)
    expect(fixture.loads()).toBe(1)
    fixture.putUser({ presets: ['smm'] })
    expect(now()).toMatchObject({ using: 'last-good', config: first.config })
    fixture.putUser({ presets: [] })
    expect(now()).toMatchObject({ using: 'files', problems: [] })
    expect(fixture.loads()).toBe(3)
  })

  test('a process with a memory keeps the last good configuration even if no copy can be written', () => {
    const memory = new Map<string, CompiledCopy>()
    mkdirSync(dirname(fixture.home.compiled), { recursive: true })
    writeFileSync(fixture.home.compiled, 'a file where the folder should be')
    fixture.putUser({ presets: ['sm'] })
    const first = fixture.currentIn(fixture.project, {}, memory)
    fixture.putUser({ presets: ['smm'] })
    expect(fixture.currentIn(fixture.project, {}, memory)).toMatchObject({ using: 'last-good', config: first.config })
  })

  test('compiled copies have mode 0600, and no temporary files remain', () => {
    fixture.putUser({ presets: ['sm'] })
    for (let i = 0; i < 5; i++) {
      fixture.putUser({ presets: ['sm'], guards: { cooldown_seconds: i } })
      fixture.current()
    }
    expect(copies()).toEqual([expect.stringMatching(/^[0-9a-f]{16}\.json$/)])
    expect(statSync(fixture.home.compiled).mode & 0o777).toBe(0o700)
    expect(statSync(join(fixture.home.compiled, copies()[0]!)).mode & 0o777).toBe(0o600)
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
    expect(writeCompiledCopy(fixture.home.compiled, ['/a', '/b'], copy)).toBe(true)
    expect(readCompiledCopy(fixture.home.compiled, ['/a', '/b'])).toEqual(copy)
  })

  test('a compiled copy of other files is not used, even under the same name', () => {
    writeCompiledCopy(fixture.home.compiled, ['/a', '/b'], copy)
    const other = compiledCopyPath(fixture.home.compiled, ['/a', '/c'])
    writeFileSync(other, readFileSync(compiledCopyPath(fixture.home.compiled, ['/a', '/b'])))
    expect(readCompiledCopy(fixture.home.compiled, ['/a', '/c'])).toBeNull()
  })

  test('every set of files has its own name for the compiled copy', () => {
    const names = Array.from({ length: 2_000 }, (_, i) =>
      compiledCopyPath('/x', ['/home/me/config.yaml', `/home/me/p${i}/baton.yaml`]),
    )
    expect(new Set(names).size).toBe(2_000)
  })
})
