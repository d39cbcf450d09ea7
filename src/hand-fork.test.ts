import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { alive } from '../test/harness/processes.js'
import { until } from '../test/harness/wait.js'
import { claimForks } from './engine/drive-fork.js'
import { dropHandoff } from './engine/handoff-calls.js'
import { type TrialHouse, type TrialSession, trialHouse, trialSession } from './engine/trial-session.js'
import { forkForBrief, removeLeftSettings } from './hand-fork.js'
import { processInfo } from './lib/process-info.js'

const CLIENT = fileURLToPath(new URL('../test/harness/fork-client.mjs', import.meta.url))
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

let house: TrialHouse
let s: TrialSession
let children: ChildProcess[]
beforeEach(() => {
  house = trialHouse()
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, fork: true, bar: 0.1 } }))
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const { pid, child } of calls())
    for (const one of [pid, child]) if (one !== null && alive(one)) process.kill(one, 'SIGKILL')
  house.remove()
})

const settingsDir = () => join(house.folder, 'settings of forks')
const log = () => join(house.folder, 'forks')
const calls = (): Called[] =>
  existsSync(log())
    ? readFileSync(log(), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Called)
    : []
const last = () => house.store.handoffs().at(-1)!
const run = (withinMs?: number) => forkForBrief(forkHouse(), self, last().handoffId, withinMs)
const forkHouse = () => ({ engine: house.engine, log: house.engine.parts.log, home: { forks: settingsDir() } })

/** A session whose agent gives no brief, run by a client that does this when it is forked. */
function wanted(does: string, client: { pid?: number; args?: string[] } = {}): void {
  const env = { PATH: process.env.PATH!, FORK_LOG: log(), FORK_DOES: does, FORK_BRIEF: BRIEF, TMUX_PANE: '%1', CLAUDECODE: '1' }
  const child = spawn(process.execPath, [CLIENT, ...(client.args ?? [])], { env, stdio: 'ignore' })
  children.push(child)
  const pid = String(client.pid ?? child.pid)
  s = trialSession(house, 'aaaaaaaa-0001', { CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: pid })
  mkdirSync(s.project)
  s.start()
  s.prompt()
  s.step(150_000)
  s.hook('Stop', { stop_hook_active: false, last_assistant_message: 'No.' })
  claimForks(house.engine.parts, self)
}

it('a fork is run by the program of the session, in its folder and environment, marked, silent and without tools', async () => {
  const theirs = join(house.folder, 'private.json')
  writeFileSync(theirs, '{"env":{"A":"secret-1"},"hooks":{"Stop":[]}}')
  wanted('answers', { args: ['--model', 'opus[1m]', '--settings', theirs] })
  await run()
  expect(last()).toMatchObject({ fork: { outcome: 'wrote', tries: 1 } })
  expect(house.store.briefs()).toMatchObject([{ author: 'fork' }])
  const [called, ...more] = calls()
  expect(more).toEqual([])
  expect(called).toMatchObject({ cwd: s.project, env: { BATON_DISABLE: '1', BATON_FORK: last().handoffId } })
  expect(Object.keys(called!.env)).toEqual(['BATON_DISABLE', 'BATON_FORK'])
  expect(called!.prompt).toContain('This is a copy of the session')
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

it('the settings of a fork are in no command line, but in a file for the user alone that is gone with it', async () => {
  const theirs = join(house.folder, 'private.json')
  writeFileSync(theirs, '{"env":{"A":"secret-1"}}')
  wanted('answers', { args: ['--settings', theirs] })
  await run()
  const [called] = calls()
  expect(called!.settings).toMatchObject({ mode: 0o600, text: expect.stringContaining('secret-1') })
  expect(called!.args.join(' ')).not.toContain('secret-1')
  expect(statSync(settingsDir()).mode & 0o777).toBe(0o700)
  expect(readdirSync(settingsDir())).toEqual([])
})

it('the settings that a killed driver left are removed once nobody wants the fork, and not before', async () => {
  wanted('stays')
  const running = run()
  await until('it runs', () => calls().length === 1, 20_000)
  const own = `${last().handoffId}.json`
  writeFileSync(join(settingsDir(), 'handoff_gone.json'), '{}')
  removeLeftSettings(forkHouse())
  expect(readdirSync(settingsDir())).toEqual([own])
  dropHandoff(house.engine.parts, { handoffId: last().handoffId, caller: null })
  await running
  writeFileSync(join(settingsDir(), own), '{}')
  removeLeftSettings(forkHouse())
  expect(readdirSync(settingsDir())).toEqual([])
})

it.each([
  ['fails', 'the client ended with 3'],
  ['stays', /^it had not answered after \d+ seconds$/],
])('a fork that %s leaves nothing behind but the reason', async (does, why) => {
  wanted(does)
  await run(2_000)
  expect(last()).toMatchObject({ state: 'waiting', fork: { outcome: expect.stringMatching(why) } })
  expect(house.store.briefs()).toMatchObject([{ author: 'baton' }])
  for (const { pid, child } of calls()) expect([pid, child].filter((one) => one !== null && alive(one))).toEqual([])
})

it('where the client is gone, no fork is begun in an environment that is not its own: Baton writes the brief', async () => {
  const path = process.env.PATH
  const found = join(house.folder, 'claude')
  writeFileSync(found, `#!/bin/sh\necho begun >> '${log()}'\n`, { mode: 0o755 })
  process.env.PATH = `${house.folder}:${path}`
  try {
    wanted('answers', { pid: 999_999_999 })
    await run()
  } finally {
    process.env.PATH = path
  }
  expect(existsSync(log())).toBe(false)
  expect(last()).toMatchObject({ state: 'waiting', fork: { outcome: 'the environment of its client is not known' } })
  expect(house.store.briefs()).toMatchObject([{ author: 'baton' }])
})

it('a fork nobody wants any more is ended', async () => {
  wanted('stays')
  const running = run()
  await until('it runs', () => calls().length === 1, 20_000)
  dropHandoff(house.engine.parts, { handoffId: last().handoffId, caller: null })
  await running
  expect(last().state).toBe('cancelled')
  expect(house.store.briefs()).toEqual([])
  expect(
    calls()
      .flatMap(({ pid, child }) => [pid, child!])
      .filter(alive),
  ).toEqual([])
})

it('a fork that somebody left running is ended before another is begun', async () => {
  wanted('stays')
  const left = spawn('sleep', ['300'], { env: { BATON_FORK: last().handoffId }, stdio: 'ignore', detached: true })
  children.push(left)
  const running = run()
  await until('another runs', () => calls().length === 1, 20_000)
  expect(alive(left.pid!)).toBe(false)
  dropHandoff(house.engine.parts, { handoffId: last().handoffId, caller: null })
  await running
})
