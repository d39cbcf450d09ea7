import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { HandoffRecord } from '../../src/contract/handoff.js'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { alive, withEnvironment } from '../harness/processes.js'
import { pause } from '../harness/wait.js'
import { BRIEF } from './handoff-tmux-stage.js'
import { pretend } from './hooks.js'
import { stage } from './stage.js'

vi.setConfig({ testTimeout: 90_000 })

const CLIENT = fileURLToPath(new URL('../harness/fork-client.mjs', import.meta.url))

/** Where whoever has the fork write has come to; '' nowhere yet. */
const pointOf = ({ fork }: HandoffRecord, forks: number): string =>
  fork && fork.tries > 0 ? `begun ${fork.tries}${forks >= fork.tries ? ', asked' : ''}` : ''

test.each([
  ['once, while it is asked, without a server', false, /^begun 1, asked$/, 1, 'fork'],
  ['twice, as soon as it is begun, with a server', true, /^begun/, 2, 'baton'],
] as const)('whoever has a fork write is killed %s: nothing is lost or done twice', async (_, server, when, times, author) => {
  const it = await stage({}, { server, mod: false, config: 'handoff: { bar: 0, fork: true }\n' })
  const log = path.join(it.home.dir, 'forks')
  const env = { ...it.home.env, FORK_LOG: log, FORK_BRIEF: BRIEF, FORK_MS: '1500' }
  const client = spawn(process.execPath, [CLIENT], { env, stdio: 'ignore' })
  onTestFinished(() => void client.kill('SIGKILL'))
  const session = pretend(it.home, client.pid!)
  await session.hook('SessionStart', { source: 'startup', model: 'claude-opus-4-6' })
  await session.hook('UserPromptSubmit', { prompt: 'go' })
  await session.batch(60_008)
  await session.batch(150_008)
  await session.batch(151_008)
  const store = openStore(path.join(it.home.batonHome, 'baton.db'))
  onTestFinished(() => store.close())
  const forks = (): number => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0)
  const stop = session.hook('Stop', { stop_hook_active: false, last_assistant_message: 'I would rather go on.' })
  /** At which try. */
  const killed = new Set<number>()
  const isOver = (): boolean => store.handoffs().at(-1)?.state === 'waiting'
  let looked = Date.now()
  for (const end = Date.now() + 60_000; !isOver() && Date.now() < end; await pause(5)) {
    const handoff = store.handoffs().at(-1)
    const driver = handoff?.driver
    if (driver && alive(driver.pid) && !killed.has(handoff.fork?.tries ?? 0) && when.test(pointOf(handoff, forks()))) {
      process.kill(driver.pid, 'SIGKILL')
      killed.add(handoff.fork!.tries)
    }
    // without a server the next command finds that nobody sees to it
    if (Date.now() - looked < 1_000 || (driver && alive(driver.pid))) continue
    looked = Date.now()
    await it.baton('status')
  }
  await stop
  const handoff = store.handoffs()
  expect(handoff).toMatchObject([{ state: 'waiting', fork: { outcome: expect.any(String) } }])
  expect(killed.size).toBe(times)
  expect(handoff[0]!.fork!.tries).toBe(2)
  expect(forks()).toBeLessThanOrEqual(2)
  expect(store.briefs()).toMatchObject([{ author, status: 'checked', briefId: handoff[0]!.briefId }])
  expect(withEnvironment(`BATON_FORK=${handoff[0]!.handoffId}`)).toEqual([])
})
