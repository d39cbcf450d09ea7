import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { faultGate } from '../harness/gate.js'
import { mainRequests } from '../harness/stage.js'
import { tempDir } from '../harness/temp-dir.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import {
  BRIEF,
  CLIMB,
  CONTINUE,
  FRESH,
  inState,
  MODEL,
  PROMPT,
  type TmuxStage,
  tmuxStage,
} from './handoff-tmux-stage.js'

const SCRIPT = { steps: [...CLIMB, { text: BRIEF, used: 152_008, hold: 'brief' }], conversations: [FRESH] }

/** Kills the client and starts another program in its pane. */
async function replaceClient(it: TmuxStage): Promise<string> {
  const typed = path.join(it.home.dir, 'typed.txt')
  const tmux = (...args: string[]) => execFileSync('tmux', ['-S', it.tui.socket, ...args], { env: it.home.env })
  tmux('set-option', '-w', 'remain-on-exit', 'on')
  process.kill(it.tui.pid, 'SIGKILL')
  tmux('respawn-pane', '-k', '-t', it.tui.pane, `cat > ${typed}`)
  await until('another program has the pane', () => existsSync(typed))
  return typed
}

async function expectNextStart(it: TmuxStage): Promise<void> {
  expect(it.continued()).toEqual([])
  const tui = await startTui(it.home, { model: MODEL })
  const fresh = tui.sessionId()!
  await inState(it, 'done')
  expect(it.continued()).toHaveLength(1)
  const [first] = mainRequests(it.model, fresh)
  expect(JSON.stringify(first!.body)).toContain('because the shop opens on Monday')
  expect(JSON.stringify(first!.body)).toContain(CONTINUE)
  expect(it.handoff()).toMatchObject({ newSessionId: fresh, way: 'start' })
}

test('nothing is typed into a program in a dead client’s pane, and the next start gets the brief', async () => {
  const it = await tmuxStage(SCRIPT, { server: true })
  await it.tui.submit(PROMPT)
  await until('the brief is asked for', () => mainRequests(it.model).length >= 4)
  await it.tui.type('my own words')
  await it.tui.waitFor(/my own words/)
  it.model.release('brief')
  await inState(it, 'clearing')
  await it.tui.waitIdle()
  await until('the driver has seen the draft', () => it.refusal()?.startsWith('draft'))
  const typed = await replaceClient(it)
  await inState(it, 'waiting')
  await it.driverEnded()
  expect(readFileSync(typed, 'utf8')).toBe('')
  expect(it.handoff()).toMatchObject({ way: 'start', failedWays: ['tmux'] })
  await expectNextStart(it)
})

test('no key goes into the pane of a client that died after its clear; the next start has the brief', async () => {
  const gate = faultGate(tempDir(), 'DRIVER_TYPING')
  const it = await tmuxStage(SCRIPT, { env: gate.env })
  await it.tui.submit(PROMPT)
  it.model.release('brief')
  await gate.reached()
  gate.pass()
  await inState(it, 'confirmed')
  await gate.reached()
  expect(it.handoff().state).toBe('confirmed')
  const typed = await replaceClient(it)
  gate.open()
  // Without a server the next command continues an abandoned handoff.
  await until('it waits', async () => {
    await it.sessions()
    return it.handoff().state === 'waiting'
  })
  await it.driverEnded()
  expect(readFileSync(typed, 'utf8')).toBe('')
  await expectNextStart(it)
})
