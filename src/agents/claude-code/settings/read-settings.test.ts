import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../../test/harness/temp-dir.js'
import { claudeCode } from '../claude-code.js'
import { parseClientArguments } from '../command-line.js'
import { configDirFromEnvironment, readSettings } from './read-settings.js'

function places() {
  const dir = tempDir()
  const [configDir, project] = [path.join(dir, 'config'), path.join(dir, 'project')]
  mkdirSync(configDir)
  mkdirSync(path.join(project, '.claude'), { recursive: true })
  const put = (file: string, value: unknown): string => {
    const at = path.join(dir, file)
    writeFileSync(at, typeof value === 'string' ? value : JSON.stringify(value))
    return at
  }
  return { places: { configDir, project, cwd: project }, put }
}

test('the later of user, project, local and --settings wins by key, and environments are merged by name', () => {
  const { places: at, put } = places()
  put('config/settings.json', {
    model: 'opus',
    autoCompactWindow: 300_000,
    autoCompactEnabled: false,
    env: { A: 'user', B: 'user' },
  })
  put('project/.claude/settings.json', { autoCompactWindow: 400_000, env: { B: 'project' } })
  put('project/.claude/settings.local.json', { autoCompactWindow: 500_000, autoCompactEnabled: true })
  expect(readSettings(at)).toEqual({
    model: 'opus',
    autoCompactWindow: 500_000,
    autoCompactEnabled: true,
    env: { A: 'user', B: 'project' },
  })
  expect(readSettings({ ...at, flag: '{"autoCompactWindow":600000}' }).autoCompactWindow).toBe(600_000)
  const file = put('flag.json', { autoCompactWindow: 700_000 })
  expect(readSettings({ ...at, flag: file }).autoCompactWindow).toBe(700_000)
  expect(readSettings({ ...at, flag: '../flag.json' }).autoCompactWindow).toBe(700_000)
  expect(readSettings({ ...at, sources: ['user'] })).toMatchObject({ autoCompactWindow: 300_000, env: { B: 'user' } })
  expect(readSettings({ ...at, sources: ['project'] })).toEqual({ autoCompactWindow: 400_000, env: { B: 'project' } })
  expect(readSettings({ ...at, sources: [] })).toEqual({ env: {} })
})

test('a changed settings file is read again', () => {
  const { places: at, put } = places()
  put('config/settings.json', { autoCompactWindow: 300_000 })
  expect(readSettings(at).autoCompactWindow).toBe(300_000)
  const file = put('config/settings.json', { autoCompactWindow: 400_000 })
  utimesSync(file, new Date(), new Date(Date.now() + 5000))
  // Use other places, because the merged result for the same places is cached for a second.
  expect(readSettings({ ...at, cwd: null }).autoCompactWindow).toBe(400_000)
})

test.each([
  '',
  'nonsense',
  '[]',
  '{"autoCompactWindow":"300k","autoCompactEnabled":"no","env":[1],"model":7}',
  '// note\n{"model":"x"}',
])('a settings file that the client would not load (%j) is ignored', (text) => {
  const { places: at, put } = places()
  put('config/settings.json', text)
  expect(readSettings(at)).toEqual({ env: {} })
})

test('missing settings files are no error', () => {
  expect(readSettings({ configDir: null, project: null, cwd: null, flag: 'missing.json' })).toEqual({ env: {} })
  expect(readSettings({ configDir: '/nowhere', project: '/nowhere', cwd: '/nowhere' })).toEqual({ env: {} })
})

test("Claude Code's folder is the configured one, else the one in the home", () => {
  expect(configDirFromEnvironment({ CLAUDE_CONFIG_DIR: '/c', HOME: '/h' })).toBe('/c')
  expect(configDirFromEnvironment({ HOME: '/h' })).toBe('/h/.claude')
  expect(configDirFromEnvironment({})).toBeNull()
})

test.each([
  ['claude --model opus --autocompact 100000', { model: 'opus', autocompact: '100000', fork: false }],
  ['claude --model=opus --autocompact=150k -p go', { model: 'opus', autocompact: '150k', fork: false }],
  ['claude -p go --resume abc --fork-session', { resume: 'abc', fork: true }],
  ['claude -r abc', { resume: 'abc', fork: false }],
  ['claude --resume --fork-session', { fork: true }],
  [
    'claude --settings x.json --setting-sources user,project',
    { settings: 'x.json', settingSources: ['user', 'project'], fork: false },
  ],
  ['claude --setting-sources= --betas a,b c --verbose', { settingSources: [], betas: ['a', 'b', 'c'], fork: false }],
  ['claude -p -- --model opus', { fork: false }],
  ['claude --model', { fork: false }],
  ['', { fork: false }],
])('the command line is parsed: %s', (line, expected) => {
  expect(parseClientArguments(line.split(' '))).toEqual(expected)
})

test('the client continues after a usage limit as its settings say, and it is unknown without them', () => {
  const { places: at, put } = places()
  const session = {
    transcriptPath: path.join(path.dirname(at.configDir), 'config', 'projects', 'p', 's.jsonl'),
    project: at.project,
  }
  const continues = (project: string) => claudeCode.continuesAfterLimit!({ ...session, project })
  expect(continues(at.project)).toBeNull()
  put('config/settings.json', { autoContinueAtUsageLimit: true })
  // Settings are cached for a second by their places, so use another project.
  expect(continues(path.join(at.project, 'a'))).toBe(true)
  put('project/.claude/settings.local.json', { autoContinueAtUsageLimit: false })
  expect(readSettings({ ...at, cwd: null }).autoContinue).toBe(false)
  expect(claudeCode.continuesAfterLimit!({ transcriptPath: '/elsewhere/s.jsonl', project: null })).toBeNull()
})
