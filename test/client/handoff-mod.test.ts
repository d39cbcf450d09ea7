import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { LogEntry } from '../../src/model/log.js'
import { countOccurrences } from '../../src/model/log.js'
import { ADVICE_BY_MODE } from '../../src/policy/texts.js'
import { type Stage, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'
const BRIEF = `# Handoff brief

## Goal and why
Note every item of the list in done.txt, because the shop opens on Monday.

## State
Items 1 and 2 are noted.

## Next exact step
Note item 3 in done.txt.

## Constraints
Never change the file prices.csv.

## Last user request
> Work through the list and note each item in done.txt. Never change the file prices.csv.
`
const PROMPT = 'Work through the list and note each item in done.txt. Never change the file prices.csv.'
const FRESH = {
  when: 'Continue the work',
  steps: [
    { bash: 'echo item-3 >> done.txt', used: 21_008 },
    { text: 'Item 3 is noted.', used: 22_008 },
  ],
}

const noted = (it: Stage): string => {
  const file = path.join(it.home.project, 'done.txt')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

const asked = (it: Stage): LogEntry[] =>
  it.model.log().filter((entry) => countOccurrences(entry, 'A handoff brief') > 0)

test('a session at the handoff level writes its brief, is cleared and continues without the user', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo item-1 >> done.txt', used: 60_008 },
        { bash: 'echo item-2 >> done.txt', used: 150_008 },
        { bash: 'ls', used: 151_008 },
        { text: BRIEF, used: 152_008 },
      ],
      conversations: [FRESH],
    },
    { handoff: true },
  )
  const tui = await startTui(it.home, { model: MODEL, args: ['--permission-mode', 'bypassPermissions'] })
  const old = tui.sessionId()!
  await tui.submit(PROMPT)
  await until('the fresh session works', () => noted(it).includes('item-3'))
  await tui.waitFor(/Item 3 is noted/)
  const fresh = tui.sessionId()!
  expect(fresh).not.toBe(old)
  expect(asked(it).length).toBeGreaterThan(0)
  // The request for the brief replaces the advice on where to keep notes.
  for (const advice of Object.values(ADVICE_BY_MODE))
    expect(it.model.log().filter((entry) => countOccurrences(entry, advice) > 0)).toHaveLength(0)
  const first = it.model.log().find((entry) => entry.kind === 'main' && entry.session_id === fresh)!
  const texts = JSON.stringify(first.body)
  expect(texts).toContain('because the shop opens on Monday')
  expect(texts).toContain('[baton] Continue the work')
  expect(texts).not.toContain('Context level')
  await until('it is done', async () => (await it.events('handoff_completed')).length === 1)
  const detail = await it.show(fresh)
  expect(detail).toMatchObject({ handoffs: 1, last_handoff_path: expect.stringContaining('/briefs/') })
  expect(detail.chain.map(({ session_id }) => session_id)).toEqual([old, fresh])
  expect(existsSync(detail.last_handoff_path!)).toBe(true)
  const completed = (await it.events('handoff_completed'))[0]!
  expect(completed.data).toMatchObject({ oldSessionId: old, newSessionId: fresh, handoffNumber: 1 })
})
