import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { retireWaiters, wakeOverPipe } from './pipe.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-pipe-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function pipe(name: string, at = 1000): string {
  execFileSync('mkfifo', [join(dir, name)])
  utimesSync(join(dir, name), at, at)
  return join(dir, name)
}

/** Reads one line, as a waiter does. */
function reader(path: string): Promise<string> {
  const child = spawn('bash', ['-c', 'exec 3<>"$0"; echo; read -r line <&3; printf %s "$line"', path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  return new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (said === '') ready.get(path)?.()
      said += text
    })
    child.on('close', () => resolve(said.trim()))
  })
}
const ready = new Map<string, () => void>()
const reads = async (path: string): Promise<{ line: Promise<string> }> => {
  const open = new Promise<void>((resolve) => ready.set(path, resolve))
  const line = reader(path)
  await open
  return { line }
}

it('gives the newest waiter the name of a file with the text', async () => {
  const old = await reads(pipe('77.1', 1000))
  const recent = await reads(pipe('77.2', 2000))
  expect(wakeOverPipe(dir, 77, '[baton] go on\n…')).toBe('sent')
  const name = await recent.line
  expect(readFileSync(join(dir, name), 'utf8')).toBe('[baton] go on\n…')
  retireWaiters(dir, 77)
  expect(await old.line).toBe('home')
})

it('a pipe nobody reads is removed, and the next is tried', async () => {
  pipe('77.9', 9000)
  const there = await reads(pipe('77.2', 2000))
  expect(wakeOverPipe(dir, 77, 'hello')).toBe('sent')
  expect(readdirSync(dir)).not.toContain('77.9')
  expect(await there.line).toMatch(/^say-/)
})

it('nobody waits: nothing is left behind', () => {
  expect(wakeOverPipe(join(dir, 'none'), 77, 'hello')).toBe('nobody')
  pipe('770.1')
  writeFileSync(join(dir, '77.3'), 'not a pipe')
  expect(wakeOverPipe(dir, 77, 'hello')).toBe('nobody')
  expect(readdirSync(dir).sort()).toEqual(['77.3', '770.1'])
  expect(wakeOverPipe(dir, 77, ' ')).toBe('text')
})
