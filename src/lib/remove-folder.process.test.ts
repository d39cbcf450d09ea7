import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeFolder } from './remove-folder.js'

test('a folder is removed completely while another process still writes into it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-remove-'))
  const writes = `const fs = require('node:fs')
    console.log('on')
    const folder = ${JSON.stringify(folder)} + '/a/b'
    for (let n = 0; n < 500; n++)
      try { fs.mkdirSync(folder, { recursive: true }); fs.writeFileSync(folder + '/' + n, '') } catch {}`
  const writer = spawn(process.execPath, ['-e', writes], { stdio: ['ignore', 'pipe', 'ignore'] })
  const gone = once(writer, 'close')
  await once(writer.stdout, 'data')
  removeFolder(join(folder, 'a'))
  await gone
  removeFolder(folder)
  expect(existsSync(folder)).toBe(false)
})

test('removing a folder that does not exist succeeds', () => removeFolder(join(tmpdir(), 'baton-never-was')))
