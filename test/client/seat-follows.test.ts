import { expect, test } from 'vitest'
import { runPrint } from '../harness/run-print.js'
import { stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import { briefOf, MODEL } from './handoff-chain.js'

test('show and status follow a seat through a handoff, a clear, a resume and a fork', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'ls', used: 150_008 },
        { bash: 'ls', used: 151_008 },
        { text: briefOf(1), used: 152_008 },
      ],
      conversations: [
        {
          when: 'Continue the work',
          steps: [
            { text: 'I went on.', used: 21_008 },
            { text: 'Resumed.', used: 22_008 },
          ],
        },
        { when: 'something else', steps: [{ text: 'Else.', used: 19_008 }] },
      ],
    },
    { config: 'handoff: {bar: 0.3}\n' },
  )
  const tui = await startTui(it.home, { model: MODEL })
  const first = tui.sessionId()!
  await tui.submit('Work through the list and note each item in done.txt.')
  await tui.waitFor(/I went on/)
  const second = tui.sessionId()!
  await until('it is done', async () => (await it.events('handoff_completed')).length === 1)
  const { seat_id: seat } = await it.show(first)
  expect(await it.show(seat)).toMatchObject({ session_id: second, handoffs: 1 })

  await tui.submit('/clear')
  const third = await until('it is cleared', () => tui.sessionId() !== second && tui.sessionId())
  await tui.submit('something else')
  await tui.waitFor(/Else\./)
  await until('the seat has moved on', async () => (await it.show(seat)).session_id === third)
  await tui.exit()

  const resumed = await runPrint(it.home, { prompt: 'on', model: MODEL, args: ['--resume', second] })
  expect(resumed).toMatchObject({ code: 0, sessionId: second })
  const path = (await it.show(second)).last_handoff_path
  expect(path).toContain('/briefs/')
  expect(await it.show(seat)).toMatchObject({ session_id: second, seat_id: seat, handoffs: 1, last_handoff_path: path })

  const fork = await runPrint(it.home, { prompt: 'on', model: MODEL, args: ['--resume', second, '--fork-session'] })
  const forked = await it.show(fork.sessionId!)
  expect(forked).toMatchObject({ parent_seat_id: seat })
  expect(forked.seat_id).not.toBe(seat)
  expect(forked.chain.map(({ session_id: id }) => id)).toEqual([fork.sessionId])
  const of = (await it.sessions()).map(({ session_id: id, seat_id: at }) => [id, at === seat])
  expect(new Set(of.filter(([, here]) => here).map(([id]) => id))).toEqual(new Set([first, second, third]))
  expect(of).toHaveLength(4)
  const page = (await it.baton('show', seat)).stdout
  for (const id of [first, second, third]) expect(page).toContain(id.slice(0, 8))
})
