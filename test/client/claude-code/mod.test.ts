import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseLiveReport, readLiveReport } from '../../../src/agents/claude-code/live.js'
import { startModel } from '../../../src/model/model.js'
import type { ScriptInput } from '../../../src/model/script.js'
import { type Home, makeHome } from '../../harness/home.js'
import { clientBinary } from '../../harness/paths.js'
import { type PrintOptions, runPrint } from '../../harness/run-print.js'
import { startTui } from '../../harness/tui.js'
import { until } from '../../harness/wait.js'
import { putMod } from './put-mod.js'
import { startTape, type Tape, type TapedEvent } from './tape.js'

async function stage(script: ScriptInput): Promise<{ home: Home; tape: Tape; liveDir: string }> {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const liveDir = putMod(home)
  return { home, tape: startTape(home, liveDir), liveDir }
}

const report = (told: TapedEvent) =>
  told.live === null ? null : parseLiveReport(told.live, String(told.body.session_id))
const batches = (tape: Tape): TapedEvent[] =>
  tape.recorded().filter(({ event, body }) => event === 'PostToolBatch' && body.agent_id === undefined)

test('the client accepts the plugin module', () => {
  const home = makeHome()
  putMod(home)
  const said = execFileSync(clientBinary(), ['plugin', 'validate', path.join(home.configDir, 'skills', 'baton')], {
    env: home.env,
    encoding: 'utf8',
  })
  expect(said).toContain('Validation passed')
  expect(said).not.toMatch(/✘/)
})

test('the live report includes the answer that started a tool batch, and no subagent’s figures', async () => {
  const { home, tape } = await stage({
    steps: [
      { bash: ['echo a', 'echo b'], used: 50_008 },
      { agent: 'SUB work', used: 60_008 },
      { bash: 'echo c', used: 75_008 },
      'Done.',
    ],
    subagents: [{ steps: [{ bash: 'echo sub', used: 20_008 }, { bash: 'echo sub', used: 150_008 }, 'Sub done.'] }],
  })
  await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(batches(tape).map((told) => report(told)?.reading.used)).toEqual([50_008, 60_008, 75_008])
  const inside = tape.recorded().filter(({ body }) => body.agent_id !== undefined)
  expect(inside.length).toBeGreaterThan(0)
  expect(new Set(inside.map((told) => report(told)?.reading.used))).toEqual(new Set([60_008]))
  // Hooks of parallel tools read the report in any order; batches are sequential.
  const stamps = batches(tape).flatMap((told) => report(told)?.reading.stamp ?? [])
  expect(stamps).toEqual([...stamps].sort((a, b) => a - b))
})

test('the live report has no figure right after a compaction, then the new one, which stays at the end', async () => {
  const { home, tape, liveDir } = await stage({
    steps: [{ bash: 'echo a', used: 160_008 }, { bash: 'echo b', used: 169_008 }, 'Never said.'],
    after_compaction: [{ bash: 'echo c', used: 30_008 }, 'Done.'],
  })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(batches(tape).map((told) => report(told)?.reading.used)).toEqual([160_008, 169_008, 30_008])
  const last = JSON.parse(readFileSync(path.join(liveDir, `${run.sessionId}.json`), 'utf8'))
  expect(last).toMatchObject({ epoch: 1, problem: null })
  // The client exits without waiting for plugin modules, so the last answer's report may be
  // missing.
  expect([30_008, 31_008]).toContain(last.tokens)
  expect(last.cost).toBeGreaterThan(0)
})

const POINTS: [string, Omit<PrintOptions, 'prompt'>, Record<string, unknown>][] = [
  [
    'a 200k model',
    { model: 'claude-opus-4-6' },
    { window: 200_000, effective: 200_000, threshold: 167_000, by: 'model-default', enabled: true },
  ],
  [
    'a 200k model asked for with 1M',
    { model: 'claude-sonnet-4-5[1m]' },
    { window: 1_000_000, effective: 1_000_000, threshold: 967_000, by: 'auto', enabled: true },
  ],
  [
    'compaction switched off',
    { model: 'claude-opus-4-6', env: { DISABLE_AUTO_COMPACT: '1' } },
    { window: 200_000, effective: 200_000, threshold: null, by: 'model-default', enabled: false },
  ],
]

