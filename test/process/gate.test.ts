import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { transformSync } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { faultGate } from '../harness/gate.js'
import { REPOSITORY } from '../harness/paths.js'
import { tempDir } from '../harness/temp-dir.js'

test('a process is held at a fault point until the test releases it or removes the gate', async () => {
  const gate = faultGate(tempDir(), 'ARCHIVE_SEGMENT')
  const module = readFileSync(path.join(REPOSITORY, 'src', 'lib', 'fault-point.ts'), 'utf8')
  const { code } = transformSync(`${module}\nfaultPoint('ARCHIVE_SEGMENT')`, { loader: 'ts' })
  const start = () => {
    const args = ['--input-type=module', '--eval', code]
    const child = spawn(process.execPath, args, { env: { ...process.env, ...gate.env }, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    return { child, status: once(child, 'exit').then(([status]) => status as number) }
  }
  expect(gate.isReached()).toBe(false)
  const first = start()
  await gate.reached()
  expect(first.child.exitCode).toBeNull()
  gate.pass()
  expect(await first.status).toBe(0)
  expect(gate.isReached()).toBe(false)
  gate.open()
  expect(await start().status).toBe(0)
})
