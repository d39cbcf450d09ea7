import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JobLevel } from '../contract/records/job.js'
import {
  folder,
  SCRIPTED_BRIEF,
  scriptedJob,
  scriptedStep,
  shellHook,
  store,
  useJobStore,
} from '../testing/scripted-job.js'
import { findCrossings, handoffLevelAt, levelAt } from './job-levels.js'

const level = (
  name: string,
  percent: number,
  actions: JobLevel['actions'],
  more: Partial<JobLevel> = {},
): JobLevel => ({
  name,
  at: { of: 'compaction', percent },
  actions,
  hooks: [],
  ...more,
})
const PLACE = { used: 100_000, window: 200_000, point: 167_000 }

describe('levels of an agent', () => {
  test('a level lies at its configured position, or nowhere while the limits are unknown', () => {
    expect(levelAt({ of: 'compaction', percent: 50 }, PLACE)).toBe(83_500)
    expect(levelAt({ of: 'window', percent: 50 }, PLACE)).toBe(100_000)
    expect(levelAt({ of: 'tokens', tokens: 7 }, PLACE)).toBe(7)
    expect(levelAt({ of: 'before-compaction', tokens: 20_000 }, PLACE)).toBe(147_000)
    expect(levelAt({ of: 'compaction', percent: 50 }, { window: null, point: null })).toBeNull()
  })

  test('a level is crossed once, and a jump crosses all levels below it, lowest first', () => {
    const levels = [level('late', 90, []), level('half', 50, []), level('early', 10, [])]
    expect(findCrossings(levels, PLACE, []).map(({ name }) => name)).toEqual(['early', 'half'])
    expect(findCrossings(levels, PLACE, ['early', 'half'])).toEqual([])
    expect(handoffLevelAt({ levels: [level('a', 60, ['hand-off']), level('b', 40, ['request-handoff'])] }, PLACE)).toBe(
      66_800,
    )
    expect(handoffLevelAt({ levels }, PLACE)).toBeNull()
  })

  test('a level does not delay the handoff at the cap for large windows', () => {
    const large = { window: 1_000_000, point: 967_000 }
    expect(handoffLevelAt({ handoffCap: 300_000 }, large)).toBe(300_000)
    expect(handoffLevelAt({ handoffCap: 300_000, levels: [level('late', 85, ['hand-off'])] }, large)).toBe(300_000)
    expect(handoffLevelAt({ handoffCap: 300_000, levels: [level('early', 20, ['hand-off'])] }, large)).toBe(193_400)
  })
})

describe('levels of an agent in its jobs', () => {
  useJobStore()
  const reply = { when: 'handoff brief', text: SCRIPTED_BRIEF }
  const crossed = () =>
    store
      .events({ limit: 500 })
      .filter(({ type }) => type === 'level_crossed')
      .map(({ data }) => data.level)

  test('a pausing level pauses a job once, and the resumed job continues beyond it', async () => {
    const steps = [1, 2, 3, 4].map((n) => ({ ...scriptedStep(n, 60_000 + n * 1_000), delayMs: 700 }))
    const { run } = scriptedJob(
      { sessions: [steps, [{ ...scriptedStep(5, 70_000) }, { text: 'Done.' }]] },
      { levels: [level('late', 30, ['pause'])] },
    )
    expect(await run()).toMatchObject({
      state: 'paused',
      detail: expect.stringContaining('it reached the level `late`'),
    })
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 0 })
    expect(crossed()).toEqual(['late'])
  })

  test('a handoff level hands off before the threshold, runs hooks in parallel and tells the agent', async () => {
    const hooks = [shellHook('cat > told.json')]
    const levels = [level('told', 20, ['agent', 'hook:mine'], { hooks }), level('handoff', 40, ['request-handoff'])]
    const sessions = [
      [scriptedStep(1, 40_000), scriptedStep(2, 50_000), scriptedStep(3, 70_000), scriptedStep(4, 75_000)],
      [scriptedStep(5, 20_000), { text: 'Done.' }],
    ]
    const { run, runtime } = scriptedJob({ sessions, replies: [reply] }, { levels })
    const job = await run()
    expect(job).toMatchObject({ state: 'completed', handoffs: 1 })
    const texts = runtime.requests.flatMap((request) => request.texts).join('\n')
    expect(texts).toContain('[baton] Context level "told"')
    expect(texts).not.toContain('did 4')
    expect(crossed()).toEqual(['told', 'handoff'])
    expect(JSON.parse(readFileSync(join(folder, 'told.json'), 'utf8'))).toMatchObject({
      hook_event_name: 'context_threshold',
      level: 'told',
      session: { job_id: job.jobId },
    })
  })

  test('levels do nothing before they are reached, and cause no handoff when none is left', async () => {
    const levels = [level('handoff', 40, ['hand-off']), level('far', 99, ['pause'])]
    const { run } = scriptedJob(
      { sessions: [[scriptedStep(1, 70_000), scriptedStep(2, 80_000), { text: 'Done.' }]] },
      { levels, maxHandoffs: 0 },
    )
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 0 })
    expect(crossed()).toEqual(['handoff'])
  })
})
