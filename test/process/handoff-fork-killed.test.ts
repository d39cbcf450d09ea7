import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { BRIEF } from '../client/handoff-tmux-stage.js'
import { makeGate } from '../harness/gate.js'
import { pretend } from '../harness/hooks.js'
import { alive, withEnvironment } from '../harness/processes.js'
import { registerClient } from '../harness/registry.js'
import { stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const CLIENT = fileURLToPath(new URL('../harness/fork-client.mjs', import.meta.url))

test('a handoff is completed once although its process is killed while a fork writes the brief', async () => {
  const it = await stage({}, { mod: false, config: 'handoff: { bar: 0, fork: true }\n' })
  const log = path.join(it.home.dir, 'forks')
  const gate = makeGate(it.home.dir, 'fork')
  const env = { ...it.home.env, FORK_LOG: log, FORK_BRIEF: BRIEF, FORK_GATE: gate.path }
  const client = spawn(process.execPath, [CLIENT], { env, stdio: 'ignore' })
  onTestFinished(() => void client.kill('SIGKILL'))
  const session = pretend(it.home, client.pid!)
  registerClient(it.home.configDir, { pid: client.pid!, sessionId: session.id, cwd: it.home.project })
  await session.hook('SessionStart', { source: 'startup', model: 'claude-opus-4-6' })
  await session.hook('UserPromptSubmit', { prompt: 'go' })
  await session.batch(60_008)
  await session.batch(150_008)
  await session.batch(151_008)
  const store = openStore(path.join(it.home.batonHome, 'baton.db'))
  onTestFinished(() => store.close())
  const forks = (): number => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0)
  const stop = session.hook('Stop', { stop_hook_active: false, last_assistant_message: 'I would rather go on.' })
  const isOver = (): boolean => store.handoffs().at(-1)?.state === 'waiting'
  /** Runs a command, which without a server detects the abandoned handoff. */
  const lookedAt = async (isSo: () => boolean): Promise<boolean> => {
    const driver = store.handoffs().at(-1)?.driver
    if (driver && !alive(driver.pid)) await it.sessions()
    return isSo()
  }
  await until('the fork is asked', () => lookedAt(() => forks() === 1))
  const { pid } = store.handoffs().at(-1)!.driver!
  process.kill(pid, 'SIGKILL')
  await until('it is dead', () => !alive(pid))
  gate.open()
  await until('the handoff waits', () => lookedAt(isOver))
  await stop
  const handoff = store.handoffs()
  expect(handoff).toMatchObject([{ state: 'waiting', fork: { outcome: expect.any(String) } }])
  expect(handoff[0]!.fork!.tries).toBe(2)
  expect(forks()).toBeLessThanOrEqual(2)
  expect(store.briefs()).toMatchObject([{ author: 'fork', status: 'checked', briefId: handoff[0]!.briefId }])
  expect(withEnvironment(`BATON_FORK=${handoff[0]!.handoffId}`)).toEqual([])
})
