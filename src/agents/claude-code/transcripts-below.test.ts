import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claudeCodeReader } from './reader.js'

test('links to folders are not followed, so that a folder which links to itself ends the search', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-below-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'shop'))
  const path = join(dir, 'shop', 'export.jsonl')
  writeFileSync(path, '{}\n')
  for (const name of ['again', 'shop/up']) symlinkSync(dir, join(dir, name))
  expect(claudeCodeReader.transcriptsBelow(dir).found.map((one) => one.path)).toEqual([path])
})
