import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { HOOK_TIMEOUTS_S } from '../../src/agents/claude-code/settings/settings-file.js'
import { install, uninstall } from '../../src/install/install.js'
import { startModel } from '../../src/model/model.js'
import { type Home, makeHome } from '../harness/home.js'
import { clientBinary } from '../harness/paths.js'
import { type PrintRun, runPrint } from '../harness/run-print.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

/** Launcher script that records its event. As a status line it prints a line and the user's own. */
const launcherIn = (baton: string) => `#!/bin/bash
cat >/dev/null
echo "$1" >> '${baton}/calls'
[ "$1" = status-line ] || exit 0
echo "BATON-LINE $([ -f '${baton}'/former/"$2" ] && /bin/sh '${baton}'/former/"$2")"
`

async function machine(): Promise<Home> {
  const model = await startModel({ script: { steps: [{ bash: 'echo one' }, { bash: 'echo two' }, 'Done.'] } })
  onTestFinished(() => model.close())
  return makeHome({ model })
}

const where = (home: Home) => ({ home: home.batonHome, env: home.env, project: home.project })
const put = (home: Home, scope: 'user' | 'project' = 'user') =>
  install({
    ...where(home),
    scope,
    launcher: launcherIn(home.batonHome),
    mod: [],
    clientVersion: null,
    clock: () => new Date(),
  })
const settingsOf = (home: Home) => path.join(home.configDir, 'settings.json')
const callsOf = (home: Home) => readFileSync(path.join(home.batonHome, 'calls'), 'utf8').trim().split('\n')

const go = (home: Home) => runPrint(home, { prompt: 'go', model: 'claude-opus-4-6', args: ['--include-hook-events'] })

function expectUndisturbed(home: Home, run: PrintRun): void {
  expect(run.code).toBe(0)
  expect(run.stderr).toBe('')
  expect(run.result).toMatchObject({ subtype: 'success', is_error: false })
  const transcript = home.transcript(run.sessionId!)!
  expect(transcript).toContain('Done.')
  expect(transcript).not.toMatch(/hook_non_blocking_error|hook_blocking_error|hook_cancelled/)
  const answers = run.messages.filter((m) => m.subtype === 'hook_response')
  expect(answers.length).toBeGreaterThan(4)
  expect(answers.filter((m) => m.exit_code !== 0 || m.stdout !== '' || m.stderr !== '')).toEqual([])
}

test('the client runs each installed hook once, without a trace in the session', async () => {
  const home = await machine()
  put(home)
  const run = await go(home)
  expectUndisturbed(home, run)
  expect(callsOf(home)).toEqual([
    'SessionStart',
    'UserPromptSubmit',
    'PostToolBatch',
    'PostToolBatch',
    'Stop',
    'SessionEnd',
  ])
})

test('hooks whose launcher is missing print nothing and cause no error', async () => {
  const home = await machine()
  put(home)
  rmSync(home.batonHome, { recursive: true })
  expectUndisturbed(home, await go(home))
  expect(existsSync(home.batonHome)).toBe(false)
})

test('each hook runs once even if Baton is installed for both the user and the project', async () => {
  const home = await machine()
  put(home)
  put(home, 'project')
  expectUndisturbed(home, await go(home))
  expect(callsOf(home).filter((c) => c === 'Stop')).toHaveLength(1)
})

test('the client knows every event for which a hook is installed', async () => {
  const home = await machine()
  put(home)
  home.settings({ hooks: { ...(home.readSettings().hooks as object), NoSuchEvent: [{ hooks: [] }] } })
  const args = ['-p', 'go', '--model', 'claude-opus-4-6', '--dangerously-skip-permissions']
  const run = promisify(execFile)(clientBinary(), args, { env: home.env, cwd: home.project })
  run.child.stdin?.end()
  const told = (await run).stderr
  expect(told).toContain('NoSuchEvent')
  for (const event of Object.keys(HOOK_TIMEOUTS_S)) expect(told.split('Valid events:')[1]).toContain(event)
  expect(told.split('Valid events:')[0]).not.toMatch(/"(?!NoSuchEvent)\w+" was ignored/)
})

test('uninstall removes only Baton’s entries from settings that `claude plugin` has rewritten', async () => {
  const home = await machine()
  const before =
    '{"model":"opus",\n\t"statusLine":{"type":"command","command":"echo mine","padding":3}, "env":{"A":"1"}}'
  writeFileSync(settingsOf(home), before)
  put(home)
  const market = path.join(home.dir, 'market')
  for (const [file, text] of Object.entries({
    '.claude-plugin/marketplace.json': {
      name: 'market',
      owner: { name: 'a' },
      plugins: [{ name: 'p', source: './p', description: 'd' }],
    },
    'p/.claude-plugin/plugin.json': { name: 'p', version: '0.1.0', description: 'd' },
  })) {
    mkdirSync(path.dirname(path.join(market, file)), { recursive: true })
    writeFileSync(path.join(market, file), JSON.stringify(text))
  }
  const client = (...args: string[]) =>
    execFileSync(clientBinary(), args, { env: home.env, cwd: home.project, stdio: 'pipe' })
  client('plugin', 'marketplace', 'add', market)
  client('plugin', 'install', 'p@market')
  expect(readFileSync(settingsOf(home), 'utf8')).not.toContain('\t')
  expect(put(home).changed).toBe(false)
  uninstall(where(home))
  expect(home.readSettings()).toEqual({
    ...JSON.parse(before),
    extraKnownMarketplaces: { market: { source: { source: 'directory', path: market } } },
    enabledPlugins: { 'p@market': true },
  })
})

test('Baton’s status line precedes the user’s, which stays alone without the launcher', async () => {
  const home = await machine()
  home.settings({
    statusLine: { type: 'command', command: 'echo "FORMER $(head -c 13 | tr -d \\")"', padding: 4, refreshInterval: 1 },
  })
  put(home)
  const tui = await startTui(home, { model: 'claude-opus-4-6' })
  expect(await tui.waitFor(/BATON-LINE/)).toMatch(/^ {4,}BATON-LINE/m)
  rmSync(path.join(home.batonHome, 'bin'), { recursive: true })
  expect(await tui.waitFor(/^ {4,}FORMER \{session_id/m)).not.toContain('BATON-LINE')
  await tui.submit('/model sonnet')
  await until('the client has written the model', () => home.readSettings().model === 'sonnet')
  uninstall(where(home))
  expect(home.readSettings()).toEqual({
    skipDangerousModePermissionPrompt: true,
    statusLine: { type: 'command', command: 'echo "FORMER $(head -c 13 | tr -d \\")"', padding: 4, refreshInterval: 1 },
    model: 'sonnet',
  })
})
