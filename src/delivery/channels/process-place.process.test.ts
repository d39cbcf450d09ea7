import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { isDescendantOf, readProcessPlace, readStartVariable } from './tmux-pane.js'

test('a process descends from itself, its parent and its grandparent, not from a child or an unrelated process', () => {
  const child = spawn('sleep', ['30'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  expect(isDescendantOf(child.pid!, child.pid!)).toBe(true)
  expect(isDescendantOf(child.pid!, process.pid)).toBe(true)
  expect(isDescendantOf(child.pid!, process.ppid)).toBe(true)
  expect(isDescendantOf(process.pid, child.pid!)).toBe(false)
  expect(isDescendantOf(999_999_999, process.pid)).toBe(false)
})

test('a variable of the environment a process was started with can be read', async () => {
  const child = spawn('sleep', ['30'], {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, TMUX: '/tmp/x/default,77,0' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await expect.poll(() => readStartVariable(child.pid!, 'TMUX')).toBe('/tmp/x/default,77,0')
  expect(readStartVariable(child.pid!, 'TMUX_PANE')).toBeNull()
  expect(readStartVariable(999_999_999, 'TMUX')).toBeNull()
})

test('a process without a terminal, or stopped, does not have the keyboard', async () => {
  const child = spawn('sleep', ['30'], { stdio: 'ignore', detached: true })
  onTestFinished(() => void child.kill('SIGKILL'))
  expect(readProcessPlace(child.pid!)).toEqual({ parent: process.pid, inFront: false })
  expect(readProcessPlace(999_999_999)).toBeNull()
})
