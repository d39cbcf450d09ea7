import { expect, test } from 'vitest'
import { type LogEntry, visibleTexts } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import { mainRequests, type Stage, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import { FREE, MODEL } from './handoff-chain.js'

const PROMPT = 'Fix the login of the shop.'
const PLANTED = [
  'Never touch the folder legacy/payments.',
  'Sessions are kept in Redis, because cookies were rejected by the security team.',
  'Rename the column user_mail to email_address in schema.sql.',
  'Who owns the staging cluster, platform or payments?',
]
const BRIEF = `# Handoff brief

## Goal and why
Fix the login of the shop, because it opens on Monday.

## State
The form is written.

## Next exact step
${PLANTED[2]}

## Decisions
- ${PLANTED[1]}

## Open questions
- ${PLANTED[3]}

## Constraints from the user
- ${PLANTED[0]}

## Last user request
> ${PROMPT}
`
/** Brief of the second session, which omits every fact of the first session's brief. */
const BARE = `# Handoff brief

## Goal and why
Fix the login of the shop.

## State
The button has moved.

## Last user request
> ${PROMPT}
`

const SCRIPT: ScriptInput = {
  steps: [
    { bash: 'echo a', used: 60_008 },
    { bash: 'echo b', used: 150_008 },
    { bash: 'echo c', used: 151_008 },
    { text: BRIEF, used: 152_008 },
  ],
  conversations: [
    {
      when: 'from brief 1,',
      steps: [{ bash: 'echo d', used: 60_008 }, { bash: 'echo e', used: 169_008 }, 'Never said.'],
      summary: 'The user wants the login fixed.',
      after_compaction: [
        [
          { bash: 'echo f', used: 20_008 },
          { text: 'Compacted once.', used: 21_008 },
        ],
        [
          { bash: 'echo g', used: 20_008 },
          { bash: 'echo h', used: 150_008 },
          { bash: 'echo i', used: 151_008 },
          { text: BARE, used: 152_008 },
        ],
      ],
    },
    { when: 'Continue the work', steps: [{ text: 'The third session works.', used: 20_008 }] },
  ],
}

/** Returns the first request of a session, or the first one after each of its compactions. */
function firstRequest(it: Stage, session: string, cycle: number): LogEntry {
  return mainRequests(it.model, session).find((entry) => entry.cycle === cycle)!
}

test('the facts of a delivered brief are in the first request after each compaction and the next handoff', async () => {
  const it = await stage(SCRIPT, { config: `handoff: {bar: 0.1}\n${FREE}` })
  const tui = await startTui(it.home, { model: MODEL })
  const since = Date.now()
  await tui.submit(PROMPT)
  await tui.waitFor(/Compacted once/)
  await tui.waitTurnEnd(since)
  const second = tui.sessionId()!
  await tui.submit('/compact')
  await until('the second compaction is over', async () => {
    return (await it.events('compaction_complete', second)).length === 2
  })
  await tui.waitIdle()
  await tui.submit('Go on.')
  await tui.waitFor(/The third session works/)
  const third = tui.sessionId()!
  expect(third).not.toBe(second)
  const told = [firstRequest(it, second, 0), firstRequest(it, second, 1), firstRequest(it, second, 2)]
  for (const entry of [...told, firstRequest(it, third, 0)]) {
    const texts = visibleTexts(entry).join('\n')
    for (const planted of PLANTED) expect(texts).toContain(planted)
  }
  const instructed = it.model.log().find(({ kind, session_id: id }) => kind === 'compaction' && id === second)!
  for (const planted of PLANTED) expect(visibleTexts(instructed).at(-1)).toContain(planted)
  const lost = (await it.events('loss_report', second)).map(({ data }) => JSON.stringify(data.lost))
  expect(lost).toHaveLength(2)
  for (const report of lost) expect(report).toContain(PLANTED[0])
})
