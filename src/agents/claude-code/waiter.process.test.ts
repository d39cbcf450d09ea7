import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PATIENCE_MS } from '../../../test/harness/wait.js'
import { batonHome } from '../../lib/home.js'
import { isRunning } from '../../lib/process-info.js'
import { hookCommand } from '../shared/launcher-call.js'
import { claudeCode } from './claude-code.js'
import { launcherText } from './launcher.js'
import {
  deliveredByWaitingHook,
  endWaitingHooks,
  removeOldWaitingHookFiles,
  sendToWaitingHook,
  supportsWaitingHooks,
  waitingHookState,
  withdrawFromWaitingHook,
} from './waiter.js'

let root: string
let live: string
let folder: string
let running: ChildProcess[]
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "baton-wait'er-"))
  live = join(root, 'live')
  folder = join(root, 'waiters')
  running = []
  writeLauncher()
})
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(root, { recursive: true })
})

function writeLauncher(change = (text: string) => text): void {
  const { environment, unread } = claudeCode
  const parts = {
    bash: '/bin/bash',
    node: process.execPath,
    engine: '/none',
    agent: 'claude-code',
    environment,
    unread,
  }
  mkdirSync(join(root, 'bin'), { recursive: true })
  writeFileSync(launcher(), change(launcherText({ ...parts, home: batonHome({ BATON_HOME: root }) })))
  chmodSync(launcher(), 0o700)
}
const launcher = (): string => join(root, 'bin', 'hook')
const CLIENT = { CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: '4711', CLAUDE_CODE_SESSION_ID: 's-1' }

interface Waiter {
  pid: number
  pipe: string
  ended: Promise<{ code: number | null; said: string }>
  kill(signal: NodeJS.Signals): void
}

function start(env: Record<string, string> = {}): Waiter {
  const child = spawn('/bin/sh', ['-c', hookCommand(launcher(), 'waiter')], {
    env: { PATH: process.env.PATH, ...CLIENT, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  running.push(child)
  let said = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stdin!.on('error', () => {})
  child.stdin!.end('{"session_id":"s-1"}')
  const ended = new Promise<{ code: number | null; said: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, said })),
  )
  return { pid: child.pid!, pipe: `4711.${child.pid}`, ended, kill: (signal) => void child.kill(signal) }
}

const names = (): string[] => (readdirSync(root).includes('waiters') ? readdirSync(folder).sort() : [])
const pipes = (): string[] => names().filter((name) => /^\d+\.\d+$/.test(name))
const waits = (...waiters: Waiter[]): Promise<void> =>
  vi.waitFor(() => expect(pipes()).toEqual(waiters.map(({ pipe }) => pipe).sort()), PATIENCE_MS)
