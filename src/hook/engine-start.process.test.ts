import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ENGINE = join(import.meta.dirname, '..', '..', 'dist', 'hook-engine.cjs')
let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'baton-test-code-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const LINE = JSON.stringify({
  session_id: 's1',
  model: { id: 'claude-opus-4-6' },
  context_window: { context_window_size: 200_000, current_usage: { input_tokens: 83_500 } },
})

function statusLine(): string {
  const env = {
    PATH: process.env.PATH,
    BATON_DATA: home,
    BATON_CONFIG: join(home, 'config'),
    BATON_LOG_FILE: join(home, 'log'),
  }
  const run = spawnSync(process.execPath, [ENGINE, 'status-line'], { env, input: LINE, encoding: 'utf8' })
  expect([run.status, run.signal, run.stderr]).toEqual([0, null, ''])
  return run.stdout
}
const kept = (): string[] => readdirSync(join(home, 'code')).map((name) => join(home, 'code', name))

test('compiled code is readable only for its user and used again', () => {
  const first = statusLine()
  expect(first).toContain('50%')
  expect(kept()).toHaveLength(1)
  expect([statSync(join(home, 'code')).mode & 0o777, statSync(kept()[0]!).mode & 0o777]).toEqual([0o700, 0o600])
  const { ino, mtimeMs } = statSync(kept()[0]!)
  expect(statusLine()).toBe(first)
  expect(statSync(kept()[0]!)).toMatchObject({ ino, mtimeMs })
})

test.each([
  ['cut off', (code: Buffer) => code.subarray(0, code.length - 1000)],
  ['empty', () => Buffer.alloc(0)],
  [
    'damaged in the middle',
    (code: Buffer) => Buffer.concat([code.subarray(0, 9000), Buffer.from('damage'), code.subarray(9006)]),
  ],
  ['of another Node', () => Buffer.alloc(4000, 7)],
])('compiled code that is %s is compiled again', (_, spoil) => {
  const first = statusLine()
  const [file] = kept()
  const good = readFileSync(file!)
  writeFileSync(file!, spoil(good))
  expect(statusLine()).toBe(first)
  expect(readFileSync(file!).length).toBeGreaterThan(10_000)
  expect(kept()).toEqual([file])
})
