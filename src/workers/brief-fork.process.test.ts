import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { alive } from '../../test/harness/processes.js'
import { registerClient } from '../../test/harness/registry.js'
import { until } from '../../test/harness/wait.js'
import { claimForks } from '../engine/handoff/drive-fork.js'
import { dropHandoff } from '../engine/handoff/handoff-calls.js'
import { processInfo } from '../lib/process-info.js'
import { type TestApp, type TestSession, testApp, testSession } from '../testing/engine-session.js'
import { forkForBrief, removeLeftSettings } from './brief-fork.js'

const CLIENT = fileURLToPath(new URL('../../test/harness/fork-client.mjs', import.meta.url))
const self = processInfo(process.pid)!
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

interface Called {
  pid: number
  child: number | null
  cwd: string
  args: string[]
  settings: { path: string; mode: number; text: string }
  env: Record<string, string>
  prompt: string
}

let app: TestApp
let s: TestSession
let children: ChildProcess[]
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, fork: true, bar: 0.1 } }))
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const { pid, child } of readCalls())
    for (const one of [pid, child]) if (one !== null && alive(one)) process.kill(one, 'SIGKILL')
  app.remove()
})

const settingsDir = () => join(app.folder, 'settings of forks')
const log = () => join(app.folder, 'forks')
const readCalls = (): Called[] =>
  existsSync(log())
    ? readFileSync(log(), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Called)
    : []
const lastHandoff = () => app.store.handoffs().at(-1)!
const runFork = (withinMs?: number) => forkForBrief(forkApp(), self, lastHandoff().handoffId, withinMs)
const forkApp = () => ({ engine: app.engine, log: app.engine.deps.log, home: { forks: settingsDir() } })

/**
 * Prepares a session whose agent gives no brief. `does`: what its client does when it is forked.
 */
function requestFork(does: string, client: { pid?: number; args?: string[]; listed?: string } = {}): void {
  const env = {
    PATH: process.env.PATH!,
    FORK_LOG: log(),
    FORK_DOES: does,
    FORK_BRIEF: BRIEF,
    TMUX_PANE: '%1',
    CLAUDECODE: '1',
    CLAUDE_CONFIG_DIR: join(app.folder, 'client'),
  }
  const child = spawn(process.execPath, [CLIENT, ...(client.args ?? [])], { env, stdio: 'ignore' })
  children.push(child)
  const pid = String(client.pid ?? child.pid)
  s = testSession(app, 'aaaaaaaa-0001', { CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: pid })
  mkdirSync(s.project)
  if (client.pid === undefined)
    registerClient(env.CLAUDE_CONFIG_DIR, { pid: child.pid!, sessionId: client.listed ?? s.id, cwd: s.project })
  s.start()
  s.prompt()
  s.step(150_000)
  s.hook('Stop', { stop_hook_active: false, last_assistant_message: 'No.' })
  claimForks(app.engine.deps, self)
}

test('a fork runs the session’s program in its folder, marked, silent and without tools', async () => {
  const theirs = join(app.folder, 'private.json')
  writeFileSync(theirs, '{"env":{"A":"secret-1"},"hooks":{"Stop":[]}}')
  requestFork('answers', { args: ['--model', 'opus[1m]', '--settings', theirs] })
  await runFork()
  expect(lastHandoff()).toMatchObject({ fork: { outcome: 'wrote', tries: 1 } })
  expect(app.store.briefs()).toMatchObject([{ author: 'fork' }])
  const [called, ...more] = readCalls()
  expect(more).toEqual([])
  expect(called).toMatchObject({ cwd: s.project, env: { BATON_DISABLE: '1', BATON_FORK: lastHandoff().handoffId } })
  expect(Object.keys(called!.env)).toEqual(['BATON_DISABLE', 'BATON_FORK'])
  expect(called!.prompt).toContain('a copy of the session')
  expect(called!.args).toEqual(
    expect.arrayContaining([
      `--resume=${s.id}`,
      '--fork-session',
      '--no-session-persistence',
      '--max-turns=2',
      '--model=opus[1m]',
    ]),
  )
  const settings = JSON.parse(called!.settings.text)
  expect(settings).toMatchObject({ autoCompactEnabled: false, disableAllHooks: false, env: { A: 'secret-1' } })
  expect(settings.hooks).toMatchObject({ Stop: [], PreToolUse: [{ matcher: '*' }] })
})

