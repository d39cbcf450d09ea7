import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { mainRequests, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const BRIEF = `# Handoff brief

## Goal and why
Note every item of the list in done.txt, because the shop opens on Monday.

## State
Item 1 is noted.

## Next exact step
Note item 2 in done.txt.

## Last user request
> Work through the list and note each item in done.txt.
`

test('a message that is sent during a handoff is read by the fresh session after the brief', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo item-1 >> done.txt', used: 150_008 },
        { bash: 'ls', used: 151_008 },
        { text: BRIEF, used: 152_008, hold: 'brief' },
      ],
      conversations: [
        {
          when: 'Continue the work',
          steps: [
            { bash: 'echo item-2 >> done.txt', used: 21_008 },
            { text: 'Item 2 is noted.', used: 22_008 },
            { text: 'And the message is read.', used: 23_008 },
          ],
        },
      ],
    },
    { server: true, handoff: true, env: { BATON_SEAT: 'shop' } },
  )
  const tui = await startTui(it.home, { model: 'claude-opus-4-6', args: ['--permission-mode', 'bypassPermissions'] })
  const old = tui.sessionId()!
  await tui.submit('Work through the list and note each item in done.txt.')
  await until('the brief is written', () => mainRequests(it.model, old).length === 3)
  await it.json('send', 'shop', 'the list has a third item')
  it.model.release('brief')
  await tui.waitFor(/And the message is read/)
  const fresh = tui.sessionId()!
  expect(fresh).not.toBe(old)
  const counts = (session: string) =>
    mainRequests(it.model, session).map((entry) => countOccurrences(entry, 'the list has a third item'))
  expect(Math.max(...counts(old))).toBe(0)
  expect(counts(fresh)).toEqual([0, 0, 1])
  const first = mainRequests(it.model, fresh)[0]!
  expect(countOccurrences(first, 'because the shop opens on Monday')).toBeGreaterThan(0)
  await until('it is delivered', async () =>
    (await it.messages()).some((m) => m.category === 'message' && m.status === 'delivered' && m.sent_to === fresh),
  )
})
