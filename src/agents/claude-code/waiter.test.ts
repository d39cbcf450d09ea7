import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { isRunning } from '../../lib/process-info.js'
import { waiterHook, waiterScript } from './waiter.js'

let dir: string
let folder: string
let running: ChildProcess[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "baton-wait'er-"))
  folder = join(dir, 'pipes')
  running = []
  writeFileSync(join(dir, 'waiter.sh'), waiterScript(folder))
})
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(dir, { recursive: true })
})

interface Waiter {
  pid: number
  pipe: string
  ended: Promise<{ code: number | null; said: string }>
  kill(signal: NodeJS.Signals): void
}

function start(env: Record<string, string> = {}): Waiter {
  const child = spawn('/bin/sh', ['-c', waiterHook(join(dir, 'waiter.sh')).command], {
    env: { PATH: process.env.PATH, CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: '4711', ...env },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  running.push(child)
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = new Promise<{ code: number | null; said: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, said })),
  )
  return { pid: child.pid!, pipe: `4711.${child.pid}`, ended, kill: (signal) => void child.kill(signal) }
}

const pipes = (): string[] => readdirSync(folder).filter((name) => /^\d+\.\d+$/.test(name))
const waits = (...waiters: Waiter[]): Promise<void> =>
  vi.waitFor(() => expect(pipes().sort()).toEqual(waiters.map(({ pipe }) => pipe).sort()), 5000)
const tell = (waiter: Waiter, word: string): void => writeFileSync(join(folder, waiter.pipe), `${word}\n`)

it('sleeps until it is told, says it, and ends as the client wakes by', async () => {
  const waiter = start()
  await waits(waiter)
  writeFileSync(join(folder, 'say-1'), '[baton] go on\nwith $HOME `x`\n')
  tell(waiter, 'say-1')
  expect(await waiter.ended).toEqual({ code: 2, said: '[baton] go on\nwith $HOME `x`\n' })
  expect(readdirSync(folder)).toEqual([])
})

it.runIf(process.platform === 'linux')('asleep it uses no processor time, and nothing stands beside it', async () => {
  const waiter = start()
  await waits(waiter)
  const switches = (): number =>
    Number(/\nvoluntary_ctxt_switches:\s+(\d+)/.exec(readFileSync(`/proc/${waiter.pid}/status`, 'utf8'))![1])
  await new Promise((resolve) => setTimeout(resolve, 200))
  const before = switches()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(switches() - before).toBe(0)
  expect(readFileSync(`/proc/${waiter.pid}/task/${waiter.pid}/children`, 'utf8')).toBe('')
})

it('a new one sends the older ones of its client home, not those of another', async () => {
  const [first, other] = [start(), start({ CLAUDE_PID: '42' })]
  await vi.waitFor(() => expect(pipes()).toHaveLength(2), 5000)
  await new Promise((resolve) => setTimeout(resolve, 20))
  const second = start()
  expect(await first.ended).toEqual({ code: 0, said: '' })
  await waits(second, { ...other, pipe: `42.${other.pid}` })
})

it('many that begin at once leave at least one, and it can be told', async () => {
  const all = Array.from({ length: 8 }, () => start())
  await vi.waitFor(() => expect(pipes().length).toBeGreaterThan(0), 5000)
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const left = all.filter(({ pipe }) => pipes().includes(pipe))
  expect(left.length).toBeGreaterThan(0)
  writeFileSync(join(folder, 'say-1'), 'hello')
  tell(left[0]!, 'say-1')
  expect(await left[0]!.ended).toEqual({ code: 2, said: 'hello' })
})

it.each([
  ['a run nobody attends', { CLAUDE_CODE_SESSION_ATTENDED: '0' }],
  ['a client that does not say who it is', { CLAUDE_PID: '' }],
])('%s has no waiter: it ends at once', async (_, env) => {
  expect(await start(env).ended).toEqual({ code: 0, said: '' })
})

it.each(['home', '/etc/passwd', 'say-none', ''])('told %j it says nothing', async (word) => {
  const waiter = start()
  await waits(waiter)
  tell(waiter, word)
  expect(await waiter.ended).toEqual({ code: 0, said: '' })
  expect(readdirSync(folder)).toEqual([])
})

it('ended by the client it leaves no pipe', async () => {
  const waiter = start()
  await waits(waiter)
  waiter.kill('SIGTERM')
  expect(await waiter.ended).toEqual({ code: 0, said: '' })
  expect(readdirSync(folder)).toEqual([])
})

it('when its client was killed it goes by itself', async () => {
  writeFileSync(join(dir, 'waiter.sh'), waiterScript(folder, 1))
  const client = spawn('/bin/bash', ['-c', '/bin/bash "$0" & wait', join(dir, 'waiter.sh')], {
    env: { PATH: process.env.PATH, CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: '4711' },
    stdio: 'ignore',
  })
  running.push(client)
  await vi.waitFor(() => expect(pipes()).toHaveLength(1), 5000)
  const waiter = Number(pipes()[0]!.split('.')[1])
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(isRunning(waiter)).toBe(true)
  client.kill('SIGKILL')
  await vi.waitFor(() => expect(isRunning(waiter)).toBe(false), 5000)
  expect(readdirSync(folder)).toEqual([])
})
