import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import {
  ancestorsOf,
  commandLine,
  isAlive,
  processesWithVariable,
  processInfo,
  processOfThisUser,
} from './process-info.js'

test('a running process is identified by its start time, and counts as gone once it ended', async () => {
  const before = Date.now()
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const info = processInfo(child.pid!)!
  expect(info.pid).toBe(child.pid)
  expect(Math.abs(info.startedAtMs! - before)).toBeLessThan(60_000)
  expect(isAlive(info)).toBe(true)
  expect(isAlive({ pid: child.pid!, startedAt: 'another process with this pid' })).toBe(false)
  child.kill()
  await once(child, 'exit')
  expect(isAlive(info)).toBe(false)
})

test('the command line of a process has the arguments it was started with', async () => {
  const child = spawn('sleep', ['61'])
  await once(child, 'spawn')
  expect(commandLine(child.pid!)?.slice(-1)).toEqual(['61'])
  child.kill()
  await once(child, 'exit')
})

test('a pid without a process has no information and no command line', () => {
  expect(processInfo(2 ** 30)).toBeNull()
  expect(commandLine(2 ** 30)).toBeNull()
})

test('a child process belongs to this user and has its parent among its ancestors', async () => {
  const child = spawn('sleep', ['62'])
  await once(child, 'spawn')
  expect(processOfThisUser(child.pid!)).toMatchObject({ pid: child.pid, owner: process.geteuid!() })
  expect(ancestorsOf(child.pid!)[0]).toBe(process.pid)
  child.kill()
  await once(child, 'exit')
})

test.runIf(process.geteuid?.() !== 0)('a process of root does not count as one of this user', () => {
  expect(processOfThisUser(1)).toBeNull()
})

test.runIf(process.platform === 'linux')(
  'processes are found by an entry of their environment, until they end',
  async () => {
    const entry = `BATON_HOME=/nowhere/${process.pid}`
    expect(processesWithVariable(entry)).toEqual([])
    const child = spawn('sleep', ['300'], { stdio: 'ignore', env: { ...process.env, BATON_HOME: entry.slice(11) } })
    await once(child, 'spawn')
    expect(processesWithVariable(entry)).toEqual([child.pid])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(processesWithVariable(entry)).toEqual([])
  },
)
