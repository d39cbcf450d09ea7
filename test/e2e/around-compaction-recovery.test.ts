import { expect, test, vi } from 'vitest'
import { copies, textsOf } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import { runPrint } from '../harness/run-print.js'
import { archivesOf, counts, expectWhole, FIRST, pairsOf, SECOND } from './compactions.js'
import { type Stage, stage, VARIANTS } from './stage.js'

vi.setConfig({ testTimeout: 60_000 })

const MODEL = 'claude-opus-4-6'
const PROMPT = 'Fix the login. Never touch the file legacy/auth.ts, and keep the public API as it is.'
/** More rules than fit into the first step. */
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

test.each(VARIANTS)('what the summary lacks and the first words could not hold is put back once: %s', async (_, how) => {
  const it = await stage({ ...CLIMB, summary: 'The user stated many rules.' }, how)
  const run = await runPrint(it.home, { prompt: `${PROMPT}\n${RULES}`, model: MODEL })
  expect(run.result).toMatchObject({ result: 'Done.' })
  expect(counts(it, FIRST)).toEqual([1, 1, 1, 1])
  const second = counts(it, SECOND)
  // with the mod in the first request, else at a tool boundary
  const from = second.indexOf(1)
  expect(second).toEqual(second.map((_, i) => (i < from ? 0 : 1)))
  if (how.mod) expect(from).toBe(0)
  else expect([1, 2]).toContain(from)
  expect((await it.events('recovery_delivered')).map(({ data }) => data.step).sort()).toEqual([1, 2])
  expect(await it.events('loss_report')).toHaveLength(1)
})

test.each(VARIANTS)('a summary that carries everything: nothing more is said: %s', async (_, how) => {
  const script: ScriptInput = {
    ...CLIMB,
    summary: `The user said: "${PROMPT}". Branch main. Ran \`echo a > made.txt\`, \`git status --short\` and \`echo c\`, all of which succeeded.`,
  }
  const it = await stage(script, how)
  await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  const [report] = await it.events('loss_report')
  expect(report!.data.lost).toEqual([])
  expect(report!.data.facts_kept).toBe(report!.data.facts)
  expect(report!.data.facts).toBeGreaterThan(2)
  expect(counts(it, SECOND)).toEqual([0, 0, 0, 0])
  expect(counts(it, FIRST)).toEqual([1, 1, 1, 1])
})

/** What the summariser was told beside the client's own words. */
function instructed(it: Stage): string {
  const asked = it.model.log().filter((entry) => entry.kind === 'compaction')
  expect(asked).toHaveLength(1)
  return textsOf(asked[0]!).join('\n').split('Additional Instructions:')[1] ?? ''
}

const heard = (it: Stage): number[] => it.model.log().map((entry) => copies(entry, '[baton]'))

test.each([VARIANTS[1]!, VARIANTS[2]!])('must_survive reaches the summariser, word for word: %s', async (_, how) => {
  const survive = 'The tickets are T-17 and "T-18"; $HOME & <b>'
  const it = await stage(CLIMB, { ...how, config: `must_survive:\n  - ${JSON.stringify(survive)}\n` })
  await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  expect(instructed(it)).toContain(`- ${survive}\n`)
  expect(instructed(it)).toContain(`> ${PROMPT}`)
})

test.each([VARIANTS[1]!, VARIANTS[2]!])('compaction: allow tells the summariser nothing; the rest stays: %s', async (_, how) => {
  const it = await stage(CLIMB, { ...how, config: 'compaction: allow\nmust_survive: [Everything]\n' })
  await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  expect(instructed(it)).toBe('')
  expect(counts(it, FIRST)).toEqual([1, 1, 1, 1])
  expect(await archivesOf(it)).toMatchObject([{ status: 'kept' }])
})

test.each([VARIANTS[0]!, VARIANTS[3]!])(
  'switched off Baton says nothing, and keeps the transcript all the same: %s',
  async (_, how) => {
    const it = await stage(CLIMB, how)
    await it.json('off', '--all')
    const run = await runPrint(it.home, { prompt: `${PROMPT}\n${RULES}`, model: MODEL })
    expect(run.result).toMatchObject({ result: 'Done.' })
    expect(heard(it).every((n) => n === 0)).toBe(true)
    expect(instructed(it)).toBe('')
    const [archive, ...more] = await archivesOf(it)
    expect(more).toEqual([])
    await expectWhole(it, archive!, it.home.transcript(run.sessionId!)!)
    expect(await pairsOf(it)).toMatchObject([{ outcome: 'completed', tokensBefore: 169_008 }])
    expect(await it.events('recovery_delivered')).toEqual([])
  },
)

test.each([VARIANTS[0]!, VARIANTS[3]!])('with BATON_DISABLE=1 nothing is said, kept or known: %s', async (_, how) => {
  const it = await stage(CLIMB, how)
  const run = await runPrint(it.home, { prompt: PROMPT, model: MODEL, env: { BATON_DISABLE: '1' } })
  expect(run.result).toMatchObject({ result: 'Done.' })
  expect(heard(it).every((n) => n === 0)).toBe(true)
  expect(await it.sessions()).toEqual([])
  expect(await archivesOf(it)).toEqual([])
  expect(it.strays()).toEqual([])
})
