import { expect, test } from 'vitest'
import type { ScriptInput } from '../../src/model/script.js'
import { type PrintRun, runPrint } from '../harness/run-print.js'
import { countWarnings, LEVELS, mainRequests, PAIRS, type Stage, stage } from '../harness/stage.js'

const MODEL = 'claude-opus-4-6'

/** Returns the texts that `-p` shows the user, in order. */
const shown = (run: PrintRun): string[] =>
  run.messages.flatMap((m) =>
    m.subtype === 'informational' && String(m.content).includes('[baton]') ? [String(m.content)] : [],
  )

/** Builds one answer per figure, of which the last ends the turn. */
const climb = (...figures: number[]): ScriptInput => ({
  steps: figures.map((used, i) => (i < figures.length - 1 ? { bash: `echo ${i}`, used } : { text: 'Done.', used })),
})

function expectOnce(it: Stage, level: string, crossedBy: number): void {
  const counts = countWarnings(it.model, level)
  const first = counts.indexOf(1)
  expect([level, counts]).toEqual([level, counts.map((_, i) => (i < first ? 0 : 1))])
  expect(first, `${level} in ${counts}`).toBeGreaterThan(crossedBy)
  expect(first, `${level} in ${counts}`).toBeLessThanOrEqual(crossedBy + 2)
}

test.each(PAIRS)(
  'each level is reported once, at most two tool batches after the answer that crossed it: %s',
  async (_, how) => {
    const figures = [
      60_008, 70_008, 84_008, 90_008, 95_008, 118_008, 120_008, 125_008, 143_008, 146_008, 150_008, 159_008, 160_008,
      161_008, 162_008,
    ]
    const it = await stage(climb(...figures), how)
    const run = await runPrint(it.home, { prompt: 'go', model: MODEL })
    expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
    expect(mainRequests(it.model)).toHaveLength(figures.length)
    for (const [level, figure] of [
      ['notice', 84_008],
      ['warning', 118_008],
      ['handoff', 143_008],
      ['critical', 159_008],
    ] as const)
      expectOnce(it, level, figures.indexOf(figure))
    expect(shown(run).map((line) => LEVELS.find((level) => line.includes(`[baton] ${level}: `)))).toEqual([...LEVELS])
    expect((await it.events('level_crossed')).map((event) => event.data.level)).toEqual([...LEVELS])
    const warnings = await it.events('context_warning')
    expect(warnings.map((event) => event.data.levels)).toEqual(LEVELS.map((level) => [level]))
    for (const { data } of warnings)
      expect(data).toMatchObject({ inputTokens: 8, cacheTokens: Number(data.usedTokens) - 8 })
    expect((await it.messages()).map((m) => [m.status, m.repeated])).toEqual(LEVELS.map(() => ['delivered', false]))
    expect(await it.session()).toMatchObject({ level: 'critical', used_tokens: 162_008 })
  },
)

test('a level that a turn’s last answer reached is reported once with the next prompt', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 50_008 },
        { text: 'Done.', used: 90_008 },
        { bash: 'echo b', used: 91_008 },
        { text: 'Done again.', used: 92_008 },
        { text: 'And again.', used: 93_008 },
      ],
    },
    { mod: true, server: false },
  )
  const first = await runPrint(it.home, { prompt: 'go', model: MODEL })
  expect(first.result).toMatchObject({ result: 'Done.', num_turns: 2 })
  expect(countWarnings(it.model, 'notice')).toEqual([0, 0])
  expect((await it.events('level_crossed')).map((event) => event.data.level)).toEqual(['notice'])
  expect(await it.messages()).toMatchObject([{ status: 'queued', category: 'context' }])

  const second = await runPrint(it.home, { prompt: 'again', model: MODEL, args: ['--resume', first.sessionId!] })
  expect(second.result).toMatchObject({ result: 'Done again.' })
  expect(countWarnings(it.model, 'notice')).toEqual([0, 0, 1, 1])
  await runPrint(it.home, { prompt: 'once more', model: MODEL, args: ['--resume', first.sessionId!] })
  expect(countWarnings(it.model, 'notice')).toEqual([0, 0, 1, 1, 1])
  // With `-p` the client stores the output of SessionStart hooks without printing it.
  const kept = it.home.transcript(first.sessionId!)!.split('"type":"hook_system_message","content":"[baton] notice: ')
  expect(kept).toHaveLength(2)
  expect(await it.events('context_warning')).toHaveLength(1)
  expect(await it.messages()).toMatchObject([{ status: 'delivered', repeated: false }])
})
