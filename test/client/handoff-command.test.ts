import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { visibleTexts } from '../../src/model/log.js'
import { BATON } from '../harness/paths.js'
import { runPrint } from '../harness/run-print.js'
import { type Stage, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'
const BRIEF = `# Handoff brief

## Goal and why
Note every item of the list in done.txt, because the shop opens on Monday.

## Next exact step
Note item 2 in done.txt.
`
const PROMPT = 'Work through the list and note each item in done.txt. Never change the file prices.csv.'
const FRESH = {
  when: 'Continue the work',
  steps: [
    { bash: 'echo item-2 >> done.txt', used: 21_008 },
    { text: 'Item 2 is noted.', used: 22_008 },
  ],
}
const baton = (...args: string[]): string => [process.execPath, BATON, ...args].map((word) => `'${word}'`).join(' ')

const noted = (it: Stage): string => {
  const file = path.join(it.home.project, 'done.txt')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

test('an agent that runs baton handoff is cleared when its turn ends, and continues alone', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo item-1 >> done.txt', used: 30_008 },
        {
          bash: `${baton('handoff', 'brief.md', '--reason', 'half way', '--json')} > given.json; rm brief.md`,
          used: 31_008,
        },
        { text: 'The brief is given.', used: 32_008 },
      ],
      conversations: [FRESH],
    },
    { server: true },
  )
  writeFileSync(path.join(it.home.project, 'brief.md'), BRIEF)
  const tui = await startTui(it.home, { model: MODEL })
  const old = tui.sessionId()!
  await tui.submit(PROMPT)
  await until('the fresh session works', () => noted(it).includes('item-2'))
  await tui.waitFor(/Item 2 is noted/)
  const fresh = tui.sessionId()!
  expect(fresh).not.toBe(old)

  const given = JSON.parse(readFileSync(path.join(it.home.project, 'given.json'), 'utf8'))
  expect(given).toMatchObject({ session_id: old, sequence: 1, status: 'checked', handoff_state: 'checked' })
  expect(given.coverage.missing.map((one: { kind: string }) => one.kind)).toContain('constraint')
  const first = it.model.log().find((entry) => entry.kind === 'main' && entry.session_id === fresh)!
  const texts = visibleTexts(first).join('\n')
  expect(texts).toContain('because the shop opens on Monday')
  expect(texts).toContain('Added by Baton')
  expect(texts).toContain('Never change the file prices.csv.')
  expect(texts).toContain('[baton] Continue the work')

  await until('it is done', async () => (await it.events('handoff_completed')).length === 1)
  const detail = await it.ask<Record<string, unknown>>('show', fresh)
  expect(detail).toMatchObject({
    handoff: null,
    handoffs: 1,
    last_handoff_path: given.path,
    briefs: [
      { brief_id: given.brief_id, status: 'used', author: 'agent', reason: 'half way', used_by_session_id: fresh },
    ],
    chain: [{ session_id: old }, { session_id: fresh }],
  })
  const shown = await it.ask<Record<string, unknown>>('handoffs', 'show', given.brief_id)
  expect(shown).toMatchObject({ verdict: 'genuine', handoff: { state: 'done', cause: 'agent', way: 'mod' } })
})

test('the brief of a run without a terminal is stored and stays available after the run', async () => {
  const it = await stage({
    steps: [
      { bash: `${baton('handoff', 'brief.md', '--json')} > given.json`, used: 31_008 },
      { text: 'The brief is given.', used: 32_008 },
    ],
  })
  writeFileSync(path.join(it.home.project, 'brief.md'), BRIEF)
  await runPrint(it.home, { prompt: PROMPT, model: MODEL })
  const given = JSON.parse(readFileSync(path.join(it.home.project, 'given.json'), 'utf8'))
  expect(given.next).toMatch(/^The run ends with its turn/)
  const { handoff } = await it.ask<{ handoff: Record<string, unknown> }>('show', given.session_id)
  expect(handoff).toMatchObject({ state: 'waiting', way: 'start', brief_id: given.brief_id })
})

test('a handoff that the user requests from another terminal gets the agent’s brief and is carried out', async () => {
  const it = await stage({
    steps: [
      { bash: 'echo item-1 >> done.txt; until [ -e go ]; do sleep 0.1; done', used: 30_008 },
      { bash: 'ls', used: 31_008 },
      { text: `${BRIEF}\n## Last user request\n> ${PROMPT}\n`, used: 32_008 },
    ],
    conversations: [FRESH],
  })
  const tui = await startTui(it.home, { model: MODEL })
  const old = tui.sessionId()!
  await tui.submit(PROMPT)
  await until('it works', () => noted(it).includes('item-1'))
  const asked = await it.json<Record<string, unknown>>('handoffs', 'request', old, '--reason', 'the model changes')
  expect(asked).toMatchObject({ state: 'requested', cause: 'user', session_id: old })
  writeFileSync(path.join(it.home.project, 'go'), '')
  await until('the fresh session works', () => noted(it).includes('item-2'))
  const heard = it.model.log().filter((entry) => visibleTexts(entry).some((text) => text.includes('the model changes')))
  expect(heard[0]!.session_id).toBe(old)
  await until('it is done', async () => (await it.events('handoff_completed')).length === 1)
  expect(await it.ask('handoffs', 'list')).toMatchObject({
    briefs: [{ author: 'agent', status: 'used', reason: 'the model changes', session_id: old }],
    handoffs: [],
  })
})
