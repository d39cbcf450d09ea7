import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LibraryHome, libraryHome } from './fixtures/library-home.js'

const folder = mkdtempSync(join(tmpdir(), 'baton-test-library-'))
const program = join(folder, 'child.mjs')
beforeAll(async () => {
  await build({
    entryPoints: [join(import.meta.dirname, 'fixtures', 'child.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@photostructure/sqlite'],
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
    logLevel: 'error',
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Run {
  sessions: string[]
  updates: number
  from: number
  step: number
  pauseMs?: number
}

interface Line {
  session: string
  crossed: string[]
}

function start(
  home: LibraryHome,
  run: Run,
): { child: ChildProcess; lines: Line[]; ended: Promise<number | null>; errors: () => string } {
  const child = spawn(process.execPath, [program, JSON.stringify({ home: home.home, ...run })], {
    cwd: home.project,
    env: { HOME: home.env.HOME, NODE_PATH: join(import.meta.dirname, '..', '..', 'node_modules') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: Line[] = []
  let rest = ''
  let errors = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop()!
    for (const part of parts) if (part.startsWith('{')) lines.push(JSON.parse(part))
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  return { child, lines, ended: once(child, 'close').then(([code]) => code as number | null), errors: () => errors }
}

const LEVELS = ['notice', 'warning', 'handoff', 'critical']

test('eight processes with 20 updates each count every answer, cross levels once and leave no files', async () => {
  const home = libraryHome()
  const runs = Array.from({ length: 8 }, (_, n) =>
    start(home, { sessions: ['one'], updates: 20, from: 10_000 + n, step: 8_000, pauseMs: 300 }),
  )
  for (const run of runs) expect({ code: await run.ended, errors: run.errors() }).toEqual({ code: 0, errors: '' })

  const record = home.look((store) => store.session('one'))!
  const read = runs
    .flatMap((_, n) => Array.from({ length: 20 }, (_, i) => 10_000 + n + i * 8_000))
    .reduce((sum, n) => sum + n, 0)
  expect(record.spend).toEqual({ input: 1280, output: 480, cacheCreation: 320, cacheRead: read, answers: 160 })

  const events = home.look((store) => store.events({ sessionId: 'one' }))
  const crossings = events.filter((event) => event.type === 'level_crossed').map((event) => event.data.level)
  expect(crossings).toEqual(LEVELS)
  expect(events.filter((event) => event.type === 'session_started')).toHaveLength(1)
  expect(events.filter((event) => event.type === 'context_warning').length).toBeLessThanOrEqual(LEVELS.length)
  expect(runs.flatMap((run) => run.lines.flatMap((line) => line.crossed)).sort()).toEqual([...LEVELS].sort())
  expect(home.files().filter((name) => !/^(baton\.db(-wal|-shm)?|run)$/.test(name))).toEqual([])
})

test('two sessions updated by the same processes do not affect each other', async () => {
  const home = libraryHome()
  const both = ['low', 'high']
  const runs = [
    start(home, { sessions: both, updates: 30, from: 20_000, step: 100 }),
    start(home, { sessions: ['high'], updates: 30, from: 120_000, step: 100 }),
  ]
  for (const run of runs) expect(await run.ended).toBe(0)
  const [low, high] = home.look((store) => both.map((id) => store.session(id)!))
  expect([low!.spend.answers, high!.spend.answers]).toEqual([30, 60])
  expect([low!.track.latched.length, high!.track.latched.map((latch) => latch.name)]).toEqual([
    0,
    ['notice', 'warning'],
  ])
  expect(low!.seatId).not.toBe(high!.seatId)
})

test('a killed process leaves a store that opens and has every update it confirmed', async () => {
  const home = libraryHome()
  let confirmed = 0
  for (let round = 0; round < 3; round++) {
    const run = start(home, { sessions: ['killed'], updates: 100_000, from: 1_000, step: 1 })
    while (run.lines.length < 5 + round * 14) await new Promise((resolve) => setTimeout(resolve, 1 + round))
    run.child.kill('SIGKILL')
    await run.ended
    confirmed += run.lines.length
    const answers = home.open({ session: 'killed' }).currentState().answers
    expect(answers).toBeGreaterThanOrEqual(confirmed)
    // The last update may have been stored but not yet printed.
    expect(answers).toBeLessThanOrEqual(confirmed + 1)
    confirmed = answers
  }
})

test('20 concurrent calls in one process all count, through one tracker and through 20', async () => {
  const home = libraryHome()
  const shared = home.open()
  const calls = Array.from({ length: 20 }, (_, i) => i)
  const usage = (i: number) => ({ input_tokens: 100_000 + i, output_tokens: 1 })
  const first = await Promise.all(calls.map(async (i) => shared.updateUsage(usage(i))))
  const second = await Promise.all(calls.map(async (i) => home.open().updateUsage(usage(i))))
  expect(shared.currentState()).toMatchObject({
    answers: 40,
    cumulative_output_tokens: 40,
    cumulative_input_tokens: 40 * 100_000 + 2 * 190,
  })
  expect([...first, ...second].flatMap((state) => state.crossed)).toEqual(['notice'])
})