test('the settings of a fork are in no command line but in a private file that is removed with it', async () => {
  const theirs = join(app.folder, 'private.json')
  writeFileSync(theirs, '{"env":{"A":"secret-1"}}')
  requestFork('answers', { args: ['--settings', theirs] })
  await runFork()
  const [called] = readCalls()
  expect(called!.settings).toMatchObject({ mode: 0o600, text: expect.stringContaining('secret-1') })
  expect(called!.args.join(' ')).not.toContain('secret-1')
  expect(statSync(settingsDir()).mode & 0o777).toBe(0o700)
  expect(readdirSync(settingsDir())).toEqual([])
})

test('settings left by a killed driver are removed once the fork is not wanted any more, and not before', async () => {
  requestFork('stays')
  const running = runFork()
  await until('it runs', () => readCalls().length === 1)
  const own = `${lastHandoff().handoffId}.json`
  writeFileSync(join(settingsDir(), 'handoff_gone.json'), '{}')
  removeLeftSettings(forkApp())
  expect(readdirSync(settingsDir())).toEqual([own])
  dropHandoff(app.engine.deps, { handoffId: lastHandoff().handoffId, caller: null })
  await running
  writeFileSync(join(settingsDir(), own), '{}')
  removeLeftSettings(forkApp())
  expect(readdirSync(settingsDir())).toEqual([])
})

test.each([
  ['fails', 'the client ended with 3', undefined],
  ['stays', /^it did not answer within \d+ seconds$/, 1_000],
])('a fork that %s leaves only the reason behind', async (does, why, withinMs) => {
  requestFork(does)
  await runFork(withinMs)
  expect(lastHandoff()).toMatchObject({ state: 'waiting', fork: { outcome: expect.stringMatching(why) } })
  expect(app.store.briefs()).toMatchObject([{ author: 'baton' }])
  for (const { pid, child } of readCalls()) expect([pid, child].filter((one) => one !== null && alive(one))).toEqual([])
})

test('without the session’s client no fork is started, and Baton writes the brief', async () => {
  const path = process.env.PATH
  const found = join(app.folder, 'claude')
  writeFileSync(found, `#!/bin/sh\necho begun >> '${log()}'\n`, { mode: 0o755 })
  process.env.PATH = `${app.folder}:${path}`
  try {
    requestFork('answers', { pid: 999_999_999 })
    await runFork()
  } finally {
    process.env.PATH = path
  }
  expect(existsSync(log())).toBe(false)
  expect(lastHandoff()).toMatchObject({ state: 'waiting', fork: { outcome: 'its client no longer runs' } })
  expect(app.store.briefs()).toMatchObject([{ author: 'baton' }])
})

test('no fork is started like a process that the client does not list with the session', async () => {
  requestFork('answers', { listed: 'aaaaaaaa-0002' })
  await runFork()
  expect(readCalls()).toEqual([])
  expect(lastHandoff()).toMatchObject({ fork: { outcome: "the client's registry does not list its process" } })
  expect(app.store.briefs()).toMatchObject([{ author: 'baton' }])
})

test('a fork runs in the folder where its client was started, not in one that a signal names', async () => {
  requestFork('answers')
  const named = join(app.folder, 'named by a signal')
  mkdirSync(named)
  const record = app.store.session(s.id)!
  app.store.putSession({ ...record, project: named, cwd: named })
  await runFork()
  expect(readCalls()).toMatchObject([{ cwd: s.project }])
})

test('a fork that is not wanted any more is ended', async () => {
  requestFork('stays')
  const running = runFork()
  await until('it runs', () => readCalls().length === 1)
  dropHandoff(app.engine.deps, { handoffId: lastHandoff().handoffId, caller: null })
  await running
  expect(lastHandoff().state).toBe('cancelled')
  expect(app.store.briefs()).toEqual([])
  expect(
    readCalls()
      .flatMap(({ pid, child }) => [pid, child!])
      .filter(alive),
  ).toEqual([])
})

test('a fork left running by a killed driver is ended before another is begun', async () => {
  requestFork('stays')
  const left = spawn('sleep', ['300'], {
    env: { BATON_FORK: lastHandoff().handoffId },
    stdio: 'ignore',
    detached: true,
  })
  children.push(left)
  const running = runFork()
  await until('another runs', () => readCalls().length === 1)
  expect(alive(left.pid!)).toBe(false)
  dropHandoff(app.engine.deps, { handoffId: lastHandoff().handoffId, caller: null })
  await running
})
