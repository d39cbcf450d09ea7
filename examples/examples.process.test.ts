import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const run = promisify(execFile)

/** Makes a project that has the package installed. */
const consumer = mkdtempSync(join(tmpdir(), 'baton-test-consumer-'))
beforeAll(() => {
  const installed = join(consumer, 'node_modules', 'baton-cli')
  mkdirSync(installed, { recursive: true })
  copyFileSync(join(ROOT, 'package.json'), join(installed, 'package.json'))
  cpSync(join(ROOT, 'dist'), join(installed, 'dist'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules', '@photostructure'), join(consumer, 'node_modules', '@photostructure'))
})
afterAll(() => rmSync(consumer, { recursive: true, force: true }))

/** Runs a program of that project in a temporary home, without this process's environment. */
async function output(name: string, source: string): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'baton-test-example-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const path = join(consumer, name)
  writeFileSync(path, source)
  const env = { HOME: home, TMPDIR: home, BATON_HOME: join(home, 'baton') }
  const { stdout, stderr } = await run(process.execPath, [path], { cwd: home, env })
  expect(stderr).toBe('')
  return stdout.trim()
}

/** Returns the expected output of an example, from the comment after its last line. */
function promised(source: string): string {
  const [, comment] = source.split('// Prints:\n')
  return (comment ?? '').replace(/^\/\/ ?/gm, '').trim()
}

const examples = readdirSync(import.meta.dirname).filter((name) => /^\d\d-.*\.mjs$/.test(name))

test('the examples are numbered without a gap', () => {
  expect(examples.map((name) => Number(name.slice(0, 2)))).toEqual(examples.map((_, index) => index + 1))
  expect(examples.length).toBeGreaterThanOrEqual(8)
})

test.each(examples)('%s prints what it says', async (name) => {
  const source = readFileSync(join(import.meta.dirname, name), 'utf8')
  expect(promised(source)).not.toBe('')
  expect(await output(name, source)).toBe(promised(source))
})

const page = readFileSync(join(ROOT, 'docs', 'reference', 'library.md'), 'utf8')
const blocks = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, source]) => source!)

test.each(blocks.map((source, index) => [`block-${index + 1}.mjs`, source]))(
  '%s of the library page prints what it says',
  async (name, source) => {
    expect(await output(name!, source!)).toBe(promised(source!))
  },
)

test('the library page shows every call and every figure', () => {
  const calls = [
    'open',
    'updateUsage',
    'observe',
    'checkThresholds',
    'shouldAutoPause',
    'currentState',
    'usageSummary',
    'resetSession',
    'configProblems',
    'close',
  ]
  for (const call of calls)
    expect(
      blocks.some((source) => source.includes(`.${call}(`)),
      call,
    ).toBe(true)
  const types = readFileSync(join(ROOT, 'src', 'library', 'usage-state.ts'), 'utf8')
  const figures = [...types.matchAll(/^ {2}(\w+)\??: /gm)].map(([, name]) => name!)
  expect(figures.length).toBeGreaterThan(25)
  for (const figure of new Set(figures)) expect(page, figure).toContain(`\`${figure}\``)
})
