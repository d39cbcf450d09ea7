import { expect, test } from 'vitest'
import { BEGIN_NEXT_STEP_TEXT, REPEAT_QUESTION_TEXT } from '../../src/briefs/resume-text.js'
import { countOccurrences, visibleTexts } from '../../src/model/log.js'
import { mainRequests, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'
const PROMPT = 'Set up the login service. Never change the file prices.csv.'
const QUESTION = 'Which port should the login service listen on, 8420 or 9000?'
const BRIEF = `# Handoff brief

## Goal and why
Set up the login service, because the shop opens on Monday.

## State
The service is written; its port is not decided.

## Next exact step
Write the port into login.conf.

## Constraints from the user
Never change the file prices.csv.

## Last user request
> ${PROMPT}
`

test('a handoff requested before a compaction is not carried out after it, and the open question stays', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 60_008 },
        { bash: 'echo b', used: 150_008 },
        { bash: 'echo c', used: 169_008 },
        'Never said.',
      ],
      summary: 'The user wants a login service.',
      after_compaction: [
        { bash: 'echo d', used: 20_008 },
        { text: `The service is written. ${QUESTION}`, used: 21_008 },
        { text: 'Port 9000 it is.', used: 22_008 },
      ],
    },
    { server: true, handoff: true },
  )
  const tui = await startTui(it.home, { model: MODEL })
  const session = tui.sessionId()!
  await tui.submit(PROMPT)
  await tui.waitFor(/Which port should the login service/)
  await tui.waitIdle()
  await until('the request is cancelled', async () => (await it.events('handoff_cancelled')).length === 1)
  const after = mainRequests(it.model).filter(({ cycle }) => cycle === 1)
  expect(countOccurrences(after[0]!, 'Give no brief')).toBe(1)
  await tui.submit('Port 9000.')
  await tui.waitFor(/Port 9000 it is/)
  expect(tui.sessionId()).toBe(session)
  expect(await it.events('handoff_started')).toEqual([])
  expect(await it.events('handoff_requested')).toHaveLength(1)
  expect(mainRequests(it.model).every(({ session_id: id }) => id === session)).toBe(true)
})

test('a fresh session first repeats the question with which the previous session ended', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 60_008 },
        { bash: 'echo b', used: 150_008 },
        { bash: 'echo c', used: 151_008 },
        { text: `The service is written. ${QUESTION}\n\n${BRIEF}`, used: 152_008 },
      ],
      conversations: [
        {
          when: 'Continue the work',
          steps: [
            { text: `Asked again: ${QUESTION}`, used: 21_008 },
            { text: 'Port 9000 is written down.', used: 22_008 },
          ],
        },
      ],
    },
    { server: true, handoff: true },
  )
  const tui = await startTui(it.home, { model: MODEL })
  const old = tui.sessionId()!
  const since = Date.now()
  await tui.submit(PROMPT)
  await tui.waitFor(/Asked again/)
  const fresh = tui.sessionId()!
  expect(fresh).not.toBe(old)
  const [first] = mainRequests(it.model, fresh)
  const texts = visibleTexts(first!).join('\n')
  expect(texts).toContain('Never change the file prices.csv')
  expect(texts).toContain(REPEAT_QUESTION_TEXT)
  expect(texts).toContain(QUESTION)
  expect(texts).not.toContain(BEGIN_NEXT_STEP_TEXT)
  await tui.waitTurnEnd(since)
  await tui.submit('Port 9000.')
  await tui.waitFor(/Port 9000 is written down/)
  expect(mainRequests(it.model, fresh)).toHaveLength(2)
  const { briefs } = await it.ask<{ briefs: { brief_id: string }[] }>('handoffs', 'list', '--all')
  const { text } = await it.ask<{ text: string }>('handoffs', 'show', briefs[0]!.brief_id)
  expect(text).toContain(QUESTION)
})
