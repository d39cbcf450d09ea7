import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { startTui } from '../harness/tui.js'
import { pause, until } from '../harness/wait.js'
import { BRIEF, CLIMB, CONTINUE, FRESH, inState, MODEL, PROMPT, type TmuxStage, tmuxStage } from './handoff-tmux-stage.js'
import { mainRequests } from './stage.js'

vi.setConfig({ testTimeout: 180_000 })

const SCRIPT = { steps: [...CLIMB, { text: BRIEF, used: 152_008, delay_ms: 2_000 }], conversations: [FRESH] }

/** The client is gone without a word, and another program has its pane. */
function replaceClient(it: TmuxStage): string {
  const typed = path.join(it.home.dir, 'typed.txt')
  const tmux = (...args: string[]) => execFileSync('tmux', ['-S', it.tui.socket, ...args], { env: it.home.env })
  tmux('set-option', '-w', 'remain-on-exit', 'on')
  process.kill(it.tui.pid, 'SIGKILL')
  tmux('respawn-pane', '-k', '-t', it.tui.pane, `cat > ${typed}`)
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

test('the client dies before it is cleared: nothing is typed into what has its pane now, and the next start has the brief', async () => {
  const it = await tmuxStage(SCRIPT, { server: true })
  await it.tui.submit(PROMPT)
  await until('the brief is asked for', () => mainRequests(it.model).length >= 4, 30_000)
  await it.tui.type('my own words')
  await inState(it, 'clearing')
  await it.tui.waitStatus('idle')
  const typed = replaceClient(it)
  await inState(it, 'waiting')
  await pause(3_000)
  expect(readFileSync(typed, 'utf8')).toBe('')
  expect(it.handoff()).toMatchObject({ way: 'start', failedWays: ['tmux'] })
  await expectNextStart(it)
})

test.each([
  ['while it is cleared', (it: TmuxStage) => it.handoff().typing?.what === 'clear'],
  ['after it was cleared', (it: TmuxStage) => it.handoff().state === 'confirmed'],
] as const)('the client dies %s: nothing is typed elsewhere, and the next start has the brief', async (_, moment) => {
  const it = await tmuxStage(SCRIPT)
  await it.tui.submit(PROMPT)
  await until('the brief is asked for', () => it.handoffs().length > 0, 30_000)
  await until('the moment', () => moment(it), 60_000, 1)
  const typed = replaceClient(it)
  // without a server the next command sees to what nobody does
  await until(
    'it waits',
    async () => {
      await it.baton('status')
      return it.handoff().state === 'waiting'
    },
    90_000,
    1_000,
  )
  await pause(1_500)
  expect(readFileSync(typed, 'utf8')).toBe('')
  await expectNextStart(it)
})
