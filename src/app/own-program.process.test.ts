import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { alive } from '../../test/harness/processes.js'
import { until } from '../../test/harness/wait.js'
import { ownCommand } from './own-program.js'

test('running and queued commands of a server end with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-own-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'slow.mjs')
  writeFileSync(
    program,
    "import { writeFileSync } from 'node:fs'\nwriteFileSync(process.argv[2], String(process.pid))\n" +
      'setTimeout(() => {}, 30_000)\n',
  )
  const ending = new AbortController()
  const command = ownCommand({ program, env: process.env, cwd: folder, ending: ending.signal })
  const files = ['a', 'b', 'c', 'd'].map((name) => join(folder, name))
  const asked = files.map((file) => command([file]).then(String, String))
  const begun = files.slice(0, 3)
  await until('three that run', () => begun.every((file) => existsSync(file) && readFileSync(file, 'utf8') !== ''))
  const pids = begun.map((file) => Number(readFileSync(file, 'utf8')))
  ending.abort()
  for (const said of await Promise.all(asked)) expect(said).toContain('the server was stopped')
  expect(pids.filter(alive)).toEqual([])
  expect(existsSync(files[3]!)).toBe(false)
})
