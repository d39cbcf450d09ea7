import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { ancestorsOf, commandLine, isAlive, ownProcess, processesWith, processInfo } from './process-info.js'

test('a running process is told by its start, and gone when it has ended', async () => {
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

test('the arguments are those the process was started with', async () => {
  const child = spawn('sleep', ['61'])
  await once(child, 'spawn')
  expect(commandLine(child.pid!)?.slice(-1)).toEqual(['61'])
  child.kill()
  await once(child, 'exit')
})

test('no process, no answer', () => {
  expect(processInfo(2 ** 30)).toBeNull()
  expect(commandLine(2 ** 30)).toBeNull()
})

test('a process of this user is its own, and the one that started it is among its ancestors', async () => {
  const child = spawn('sleep', ['62'])
  await once(child, 'spawn')
  expect(ownProcess(child.pid!)).toMatchObject({ pid: child.pid, owner: process.geteuid!() })
  expect(ancestorsOf(child.pid!)[0]).toBe(process.pid)
  child.kill()
  await once(child, 'exit')
})

test.runIf(process.geteuid?.() !== 0)('a process of root is not one of this user', () => {
  expect(ownProcess(1)).toBeNull()
})

test.runIf(process.platform === 'linux')(
  'finds processes by an entry of their environment, until they end',
  async () => {
    const entry = `BATON_HOME=/nowhere/${process.pid}`
    expect(processesWith(entry)).toEqual([])
    const child = spawn('sleep', ['300'], { stdio: 'ignore', env: { ...process.env, BATON_HOME: entry.slice(11) } })
    await once(child, 'spawn')
    expect(processesWith(entry)).toEqual([child.pid])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(processesWith(entry)).toEqual([])
  },
)
