import { expect, test } from 'vitest'
import { countOccurrences, visibleTexts } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import { counts, expectWhole, FIRST, pairsOf, SECOND, settledArchives } from '../harness/compactions.js'
import { runPrint } from '../harness/run-print.js'
import { PAIRS, type Stage, stage } from '../harness/stage.js'

const MODEL = 'claude-opus-4-6'
const PROMPT = 'Fix the login. Never touch the file legacy/auth.ts, and keep the public API as it is.'
/** More rules than fit into the first recovery message. */
const RULES = Array.from(
  { length: 150 },
  (_, n) => `Never edit module-${n}/generated/schema.ts, it is made by tool number ${n}.`,
).join('\n')

const CLIMB: ScriptInput = {
  steps: [
    { bash: 'echo a > made.txt', used: 100_008 },
    { bash: 'git status --short', used: 150_008 },
    { bash: 'echo c', used: 169_008 },
    'Never said.',
  ],
  summary: 'The user wants the login fixed.',
  after_compaction: [
    { bash: 'echo d', used: 30_008 },
    { bash: 'echo e', used: 31_008 },
    { bash: 'echo f', used: 32_008 },
    { text: 'Done.', used: 33_008 },
  ],
}

test.each(PAIRS)(
  'facts that neither the summary nor the first recovery message holds are restored once: %s',
  async (_, how) => {
    const it = await stage({ ...CLIMB, summary: 'The user stated many rules.' }, how)
    const run = await runPrint(it.home, { prompt: `${PROMPT}\n${RULES}`, model: MODEL })
    expect(run.result).toMatchObject({ result: 'Done.' })
    expect(counts(it, FIRST)).toEqual([1, 1, 1, 1])
    const second = counts(it, SECOND)
    // With the plugin module the text is in the first request, otherwise at the next tool batch.
    const from = second.indexOf(1)
    expect(second).toEqual(second.map((_, i) => (i < from ? 0 : 1)))
    if (how.mod) expect(from).toBe(0)
    else expect([1, 2]).toContain(from)
    expect((await it.events('recovery_delivered')).map(({ data }) => data.step).sort()).toEqual([1, 2])
    expect(await it.events('loss_report')).toHaveLength(1)
  },
)

test('a summary that contains every fact is followed by the first recovery message only', async () => {
  const script: ScriptInput = {
    ...CLIMB,
    summary:
      `The user said: "${PROMPT}". Branch main. Ran \`echo a > made.txt\`, \`git status --short\` and \`echo c\`, ` +
      'all of which succeeded.',
  }
  const it = await stage(script, { mod: true, server: true })
  await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  const [report] = await it.events('loss_report')
  expect(report!.data.lost).toEqual([])
  expect(report!.data.facts_kept).toBe(report!.data.facts)
  expect(report!.data.facts).toBeGreaterThan(2)
  expect(counts(it, SECOND)).toEqual([0, 0, 0, 0])
  expect(counts(it, FIRST)).toEqual([1, 1, 1, 1])
})

/** Returns Baton's instructions in the summary request, without the client's own text. */
function instructed(it: Stage): string {
  const asked = it.model.log().filter((entry) => entry.kind === 'compaction')
  expect(asked).toHaveLength(1)
  return visibleTexts(asked[0]!).join('\n').split('Additional Instructions:')[1] ?? ''
}

const countMarks = (it: Stage): number[] => it.model.log().map((entry) => countOccurrences(entry, '[baton]'))

test('the text of must_survive reaches the summary request unchanged', async () => {
  const survive = 'The tickets are T-17 and "T-18"; $HOME & <b>'
  const it = await stage(CLIMB, {
    mod: false,
    server: false,
    config: `must_survive:\n  - ${JSON.stringify(survive)}\n`,
  })
  await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  expect(instructed(it)).toContain(`- ${survive}\n`)
  expect(instructed(it)).toContain(`> ${PROMPT}`)
})

test('with "compaction: allow" the summary request is unchanged, while archive and recovery still work', async () => {
  const config = 'compaction: allow\nmust_survive: [Everything]\n'
  const it = await stage(CLIMB, { mod: true, server: true, config })
  await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  expect(instructed(it)).toBe('')
  expect(counts(it, FIRST)).toEqual([1, 1, 1, 1])
  expect(await settledArchives(it)).toMatchObject([{ status: 'kept' }])
})

test('a switched-off Baton prints nothing and still archives the transcript', async () => {
  const it = await stage(CLIMB, { mod: false, server: true })
  await it.json('off', '--all')
  const run = await runPrint(it.home, { prompt: `${PROMPT}\n${RULES}`, model: MODEL })
  expect(run.result).toMatchObject({ result: 'Done.' })
  expect(countMarks(it).every((n) => n === 0)).toBe(true)
  expect(instructed(it)).toBe('')
  const [archive, ...more] = await settledArchives(it)
  expect(more).toEqual([])
  await expectWhole(it, archive!, it.home.transcript(run.sessionId!)!)
  expect(await pairsOf(it)).toMatchObject([{ outcome: 'completed', tokensBefore: 169_008 }])
  expect(await it.events('recovery_delivered')).toEqual([])
})

test('with BATON_DISABLE=1 Baton prints, archives and records nothing', async () => {
  const it = await stage(CLIMB, { mod: true, server: false })
  const run = await runPrint(it.home, { prompt: PROMPT, model: MODEL, env: { BATON_DISABLE: '1' } })
  expect(run.result).toMatchObject({ result: 'Done.' })
  expect(countMarks(it).every((n) => n === 0)).toBe(true)
  expect(await it.sessions()).toEqual([])
  expect(await settledArchives(it)).toEqual([])
  expect(it.strays()).toEqual([])
})
