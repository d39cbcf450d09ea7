import { expect, test } from 'vitest'
import type { Settings } from '../../src/contract/api/settings.js'
import { countOccurrences } from '../../src/model/log.js'
import { type PrintRun, startPrint } from '../harness/run-print.js'
import { authorized } from '../harness/server-token.js'
import { countWarnings, levelMark, mainRequests, type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'

/** Tool call of the session that writes the configuration between two answers. */
const write = (text: string): string => `printf '%s' '${text}' > "$BATON_HOME/config.yaml"`

/** The answer after the one that writes the configuration. */
const HELD = 'configuration written'

/**
 * Runs a session and holds it at HELD until the server has read the configuration that the session
 * wrote. A server checks the files once a second; without one every hook reads them.
 */
async function runHeld(it: Stage, server: boolean, isRead: (settings: Settings) => boolean): Promise<PrintRun> {
  const url = server ? (await it.serve()).url : null
  const run = startPrint(it.home, { prompt: 'go', model: MODEL })
  if (url !== null)
    await until('the server reads the configuration', async () => {
      const id = run.messages.find(({ session_id }) => session_id)?.session_id
      const answer = await fetch(`${url}/api/config?session=${id}`, { headers: authorized(it.home.batonHome) })
      return answer.ok && isRead((await answer.json()) as Settings)
    })
  it.model.release(HELD)
  return run.done
}

test('a level that is changed in config.yaml applies at once', async () => {
  const it = await stage({
    steps: [
      { bash: 'echo a', used: 60_008 },
      { bash: write('levels: [{ name: notice, at: 30% }]\n'), used: 61_008 },
      { bash: 'echo held', used: 62_008, hold: HELD },
      { bash: 'echo b', used: 63_008, grow: 1000, repeat: 3 },
      { text: 'Done.', used: 66_008 },
    ],
  })
  await runHeld(it, true, ({ levels }) => levels[0]!.at_tokens === 50_100)
  const counts = countWarnings(it.model, 'notice')
  expect(counts.slice(0, 2)).toEqual([0, 0])
  expect(counts.slice(-2)).toEqual([1, 1])
  const session = await it.session()
  expect(session).toMatchObject({ level: 'notice', used_tokens: 66_008 })
  expect((await it.show(session.session_id)).levels[0]).toMatchObject({
    name: 'notice',
    at_tokens: 50_100,
    reachable: true,
  })
})

test('a session with a broken configuration keeps the last valid one and informs the user once', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 40_008 },
        { bash: write('levels: [{ name: notice, at: 101% }]\n'), used: 41_008 },
        { bash: 'echo held', used: 42_008, hold: HELD },
        { bash: 'echo b', used: 43_008, grow: 1000, repeat: 3 },
        { bash: 'echo c', used: 60_008, grow: 1000, repeat: 3 },
        { text: 'Done.', used: 63_008 },
      ],
    },
    { config: 'levels: [{ name: notice, at: 30% }]\n' },
  )
  const run = await runHeld(it, false, ({ errors }) => errors.length > 0)
  expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
  const shown = run.messages.flatMap((m) => (m.subtype === 'informational' ? [String(m.content)] : []))
  expect(shown.filter((line) => line.includes('levels[0].at'))).toHaveLength(1)
  expect(shown.filter((line) => line.includes('[baton] notice: '))).toHaveLength(1)
  const last = mainRequests(it.model).at(-1)!
  expect([countOccurrences(last, levelMark('notice')), countOccurrences(last, 'levels[0].at')]).toEqual([1, 0])
})
