import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { mainRequests, type Stage, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import { MODEL } from './handoff-tmux-stage.js'

interface Brief {
  brief_id: string
  session_id: string
  author: string
  status: string
}

const briefOf = (it: Stage, session: string): Promise<Brief> =>
  until('Baton has written a brief', async () => {
    const { briefs } = await it.ask<{ briefs: Brief[] }>('handoffs', 'list')
    return briefs.find(({ session_id }) => session_id === session) ?? null
  })

const textOf = async (it: Stage, { brief_id }: Brief): Promise<string> =>
  (await it.baton('handoffs', 'show', brief_id)).stdout

/** True if the n-th request contains the rule that the user gave before the crash. */
const isInRequest = (it: Stage, session: string, n: number): boolean =>
  JSON.stringify(mainRequests(it.model, session)[n]!.body).includes('Never round them.')

const write = (file: string) => ({ name: 'Write', input: { file_path: `{{cwd}}/${file}`, content: 'done\n' } })

test('the next session in a folder is offered the work of a killed client and continues it', async () => {
  const it = await stage({
    steps: [
      { tools: [write('prices.csv')], used: 20_008 },
      // More steps than a brief needs, because the client writes the last one late.
      { bash: 'ls', used: 21_008, repeat: 6 },
      { bash: 'until [ -e go ]; do sleep 0.1; done', used: 26_008 },
    ],
    conversations: [
      {
        when: 'What is here?',
        steps: [
          { text: 'A price list.', used: 21_008 },
          { tools: [write('totals.csv')], used: 22_008 },
          { bash: 'ls', used: 23_008, repeat: 4 },
          { text: 'The totals are written.', used: 28_008 },
        ],
      },
    ],
  })
  const first = await startTui(it.home, { model: MODEL })
  const killed = first.sessionId()!
  await first.submit('Write the prices. Never round them.')
  await until('it is in the middle of its work', () => mainRequests(it.model, killed).length === 8)
  process.kill(first.pid, 'SIGKILL')
  // The tool's process survives its client.
  writeFileSync(path.join(it.home.project, 'go'), '')

  const next = await startTui(it.home, { model: MODEL })
  const left = next.sessionId()!
  const own = await briefOf(it, killed)
  expect(own).toMatchObject({ author: 'baton', status: 'written' })
  const text = await textOf(it, own)
  for (const words of ['Never round them.', 'prices.csv', 'client ended while the session worked'])
    expect(text).toContain(words)
  await next.submit('What is here?')
  await next.waitFor(/A price list/)
  expect(await next.screen()).toMatch(/was cut\s+off/)
  expect(isInRequest(it, left, 0)).toBe(false)

  await it.json('handoffs', 'use', own.brief_id, '--session', left)
  await next.submit('Go on with it.')
  await next.waitFor(/The totals are written/)
  expect(isInRequest(it, left, 1)).toBe(true)
  await next.waitIdle()
  await next.exit()
  const ended = await briefOf(it, left)
  expect(ended).toMatchObject({ author: 'baton', status: 'written' })
  const page = await textOf(it, ended)
  for (const words of ['totals.csv', 'The session ended without a brief.', 'Never round them.'])
    expect(page).toContain(words)
})
