import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { recordingListener } from '../../../jobs/runtimes/recorded-session.cases.js'
import { cliRuntime } from './cli-runtime.js'
import { findSdk, openSdkRuntime } from './sdk-runtime.js'

function project(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-sdk-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function brokenSdk(dir: string): void {
  const folder = join(dir, 'node_modules', '@anthropic-ai', 'claude-agent-sdk')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    '{"name":"@anthropic-ai/claude-agent-sdk","exports":"./sdk.mjs","type":"module"}',
  )
  writeFileSync(join(folder, 'sdk.mjs'), 'throw new Error("made for another Node")')
}

test('the SDK of the user’s project is preferred to Baton’s own', async () => {
  const dir = project()
  expect(findSdk(dir)).toMatch(/claude-agent-sdk/)
  brokenSdk(dir)
  expect(findSdk(dir)).toContain(dir)
})

test('an SDK that cannot be loaded is reported with the next step, and nothing is started', async () => {
  const dir = project()
  brokenSdk(dir)
  const runtime = await openSdkRuntime({ project: dir, binary: null })
  expect(runtime.missing()).toMatch(/made for another Node.*npm install @anthropic-ai\/claude-agent-sdk/)
  expect(() => runtime.start({} as never, recordingListener())).toThrow('made for another Node')
})

test('a missing client is reported with the next step', () => {
  expect(cliRuntime({ binary: null }).missing()).toMatch(/claude-code/)
  expect(cliRuntime({ binary: join(project(), 'claude') }).missing()).toMatch(/is not executable/)
  expect(cliRuntime({ binary: process.execPath }).missing()).toBeNull()
})
