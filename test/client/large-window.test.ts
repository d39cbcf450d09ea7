import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { countWarnings, mainRequests, type Stage, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'

/** A model with a window of a million tokens: it compacts at 967,000. */
const MODEL = 'claude-opus-5-5'

const CLIMB = [50_008, 145_008, 160_008, 215_008, 240_008, 290_008, 310_008, 320_008, 330_008]
const climb = {
  steps: [...CLIMB.map((used) => ({ bash: `echo at ${used}`, used })), { text: 'Done.', used: 331_008 }],
}

async function levelsOf(it: Stage): Promise<unknown[]> {
  return (await it.events('level_crossed')).map(({ data }) => [data.level, data.at_tokens])
}

test('in a 1M window the agent is warned at 150k and 225k tokens and offered a handoff at 300k', async () => {
  const it = await stage(climb, { handoff: true })
  const tui = await startTui(it.home, { model: MODEL })
  await tui.submit('go')
  await tui.waitIdle()
  await tui.waitFor(/331k\/~?967k · handoff/)

  expect(await levelsOf(it)).toEqual([
    ['notice', 150_000],
    ['warning', 225_000],
    ['handoff', 300_000],
  ])
  for (const level of ['notice', 'warning', 'handoff']) expect(Math.max(...countWarnings(it.model, level))).toBe(1)
  // The warning is in the request after the one that reached the level.
  expect(countWarnings(it.model, 'notice').slice(0, 3)).toEqual([0, 0, 0])
  expect(countWarnings(it.model, 'handoff').slice(0, 7)).toEqual([0, 0, 0, 0, 0, 0, 0])
  const offers = (await it.messages()).filter(({ user_text }) => user_text?.includes('/handoff'))
  expect(offers).toHaveLength(1)
  expect(offers[0]!.user_text).toContain('handoff.large_window: auto')
  expect(offers[0]!.user_text).toContain('full-window')
  expect(offers[0]!.status).toBe('delivered')
  expect(await it.events('handoff_requested')).toEqual([])
  expect(mainRequests(it.model).some((entry) => countOccurrences(entry, 'handoff brief') > 0)).toBe(false)
  expect(await it.session()).toMatchObject({ level: 'handoff', handoff_tokens: 300_000, handoffs: 0 })
})
