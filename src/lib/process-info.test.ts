import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { commandLine, isAlive, processInfo } from './process-info.js'

test('a running process is told by its start, and gone when it has ended', async () => {
  const before = Date.now()
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const info = processInfo(child.pid!)!
  expect(info.pid).toBe(child.pid)
  expect(Math.abs(info.startedAtMs! - before)).toBeLessThan(3000)
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
