import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { alive } from '../harness/processes.js'
import { runPrint } from '../harness/run-print.js'
import { mainRequests, type Stage, stage } from '../harness/stage.js'
import { startTui, type Tui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'
const sent = async (it: Stage, ...args: string[]) => it.json<{ message_id: string; status: string }>('send', ...args)
const statusOf = async (it: Stage, id: string) => (await it.messages()).find((m) => m.message_id === id)!
const delivered = (it: Stage, id: string) =>
  until('it is delivered', async () => (await statusOf(it, id)).status === 'delivered' && statusOf(it, id))
const requestsWith = (it: Stage, text: string) =>
  mainRequests(it.model).filter((entry) => countOccurrences(entry, text) > 0)
const sessionIn = (it: Stage, text: string) => requestsWith(it, text)[0]!.session_id

/** Returns the process ids of the sleeping waiters. */
function waiters(it: Stage): number[] {
  const folder = path.join(it.home.batonHome, 'waiters')
  const names = readdirSync(it.home.batonHome).includes('waiters') ? readdirSync(folder) : []
  return names.flatMap((name) => /^\d+\.(\d+)$/.exec(name)?.[1] ?? []).map(Number)
}

/**
 * Waits until a turn that began after `since` has ended, is recorded, and a waiter sleeps again.
 */
async function idle(it: Stage, tui: Tui, since: number): Promise<void> {
  await tui.waitTurnEnd(since)
  await until('the session is known as idle', async () => (await it.sessions()).some(({ state }) => state === 'idle'))
  await until('a waiter sleeps', () => waiters(it).length === 1)
}

const begin = async (it: Stage): Promise<Tui> => {
  const tui = await startTui(it.home, { model: MODEL })
  const since = Date.now()
  await tui.submit('hello')
  await idle(it, tui, since)
  return tui
}

test('a message wakes an idle session with a waiter once, and after /clear only the fresh session', async () => {
  const it = await stage({ rest: { text: 'Fine.', used: 20_008 } }, { waiter: true, env: { BATON_SEAT: 'api' } })
  const tui = await begin(it)
  const first = tui.sessionId()!
  const asked = mainRequests(it.model).length
  await tui.type('my draft')
  await tui.waitFor(/my draft/)
  const sentOne = Date.now()
  const one = await sent(it, 'api', 'please look at the logs', '--from', 'lena')
  expect(one.status).toBe('sent')
  expect(await delivered(it, one.message_id)).toMatchObject({ via: 'waiter', repeated: false, sender: 'lena' })
  await idle(it, tui, sentOne)
  expect(mainRequests(it.model)).toHaveLength(asked + 1)
  expect(countOccurrences(mainRequests(it.model).at(-1)!, 'Message from lena: please look at the logs')).toBe(1)
  expect(await tui.screen()).toMatch(/❯\s+my draft/)
  expect(await tui.screen()).toMatch(/Baton has something for this session/)
  await tui.key('C-u')

  const [before] = waiters(it)
  await tui.submit('/clear')
  const second = await until('the fresh session', () => tui.sessionId() !== first && tui.sessionId()!)
  await until('its waiter alone', () => waiters(it).length === 1 && waiters(it)[0] !== before && !alive(before!))
  await until('it is known', async () => (await it.sessions()).some(({ session_id }) => session_id === second))
  const sentTwo = Date.now()
  const two = await sent(it, 'api', 'and now the tests')
  expect(await delivered(it, two.message_id)).toMatchObject({ via: 'waiter', repeated: false })
  expect(sessionIn(it, 'and now the tests')).toBe(second)
  expect(requestsWith(it, 'and now the tests')).toHaveLength(1)

  await idle(it, tui, sentTwo)
  const [last] = waiters(it)
  await tui.exit()
  await until('the waiter ends with its client', () => !alive(last!) && waiters(it).length === 0)
})

test('a killed waiter’s message arrives with the next prompt, and the next turn has a new waiter', async () => {
  const it = await stage({ rest: { text: 'Fine.', used: 20_008 } }, { waiter: true, env: { BATON_SEAT: 'api' } })
  const tui = await startTui(it.home, { model: MODEL, env: { TMUX_PANE: '', TMUX: '' } })
  const since = Date.now()
  await tui.submit('hello')
  await idle(it, tui, since)
  process.kill(waiters(it)[0]!, 'SIGKILL')
  await tui.type('x') // A draft, so Baton may type nothing.
  await tui.waitFor(/❯\s+x/)
  const { message_id } = await sent(it, 'api', 'for whoever comes next')
  await until('it waits again', async () => (await statusOf(it, message_id)).status === 'queued')
  expect(requestsWith(it, 'for whoever comes next')).toEqual([])
  const entered = Date.now()
  await tui.key('Enter')
  await until('the model is asked', () => requestsWith(it, 'for whoever comes next').length > 0)
  await idle(it, tui, entered)
  const again = await sent(it, 'api', 'woken again')
  expect(await delivered(it, again.message_id)).toMatchObject({ via: 'waiter' })
  // The end of the first turn may be processed before its prompt's answer was seen to be printed.
  // The next event then confirms the message.
  expect(await delivered(it, message_id)).toMatchObject({ via: 'UserPromptSubmit', repeated: false })
  expect(countOccurrences(requestsWith(it, 'for whoever comes next').at(-1)!, 'for whoever comes next')).toBe(1)
})

test('a print run does not wait for its waiter, and uninstall ends waiters that sleep', async () => {
  const settings = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } }
  const it = await stage({ rest: { text: 'Fine.', used: 20_008 } }, { waiter: true, settings })
  const file = path.join(it.home.configDir, 'settings.json')
  expect(readFileSync(file, 'utf8')).toContain('asyncRewake')
  const run = await runPrint(it.home, { prompt: 'go', model: MODEL })
  expect(run).toMatchObject({ code: 0, timedOut: false })
  expect(waiters(it)).toEqual([])
  const tui = await begin(it)
  const [waiter] = waiters(it)
  await it.json('uninstall')
  await until('it is gone', () => !alive(waiter!))
  expect(JSON.parse(readFileSync(file, 'utf8')).hooks).toEqual(settings.hooks)
  expect(tui.registry()?.status).toBe('idle')
})

test('messages for a killed client are delivered to the next one in the seat', async () => {
  const it = await stage({ rest: { text: 'Fine.', used: 20_008 } }, { waiter: true, env: { BATON_SEAT: 'api' } })
  const tui = await begin(it)
  process.kill(tui.pid, 'SIGKILL')
  await until('it is gone', () => !alive(tui.pid))
  const { message_id, status } = await sent(it, 'api', 'nobody is there')
  expect(status).toBe('queued')
  await tui.kill()
  const next = await startTui(it.home, { model: MODEL, args: ['--continue'] })
  await next.submit('go on')
  expect(await delivered(it, message_id)).toMatchObject({ repeated: false })
  expect(requestsWith(it, 'nobody is there')).toHaveLength(1)
})
