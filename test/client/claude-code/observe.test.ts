import { copyFileSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claudeCode } from '../../../src/agents/claude-code/claude-code.js'
import type { Signal, TranscriptEvent } from '../../../src/contract/signal.js'
import { startModel } from '../../../src/model/model.js'
import type { ScriptInput } from '../../../src/model/script.js'
import { makeHome } from '../../harness/home.js'
import { type PrintOptions, runPrint } from '../../harness/run-print.js'
import { startTape } from './tape.js'

interface Look {
  signal: Signal
  settled: boolean
  observed: TranscriptEvent[]
}

/** Runs the real client, then replays every event with its transcript of that moment. */
async function looks(script: ScriptInput, options: PrintOptions): Promise<Look[]> {
  const model = await startModel({ script: { delay_ms: 150, ...script } })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const tape = startTape(home, path.join(home.dir, 'none'))
  await runPrint(home, options)
  const at = path.join(home.dir, 'then', 's.jsonl')
  mkdirSync(path.dirname(at))
  let cursor = null
  let size = 0
  const found: Look[] = []
  for (const told of tape.recorded()) {
    // Hooks of one event run in parallel, so a copy may be older than the previous one.
    if (told.transcript !== null && statSync(told.transcript).size > size) {
      size = statSync(told.transcript).size
      copyFileSync(told.transcript, at)
    }
    const body = JSON.stringify({ ...told.body, transcript_path: at })
    const raw = { agent: 'claude-code', kind: told.event, body, env: {}, at: 0 }
    const signal = claudeCode.open(raw)!
    const seen = claudeCode.observe(signal, raw, {
      cursor,
      subagentCursors: {},
      model: null,
      window: null,
      process: null,
      liveDir: null,
    })
    cursor = seen.cursor ?? cursor
    found.push({ signal, settled: seen.settled, observed: seen.observed })
  }
  return found
}

const figures = (observed: TranscriptEvent[]) =>
  observed.map((one) => (one.type === 'answer' ? one.reading.used : one.type))

test('six requests up to 125,008 tokens are each observed once, whatever their answers contain', async () => {
  const found = await looks(
    {
      steps: [
        { thinking: 'Let me see.', text: 'I look.', bash: ['echo a', 'echo b', 'echo c'], used: 50_008 },
        { bash: 'echo {{n}}', used: 65_008, grow: 15_000, repeat: 4 },
        { text: 'Done.', used: 125_008 },
      ],
    },
    { prompt: 'go', model: 'claude-sonnet-4-5' },
  )
  const all = found.flatMap(({ observed }) => observed)
  const expected = [50_008, 65_008, 80_008, 95_008, 110_008, 125_008]
  expect(expected.slice(0, figures(all).length)).toEqual(figures(all))
  expect(figures(all).length).toBeGreaterThanOrEqual(5)
})

test('a settled tool batch includes its own answer, and any other batch is marked as unsettled', async () => {
  const steps = Array.from({ length: 8 }, (_, i) => ({ bash: `echo ${i}`, used: 20_008 + i * 1_000 }))
  const found = await looks({ steps: [...steps, 'Done.'] }, { prompt: 'go', model: 'claude-opus-4-6' })
  let seen = 0
  let batch = 0
  for (const { signal, settled, observed } of found) {
    seen += observed.filter(({ type }) => type === 'answer').length
    if (signal.event !== 'PostToolBatch') continue
    batch++
    expect(settled).toBe(seen >= batch)
  }
  expect(batch).toBe(8)
  expect(found.some(({ signal, settled }) => signal.event === 'PostToolBatch' && settled)).toBe(true)
})

test('a compaction is observed once, between the readings before and after it', async () => {
  const found = await looks(
    {
      steps: [{ bash: 'echo a', used: 160_008 }, { bash: 'echo b', used: 169_008 }, 'Never said.'],
      after_compaction: [{ bash: 'echo c', used: 30_008 }, { bash: 'echo d', used: 35_008 }, 'Done.'],
    },
    { prompt: 'go', model: 'claude-opus-4-6' },
  )
  const all = figures(found.flatMap(({ observed }) => observed))
  expect([160_008, 169_008, 'compaction', 30_008, 35_008, 36_008].slice(0, all.length)).toEqual(all)
  expect(all).toContain('compaction')
})
