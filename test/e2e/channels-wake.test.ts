import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findPasted, readComposer } from '../../src/agents/claude-code/composer.js'
import { liveClient } from '../../src/agents/claude-code/registry.js'
import { WAITER_EVENTS, waiterHook, waiterScript } from '../../src/agents/claude-code/waiter.js'
import { wakeOverPipe } from '../../src/delivery/channels/pipe.js'
import { sayOverSocket } from '../../src/delivery/channels/socket.js'
import { typeCommand } from '../../src/delivery/channels/tmux.js'
import { type Model, startModel } from '../../src/model/model.js'
import { type Home, makeHome } from '../harness/home.js'
import { alive } from '../harness/processes.js'
import { runPrint } from '../harness/run-print.js'
import { startTui } from '../harness/tui.js'
import { pause, until } from '../harness/wait.js'
import { mainRequests } from './stage.js'

vi.setConfig({ testTimeout: 90_000 })

const MODEL = 'claude-opus-4-6'

/** A machine whose client has waiters, and a hook that notes every prompt. */
async function machine(): Promise<{ model: Model; home: Home; pipes: string; waiters: () => string[]; prompts: () => string }> {
  const model = await startModel({ script: { rest: 'Done.' } })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const pipes = path.join(home.dir, 'pipes')
  const script = path.join(home.dir, 'waiter.sh')
  const noted = path.join(home.dir, 'prompts')
  mkdirSync(pipes)
  writeFileSync(script, waiterScript(pipes))
  writeFileSync(noted, '')
  const waiting = WAITER_EVENTS.map((event) => [event, [{ hooks: [waiterHook(script)] }]])
  const noting = [{ hooks: [{ type: 'command', command: `cat >> ${noted}` }] }]
  home.settings({ hooks: { ...Object.fromEntries(waiting), UserPromptSubmit: noting } })
  return {
    model,
    home,
    pipes,
    waiters: () => readdirSync(pipes).filter((name) => /^\d+\.\d+$/.test(name)),
    prompts: () => readFileSync(noted, 'utf8'),
  }
}

const heard = (model: Model, text: string, session?: string): boolean =>
  mainRequests(model, session).some((entry) => JSON.stringify(entry.body).includes(text))

test('a waiter wakes a session that was never prompted, again after its turn, and after /clear only the fresh one; a draft stays', async () => {
  const { model, home, pipes, waiters, prompts } = await machine()
  const tui = await startTui(home, { model: MODEL })
  const first = tui.sessionId()!
  const one = await until('a waiter', () => waiters().length === 1 && waiters()[0]!)
  expect(tui.registry()?.status).toBe('idle')
  expect(wakeOverPipe(pipes, tui.pid, '[baton] first words')).toBe('sent')
  await until('it is heard', () => heard(model, '[baton] first words', first))
  expect(prompts()).toContain('[baton] first words')

  await until('another waiter', () => waiters().length === 1 && waiters()[0] !== one)
  await tui.type('my draft')
  await tui.waitFor(/my draft/)
  const long = Array.from({ length: 300 }, (_, i) => `line ${i} of the long words`).join('\n')
  expect(wakeOverPipe(pipes, tui.pid, `[baton] second words\n${long}`)).toBe('sent')
  await until('it is heard', () => heard(model, 'line 299 of the long words', first))
  await pause(500)
  expect(await tui.screen()).toMatch(/❯\s+my draft/)
  await tui.key('C-u')

  const before = await until('a third waiter', () => waiters().length === 1 && waiters()[0]!)
  await tui.submit('/clear')
  const second = await until('the fresh session', () => tui.sessionId() !== first && tui.sessionId()!)
  await until('its waiter alone', () => waiters().length === 1 && waiters()[0] !== before)
  expect(alive(Number(before.split('.')[1]))).toBe(false)
  expect(wakeOverPipe(pipes, tui.pid, '[baton] third words')).toBe('sent')
  await until('it is heard', () => heard(model, '[baton] third words', second))
  const requests = mainRequests(model).length
  await pause(700)
  expect(mainRequests(model)).toHaveLength(requests)

  const last = waiters().map((name) => Number(name.split('.')[1]))
  await tui.exit()
  await until('the waiter is gone', () => last.every((pid) => !alive(pid)) && waiters().length === 0)
  expect(wakeOverPipe(pipes, tui.pid, 'too late')).toBe('nobody')
  expect(readdirSync(pipes)).toEqual([])
})

test('a print run does not wait for a waiter', async () => {
  const { home, pipes } = await machine()
  const run = await runPrint(home, { prompt: 'go', model: MODEL, timeoutMs: 20_000 })
  expect(run).toMatchObject({ code: 0, timedOut: false })
  expect(readdirSync(pipes)).toEqual([])
})

test('over the client’s socket an idle session hears a message, and the client’s own event says so', async () => {
  const { model, home, prompts } = await machine()
  const tui = await startTui(home, { model: MODEL, bypass: false, args: ['--permission-mode', 'default'] })
  const live = liveClient(home.configDir, tui.pid)!
  expect(live).toMatchObject({ kind: 'interactive', status: 'idle', version: expect.stringMatching(/^2\./) })
  expect(await sayOverSocket(live.socketPath!, null, '[baton] over\nthe socket')).toBe('sent')
  await until('it is heard', () => heard(model, '[baton] over'))
  expect(prompts()).toContain('[baton] over')
  await tui.kill()
  await until('the client is gone', () => liveClient(home.configDir, tui.pid) === null)
  expect(await sayOverSocket(live.socketPath!, null, 'too late')).toBe('no-socket')
})

test('a session that bypasses permission checks asks a person about what comes over its socket: sent is not heard, and nothing may be typed', async () => {
  const { model, home, prompts } = await machine()
  const tui = await startTui(home, { model: MODEL })
  const sessionId = tui.sessionId()!
  const at = { live: () => liveClient(home.configDir, tui.pid), composer: readComposer, findPasted }
  expect(await sayOverSocket(at.live()!.socketPath!, null, '[baton] over the socket')).toBe('sent')
  await tui.waitStatus('waiting')
  expect(await tui.waitFor(/Held message from another session/)).not.toMatch(/❯ Deliver/)
  expect(await typeCommand(at, '/clear', { sessionId })).toMatchObject({ sent: false, why: 'waiting' })
  await pause(500)
  expect(mainRequests(model)).toEqual([])
  expect(prompts()).toBe('')
})
