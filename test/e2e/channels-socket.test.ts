import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findPasted, readComposer } from '../../src/agents/claude-code/composer.js'
import { liveClient } from '../../src/agents/claude-code/registry.js'
import { sayOverSocket } from '../../src/delivery/channels/socket.js'
import { typeCommand } from '../../src/delivery/channels/tmux.js'
import { type Model, startModel } from '../../src/model/model.js'
import { type Home, makeHome } from '../harness/home.js'
import { startTui } from '../harness/tui.js'
import { pause, until } from '../harness/wait.js'
import { mainRequests } from './stage.js'

vi.setConfig({ testTimeout: 90_000 })

const MODEL = 'claude-opus-4-6'

/** A machine with a hook that notes every prompt. */
async function machine(): Promise<{ model: Model; home: Home; prompts: () => string }> {
  const model = await startModel({ script: { rest: 'Done.' } })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const noted = path.join(home.dir, 'prompts')
  writeFileSync(noted, '')
  home.settings({ hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: `cat >> ${noted}` }] }] } })
  return { model, home, prompts: () => readFileSync(noted, 'utf8') }
}

const heard = (model: Model, text: string, session?: string): boolean =>
  mainRequests(model, session).some((entry) => JSON.stringify(entry.body).includes(text))

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