test.each(POINTS)('the live report has the client’s compaction point of %s', async (_, options, told) => {
  const { home, tape } = await stage({ steps: [{ bash: 'echo a', used: 50_008 }, 'Done.'] })
  await runPrint(home, { prompt: 'go', ...options })
  const [batch] = batches(tape)
  expect(report(batch!)?.told).toEqual(told)
  expect(report(batch!)?.model).toBe(options.model)
})

test('an interactive session’s live report exists at start, resets on /compact, is new on /clear', async () => {
  const { home, tape, liveDir } = await stage({
    steps: [{ bash: 'echo a', used: 50_008 }, 'Done.'],
    after_compaction: [{ bash: 'echo b', used: 30_008 }, 'Done again.'],
  })
  const live = (id: string) => readLiveReport(liveDir, id, null)
  const tui = await startTui(home, { model: 'claude-opus-4-6' })
  const first = tui.sessionId()!
  await until('the first report', () => live(first)?.told?.threshold === 167_000)
  expect(live(first)?.reading.used).toBeNull()

  await tui.submit('go')
  await until('the figure of the last answer', () => live(first)?.reading.used === 51_008)
  await tui.waitIdle()
  await tui.submit('/compact')
  await tape.waitFor('the compaction', (told) => told.some(({ event }) => event === 'PostCompact'))
  await until('the reset', () => live(first)?.reading.used === null)
  await tui.waitIdle()
  await tui.submit('go on')
  await until('the figure after the compaction', () => live(first)?.reading.used === 31_008)
  await tui.waitIdle()

  await tui.submit('/clear')
  await tape.waitFor('the clear', (told) => told.some(({ body }) => body.source === 'clear'))
  const second = String(tape.recorded().find(({ body }) => body.source === 'clear')!.body.session_id)
  const reading = await until('the report of the new session', () => live(second)?.reading)
  expect(reading.used).toBeNull()
  expect(live(second)?.told?.threshold).toBe(167_000)
  await tui.submit('again')
  await until('the figure of the new session', () => live(second)?.reading.used === 51_008)
  expect(live(first)?.reading.used).toBe(31_008)
})

test('the live report of a resumed session exists before its first answer', async () => {
  const { home, liveDir } = await stage({ steps: [{ bash: 'echo a', used: 50_008 }, 'Done.'] })
  const { sessionId } = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  const file = path.join(liveDir, `${sessionId}.json`)
  const before = JSON.parse(readFileSync(file, 'utf8'))
  await startTui(home, { model: 'claude-opus-4-6', args: ['--resume', sessionId!] })
  const after = await until('a newer report', () => {
    const now = JSON.parse(readFileSync(file, 'utf8'))
    return now.at > before.at ? now : null
  })
  expect(after).toMatchObject({ tokens: 51_008, window: 200_000, compaction: { threshold: 167_000 } })
})

test('the live report has a changed model with the next turn', async () => {
  const { home, liveDir } = await stage({
    steps: [{ bash: 'echo a', used: 50_008 }, 'Done.', { bash: 'echo b', used: 60_008 }, 'Done.'],
  })
  const live = (id: string) => readLiveReport(liveDir, id, null)
  const tui = await startTui(home, { model: 'claude-opus-4-6' })
  const id = tui.sessionId()!
  await tui.submit('go')
  await until('the first figure', () => live(id)?.reading.used === 51_008)
  await tui.waitIdle()
  await tui.submit('/model claude-opus-4-8')
  await tui.waitFor(/Switch model\?/)
  await tui.key('Enter')
  await tui.waitFor(/Set model to Opus 4\.8/)
  await tui.submit('go on')
  await until('the new window', () => live(id)?.told?.threshold === 967_000)
  expect(live(id)).toMatchObject({ model: 'claude-opus-4-8', told: { window: 1_000_000, effective: 1_000_000 } })
})
