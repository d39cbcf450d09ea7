import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { mainRequests, type Stage, stage } from '../harness/stage.js'
import { startTui, type Tui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'
const sent = async (it: Stage, ...args: string[]) => it.json<{ message_id: string; status: string }>('send', ...args)
const statusOf = async (it: Stage, id: string) => (await it.messages()).find((m) => m.message_id === id)!
const requestsWith = (it: Stage, text: string) =>
  mainRequests(it.model).filter((entry) => countOccurrences(entry, text) > 0)

/** Waits until a turn that began after `since` has ended and Baton has recorded it. */
async function knownIdle(it: Stage, tui: Tui, since: number): Promise<void> {
  await tui.waitTurnEnd(since)
  await until('it is known to be idle', async () => (await it.sessions()).some(({ state }) => state === 'idle'))
}

async function hello(it: Stage, tui: Tui): Promise<void> {
  const since = Date.now()
  await tui.submit('hello')
  await knownIdle(it, tui, since)
}

test('an idle session is woken by a message, once', async () => {
  const it = await stage({ rest: { text: 'All right.', used: 20_008 } }, { env: { BATON_SEAT: 'api' } })
  const tui = await startTui(it.home, { model: MODEL, args: ['--permission-mode', 'bypassPermissions'] })
  await hello(it, tui)
  const asked = mainRequests(it.model).length
  const since = Date.now()
  const { message_id, status } = await sent(it, 'api', 'please look at the logs', '--from', 'lena')
  expect(status).toBe('sent')
  await until('the model is asked', () => requestsWith(it, 'Message from lena: please look at the logs').length === 1)
  await tui.waitTurnEnd(since)
  await until('it is delivered', async () => (await statusOf(it, message_id)).status === 'delivered')
  expect(mainRequests(it.model)).toHaveLength(asked + 1)
  expect(countOccurrences(mainRequests(it.model).at(-1)!, 'please look at the logs')).toBe(1)
  expect(await statusOf(it, message_id)).toMatchObject({ via: 'order', repeated: false, sender: 'lena' })
})

test('a busy session reads each message at the moment its mode names', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'until [ -e go ]; do sleep 0.1; done; echo one', used: 20_008 },
        { bash: 'echo two', used: 21_008 },
        { text: 'First done.', used: 22_008 },
        { text: 'All done.', used: 23_008 },
      ],
    },
    { server: true, mod: false, env: { BATON_SEAT: 'api' } },
  )
  const tui = await startTui(it.home, { model: MODEL, args: ['--permission-mode', 'bypassPermissions'] })
  await tui.submit('work')
  await until('it works', () => mainRequests(it.model).length === 1)
  await until('it is known', async () => (await it.sessions()).length === 1)
  await sent(it, 'api', 'at the end please')
  await sent(it, 'api', 'soon please', '--mode', 'important')
  writeFileSync(path.join(it.home.project, 'go'), '')
  await tui.waitFor(/All done/)
  const counts = (text: string) => mainRequests(it.model).map((entry) => countOccurrences(entry, text))
  expect(counts('soon please')).toEqual([0, 1, 1, 1])
  expect(counts('at the end please')).toEqual([0, 0, 0, 1])
  await tui.waitIdle()
  expect((await it.messages()).map((m) => [m.mode, m.status, m.via])).toEqual([
    ['sequential', 'delivered', 'Stop'],
    ['important', 'delivered', 'PostToolBatch'],
  ])
})

test('without the plugin module an idle session gets a message by keys, and a draft stays', async () => {
  const it = await stage(
    { rest: { text: 'All right.', used: 20_008 } },
    { server: true, mod: false, env: { BATON_SEAT: 'api' } },
  )
  const tui = await startTui(it.home, { model: MODEL, args: ['--permission-mode', 'bypassPermissions'] })
  await hello(it, tui)
  // The sender may use another client configuration than the session.
  const own = it.home.env.CLAUDE_CONFIG_DIR!
  it.home.env.CLAUDE_CONFIG_DIR = path.join(it.home.dir, 'of-another-shell')
  const since = Date.now()
  const first = await sent(it, 'api', 'first words\nin two lines')
  it.home.env.CLAUDE_CONFIG_DIR = own
  expect(first.status).not.toBe('queued')
  await until('the model is asked', () => requestsWith(it, 'first words').length > 0)
  await until('it is delivered', async () => (await statusOf(it, first.message_id)).status === 'delivered')
  expect(await statusOf(it, first.message_id)).toMatchObject({ via: 'keys', repeated: false })
  expect(countOccurrences(mainRequests(it.model).at(-1)!, 'first words')).toBe(1)

  await knownIdle(it, tui, since)
  await tui.type('my own draft')
  await tui.waitFor(/my own draft/)
  const second = await sent(it, 'api', 'second words')
  expect(second.status).toBe('queued')
  await tui.key('Enter')
  await until('the model is asked', () => requestsWith(it, 'my own draft').length > 0)
  expect(countOccurrences(requestsWith(it, 'my own draft')[0]!, 'second words')).toBe(1)
})
