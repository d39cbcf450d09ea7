import { expect, test } from 'vitest'
import type { CompactionMode } from '../../src/contract/reading.js'
import { countOccurrences } from '../../src/model/log.js'
import { COMPACTION_TEXTS } from '../../src/policy/texts.js'
import { type PrintOptions, runPrint } from '../harness/run-print.js'
import { mainRequests, stage, words } from '../harness/stage.js'

interface Case {
  run: Omit<PrintOptions, 'prompt'>
  settings?: Record<string, unknown>
  window: number
  point: number
  mode: CompactionMode
}

/** A case of each kind; test/client/claude-code/limits.test.ts compares all with the client. */
const CASES: [string, Case][] = [
  [
    'a model asked for with 1M',
    {
      run: { model: 'claude-sonnet-4-5[1m]' },
      window: 1_000_000,
      point: 967_000,
      mode: 'reactive',
    },
  ],
  [
    '--autocompact',
    {
      run: { model: 'claude-opus-4-6', args: ['--autocompact', '100000'] },
      window: 200_000,
      point: 67_000,
      mode: 'proactive',
    },
  ],
  [
    'compaction off in the settings',
    {
      run: { model: 'claude-opus-4-6' },
      settings: { autoCompactEnabled: false },
      window: 200_000,
      point: 177_000,
      mode: 'off',
    },
  ],
]

test.each(CASES)(
  'with %s, context window and compaction point equal the client’s without the plugin module',
  async (_, { run, settings, window, point, mode }) => {
    const used = Math.round(point * 0.6)
    const it = await stage(
      { steps: [{ bash: 'echo a', used, grow: 1, repeat: 4 }, 'Done.'] },
      { mod: false, config: 'presets: [full-window]\nhandoff: {mode: off}\n', ...(settings ? { settings } : {}) },
    )
    const { result } = await runPrint(it.home, { prompt: 'go', ...run })
    expect(result).toMatchObject({ result: 'Done.', is_error: false })
    const session = await it.session()
    expect(session).toMatchObject({
      window_tokens: window,
      compaction_tokens: point,
      compaction_mode: mode,
      exact: false,
      level: 'notice',
    })
    expect(session.used_percent).toBeCloseTo((session.used_tokens! / window) * 100, 0)
    expect(session.compaction_percent).toBeCloseTo((session.used_tokens! / point) * 100, 0)
    const last = mainRequests(it.model).at(-1)!
    expect(words(last, /Context level "notice"/g)).toHaveLength(1)
    expect(countOccurrences(last, COMPACTION_TEXTS[mode])).toBe(1)
    expect(countOccurrences(last, 'the refusal point')).toBe(mode === 'off' ? 1 : 0)
    const told = `(about ${String(point).replace(/(\d)(\d{3})$/, '$1,$2')})`
    expect(words(last, /\((about )?\d+,\d{3}\)/g)).toEqual([told])
  },
)
