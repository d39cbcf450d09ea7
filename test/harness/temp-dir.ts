import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes a folder for one test, removed after the test. */
export function tempDir(): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-test-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
