import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import {
  FIRST_RECOVERY as FIRST,
  SECOND_RECOVERY as SECOND,
  SUMMARY_INSTRUCTIONS,
} from '../../src/compaction/recovery.js'
import { countOccurrences, visibleTexts } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import { runPrint } from '../harness/run-print.js'
import { mainRequests, type Stage, stage } from '../harness/stage.js'

const PROMPT = 'Fix the login. Never touch the file legacy/auth.ts, and keep the public API as it is.'

const AFTER: ScriptInput['after_compaction'] = [
  { bash: 'echo d', used: 30_008 },
  { bash: 'echo e', used: 31_008 },
  { text: 'Done.', used: 32_008 },
]

interface Archive {
  archive_id: string
  session_id: string
  trigger: string
  bytes: number
  status: string
}

const counts = (it: Stage, words: string): number[] =>
  mainRequests(it.model)
    .filter((entry) => entry.cycle === 1)
    .map((entry) => countOccurrences(entry, words))

/** Checks that the archive holds exactly the transcript as it was before the compaction. */
async function expectArchive(it: Stage, trigger: string): Promise<void> {
  const { archives } = await it.ask<{ archives: Archive[] }>('archive', 'list')
  expect(archives).toMatchObject([{ trigger, status: 'kept' }])
  const { archive_id: id, bytes, session_id: session } = archives[0]!
  const to = path.join(it.home.project, 'restored.jsonl')
  await it.json('archive', 'restore', id, '--to', to)
  const restored = readFileSync(to)
  expect(restored.length).toBe(bytes)
  expect(Buffer.from(it.home.transcript(session)!).subarray(0, bytes).equals(restored)).toBe(true)
  expect(restored.toString()).not.toContain('compact_boundary')
  expect(await it.events('archive_created')).toMatchObject([{ data: { archive_id: id } }])
}

test('the transcript is archived before a compaction, and lost facts are restored after it', async () => {
  const it = await stage({
    steps: [
      { bash: 'echo a > made.txt', used: 100_008 },
      { bash: 'git status --short', used: 150_008 },
      { bash: 'echo c', used: 169_008 },
      'Never said.',
    ],
    summary: 'The user wants the login fixed.',
    after_compaction: AFTER,
  })
  const run = await runPrint(it.home, { prompt: PROMPT, model: 'claude-opus-4-6' })
  expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
  await expectArchive(it, 'auto')

  const asked = it.model.log().find((entry) => entry.kind === 'compaction')!
  const instructed = visibleTexts(asked).join('\n')
  expect(instructed.split(/Additional Instructions:\s+/)[1]?.startsWith(SUMMARY_INSTRUCTIONS)).toBe(true)
  expect(instructed).toContain('Never touch the file legacy/auth.ts')

  const first = counts(it, FIRST)
  expect(first.length).toBeGreaterThan(1)
  expect(first).toEqual(first.map(() => 1))
  expect(counts(it, SECOND).every((n) => n <= 1)).toBe(true)
  const told = visibleTexts(mainRequests(it.model).find((entry) => entry.cycle === 1)!).join('\n')
  expect(told).toContain(`> ${PROMPT}`)

  const [report, ...more] = await it.events('loss_report')
  expect(more).toEqual([])
  expect(report!.data.facts).toBeGreaterThan(report!.data.facts_kept as number)
  expect((report!.data.lost as { text: string }[]).map((fact) => fact.text).join('\n')).toContain('legacy/auth.ts')
  expect((await it.events('recovery_delivered')).filter((event) => event.data.step === 1)).toHaveLength(1)
  const shown = (await it.show(run.sessionId!)) as unknown as { losses: unknown[]; archives: unknown[] }
  expect(shown.losses).toHaveLength(1)
  expect(shown.archives).toHaveLength(1)
})