/** Returns how often a process has returned from waiting. */
const wakeups = (pid: number): number =>
  Number(/\nvoluntary_ctxt_switches:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
const spoken = (orderId: string, text: string, session = 's-1') => ({ clientPid: 4711, session, orderId, text })

test('a waiter blocks until it is notified, and its exit code wakes the client', async () => {
  const waiter = start()
  await waits(waiter)
  expect(waitingHookState(live, 4711)).toBe('asleep')
  sendToWaitingHook(live, spoken('order_1', '[baton] go on\nwith $HOME `x`\n'))
  expect(await waiter.ended).toEqual({ code: 2, said: '[baton] go on\nwith $HOME `x`\n' })
  expect(names()).toEqual(['4711.here', 's-1.order_1.said'])
  expect(readFileSync(join(folder, 's-1.order_1.said'), 'utf8')).toBe('')
  expect(deliveredByWaitingHook(live, 's-1', 'order_1')).toBeGreaterThan(Date.now() - 60_000)
  expect(withdrawFromWaitingHook(live, 's-1', 'order_1')).toBe(false)
  expect(waitingHookState(live, 4711)).toBe('known')
})

test('a text that is a link to another file of this user is not delivered', async () => {
  mkdirSync(folder)
  const cloned = join(root, 'cloned')
  writeFileSync(cloned, 'forged')
  symlinkSync(cloned, join(folder, 's-1.order_0.say'))
  const waiter = start()
  await waits(waiter)
  sendToWaitingHook(live, spoken('order_1', 'its own'))
  expect(await waiter.ended).toEqual({ code: 2, said: 'its own' })
  expect(readFileSync(cloned, 'utf8')).toBe('forged')
})

test('a waiter delivers a text that exists at its start, but no withdrawn or foreign one', async () => {
  mkdirSync(folder)
  sendToWaitingHook(live, spoken('order_1', 'taken back'))
  sendToWaitingHook(live, spoken('order_2', 'for another', 's-2'))
  expect(withdrawFromWaitingHook(live, 's-1', 'order_1')).toBe(true)
  const waiter = start()
  await waits(waiter)
  sendToWaitingHook(live, spoken('order_3', 'for this one'))
  expect(await waiter.ended).toEqual({ code: 2, said: 'for this one' })
})

test('a text is delivered by only one of several waiters', async () => {
  const waiters = [start(), start({ CLAUDE_PID: '42' }), start({ CLAUDE_PID: '43' })]
  await vi.waitFor(() => expect(pipes()).toHaveLength(3), PATIENCE_MS)
  writeFileSync(join(folder, 's-1.order_1.say'), 'once')
  for (const pipe of pipes()) writeFileSync(join(folder, pipe), 'look\n')
  await vi.waitFor(() => expect(pipes()).toHaveLength(2), PATIENCE_MS)
  endWaitingHooks(live)
  const said = await Promise.all(waiters.map(({ ended }) => ended))
  expect(said.map((one) => `${one.code} ${one.said}`).sort()).toEqual(['0 ', '0 ', '2 once'])
})

test.runIf(process.platform === 'linux')(
  'a blocked waiter uses no CPU time, and no process stays beside it',
  async () => {
    const waiter = start()
    await waits(waiter)
    await vi.waitFor(() => expect(waitingHookState(live, 4711)).toBe('asleep'), PATIENCE_MS)
    // The waiter must not wake up for as long as it takes to start other programs.
    const work = (): void => void execFileSync(process.execPath, ['--eval', ''])
    work()
    const before = wakeups(waiter.pid)
    for (let n = 0; n < 5; n++) work()
    expect(wakeups(waiter.pid) - before).toBe(0)
    expect(readFileSync(`/proc/${waiter.pid}/task/${waiter.pid}/children`, 'utf8')).toBe('')
  },
)

test('a new waiter ends the older ones of its client, not those of another', async () => {
  const [first, other] = [start(), start({ CLAUDE_PID: '42' })]
  await vi.waitFor(() => expect(pipes()).toHaveLength(2), PATIENCE_MS)
  await vi.waitFor(() => expect(waitingHookState(live, 4711)).toBe('asleep'), PATIENCE_MS)
  const second = start()
  expect(await first.ended).toEqual({ code: 0, said: '' })
  await waits(second, { ...other, pipe: `42.${other.pid}` })
})

test('at least one of many waiters that start at once stays, and it can be notified', async () => {
  const all = Array.from({ length: 8 }, () => start())
  let ended = 0
  for (const one of all) void one.ended.then(() => ended++)
  await vi.waitFor(() => expect(pipes().length + ended).toBe(8), PATIENCE_MS)
  expect(pipes().length).toBeGreaterThan(0)
  sendToWaitingHook(live, spoken('order_1', 'hello'))
  const first = await Promise.race(
    all.map(({ ended }) => ended.then((one) => (one.code === 2 ? one : new Promise(() => {})))),
  )
  expect(first).toEqual({ code: 2, said: 'hello' })
})

test.each([
  ['an unattended run', { CLAUDE_CODE_SESSION_ATTENDED: '0' }],
  ['a client without a process id', { CLAUDE_PID: '' }],
  ['a session id that is a path', { CLAUDE_CODE_SESSION_ID: '../s-1' }],
  ['a disabled Baton', { BATON_DISABLE: '1' }],
])('the waiter ends at once for %s', async (_, env) => {
  expect(await start(env).ended).toEqual({ code: 0, said: '' })
})

test('a waiter that the client ends leaves no pipe', async () => {
  const waiter = start()
  await waits(waiter)
  waiter.kill('SIGTERM')
  expect(await waiter.ended).toEqual({ code: 0, said: '' })
  expect(pipes()).toEqual([])
})

test('all waiters are ended at once, and no file remains', async () => {
  const waiter = start()
  await waits(waiter)
  endWaitingHooks(live)
  expect(await waiter.ended).toEqual({ code: 0, said: '' })
  expect(names()).toEqual([])
})

test('a killed waiter does not count as asleep, and its pipe is removed', async () => {
  const waiter = start()
  await waits(waiter)
  waiter.kill('SIGKILL')
  await waiter.ended
  expect(waitingHookState(live, 4711)).toBe('known')
  expect(pipes()).toEqual([])
  expect(waitingHookState(live, 4712)).toBeNull()
  removeOldWaitingHookFiles(live, new Date(), () => true)
  expect(names()).toEqual(['4711.here'])
  removeOldWaitingHookFiles(live, new Date(), () => false)
  expect(names()).toEqual([])
})

test('a waiter ends by itself when its client was killed', async () => {
  writeLauncher((text) => text.replace('read -r -t 300', 'read -r -t 1'))
  const client = spawn('/bin/bash', ['-c', '"$0" waiter & wait', launcher()], {
    env: { PATH: process.env.PATH, ...CLIENT },
    stdio: 'ignore',
  })
  running.push(client)
  await vi.waitFor(() => expect(pipes()).toHaveLength(1), PATIENCE_MS)
  const waiter = Number(pipes()[0]!.split('.')[1])
  const before = process.platform === 'linux' ? wakeups(waiter) : 0
  if (process.platform === 'linux')
    await vi.waitFor(() => expect(wakeups(waiter)).toBeGreaterThan(before + 1), PATIENCE_MS)
  expect(isRunning(waiter)).toBe(true)
  client.kill('SIGKILL')
  await vi.waitFor(() => expect(isRunning(waiter)).toBe(false), PATIENCE_MS)
  expect(pipes()).toEqual([])
})

test.each([
  ['2.1.325', true],
  ['2.1.143', true],
  ['2.1.142', false],
  ['2.0.200', false],
  ['3.0.0', true],
  [null, false],
])('a client of version %s supports waiters: %s', (version, has) => {
  expect(supportsWaitingHooks(version)).toBe(has)
})
