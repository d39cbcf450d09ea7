import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const consumer = mkdtempSync(join(tmpdir(), 'baton-test-types-'))
const installed = join(consumer, 'node_modules', 'baton-cli')

/** Makes a project that installed the package's manifest and declarations, without Node's types. */
beforeAll(() => {
  mkdirSync(installed, { recursive: true })
  copyFileSync(join(ROOT, 'package.json'), join(installed, 'package.json'))
  cpSync(join(ROOT, 'dist', 'types'), join(installed, 'dist', 'types'), { recursive: true })
  // The declarations of events refer to valibot, which npm installs with the package.
  symlinkSync(join(ROOT, 'node_modules', 'valibot'), join(consumer, 'node_modules', 'valibot'))
  writeFileSync(join(consumer, 'package.json'), '{"type":"module"}')
})
afterAll(() => rmSync(consumer, { recursive: true, force: true }))

const PROGRAM = `
    import { BatonError, isEvent, Tracker, type AnswerUsage, type Archive, type Event, type SessionForecast,
      type WrittenBrief, type ConfigProblem, type TrackerOptions, type UsageState, type UsageSummary,
      type UsageUpdate } from 'baton-cli'
    const options: TrackerOptions = { home: '/h', session: 's', project: '/p', model: 'm', window: 200_000,
      compaction: 150_000, seat: 'a', env: { A: undefined } }
    const tracker: Tracker = Tracker.open(options)
    const usage: AnswerUsage = { input_tokens: 1, output_tokens: 2, cache_creation: 3, cache_read: 4, answer_id: 'x' }
    const update: UsageUpdate = tracker.updateUsage(usage)
    const crossed: string[] = update.crossed
    const level: string | null = tracker.checkThresholds()
    const pause: boolean = tracker.shouldAutoPause()
    const state: UsageState = tracker.currentState()
    const used: number | null = state.used_tokens
    const summary: UsageSummary = tracker.usageSummary()
    const spent: number = summary.breakdown.cache_read_tokens
    const fresh: UsageState = tracker.resetSession('t')
    const seen: UsageUpdate = tracker.observe({ type: 'assistant' } as unknown)
    const problems: ConfigProblem[] = tracker.configProblems()
    const id: string = tracker.sessionId
    const archive: Archive = tracker.archive('s')
    const brief: WrittenBrief = tracker.writeBrief('s', { reason: 'late' })
    const forecast: SessionForecast = tracker.forecast()
    const earlier: string | null = tracker.checkThresholds(state)
    declare const line: unknown
    if (isEvent(line, 'compaction_complete')) {
      const outcome: 'completed' | 'failed' | 'blocked' | 'thrashing' | 'unknown' = line.data.outcome
      console.log(outcome)
    }
    function say(event: Event): string | null {
      switch (event.type) {
        case 'level_crossed':
          return event.data.level
        case 'job_waiting':
          return event.data.until
        default:
          return event.at
      }
    }
    const hint: string = new BatonError('a', 'b').hint
    tracker.close()
    declare const console: { log(text: string): void }
    export { archive, brief, crossed, earlier, forecast, say, fresh, hint, id, level, pause, problems, seen, spent,
      used }
    // the usage object of the API, as its own package types it
    declare const api: { input_tokens: number; output_tokens: number; cache_creation_input_tokens: number | null;
      cache_read_input_tokens: number | null; cache_creation: { ephemeral_5m_input_tokens: number } | null }
    tracker.updateUsage(api)
  `

/** Calls with wrong arguments, each with its error. */
const WRONG: [line: string, error: string][] = [
  ['Tracker.open().updateUsage({ input_tokens: 1 })', "Property 'output_tokens' is missing"],
  ["Tracker.open().updateUsage({ input_tokens: '1', output_tokens: 1 })", "Type 'string' is not assignable"],
  ["Tracker.open({ sesion: 's' })", "'sesion' does not exist"],
  [
    'const used: number = Tracker.open().currentState().used_tokens; export { used }',
    "Type 'number | null' is not assignable",
  ],
  [
    "import { isEvent } from 'baton-cli'; declare const e: unknown; if (isEvent(e, 'reading')) e.data.level.length",
    "of type 'unknown'",
  ],
  ["import('baton-cli/dist/index.mjs')", "Cannot find module 'baton-cli/dist/index.mjs'"],
]

/** The errors of all programs below, which are compiled together. */
let errors: string[]
beforeAll(() => {
  const sources: Record<string, string> = { 'program.ts': PROGRAM }
  for (const [n, [line]] of WRONG.entries())
    sources[`wrong-${n}.ts`] = `import { Tracker } from 'baton-cli'\n${line}\nexport { Tracker }\n`
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(consumer, name), source)
  const flags = [
    '--strict',
    '--noEmit',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--types',
    '',
    '--skipLibCheck',
    'false',
  ]
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const run = spawnSync(process.execPath, [tsc, ...flags, ...Object.keys(sources)], { cwd: consumer, encoding: 'utf8' })
  errors = run.stdout.split('\n').filter(Boolean)
})

test('a TypeScript program that uses every call compiles against the declarations', () => {
  expect(errors.filter((line) => !/^(wrong-\d+\.ts| )/.test(line))).toEqual([])
})

test('a call with wrong arguments does not compile against the declarations', () => {
  const found = WRONG.map((_, n) => errors.find((line) => line.startsWith(`wrong-${n}.ts(2,`)) ?? '')
  for (const [n, [, error]] of WRONG.entries()) expect(found[n]).toContain(error)
})
