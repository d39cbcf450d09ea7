import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type FolderWatch, watchFolders } from './changes.js'

let dir: string
let changes: FolderWatch
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-changes-'))
})
afterEach(() => {
  vi.useRealTimers()
  changes.close()
  rmSync(dir, { recursive: true })
})

test('a watcher wakes after a change, also after one that occurred while nobody waited', async () => {
  changes = watchFolders([dir])
  const woken = changes.next(10 * 60_000, 10)
  writeFileSync(join(dir, 'a'), '1')
  await woken
  writeFileSync(join(dir, 'a'), '2')
  await changes.next(10 * 60_000, 10)
})

test('without a change a watcher waits for its whole time, also when no folder can be watched', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  changes = watchFolders([join(dir, 'none'), dir])
  let isOver = false
  const slept = changes.next(120, 10).then(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(119)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await slept
})
