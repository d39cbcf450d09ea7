import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Changes, watchChanges } from './changes.js'

let dir: string
let changes: Changes
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-changes-'))
})
afterEach(() => {
  changes.close()
  rmSync(dir, { recursive: true })
})

const timed = async (work: Promise<void>): Promise<number> => {
  const began = performance.now()
  await work
  return performance.now() - began
}

it('wakes soon after a change, and one that came while nobody slept counts too', async () => {
  changes = watchChanges([dir])
  const woken = timed(changes.next(20_000, 10))
  writeFileSync(join(dir, 'a'), '1')
  expect(await woken).toBeLessThan(5_000)
  writeFileSync(join(dir, 'a'), '2')
  expect(await timed(changes.next(20_000, 10))).toBeLessThan(5_000)
})

it('without a change sleeps its time, also where there is nothing to watch', async () => {
  changes = watchChanges([join(dir, 'none'), dir])
  expect(await timed(changes.next(120, 10))).toBeGreaterThan(100)
})
