import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../harness/temp-dir.js'
import { until } from '../harness/wait.js'
import { BRIEF, CLIMB, FRESH, inState, PROMPT, type TmuxStage, tmuxStage } from './handoff-tmux-stage.js'

/** Kills the first process that reaches the write of an order, right after it stored the state. */
function killAtOrder(): { env: Record<string, string>; killed(): number } {
  const folder = tempDir()
  const program = path.join(folder, 'kill.cjs')
  const mark = path.join(folder, 'killed')
  writeFileSync(
    program,
    `const fs = require('node:fs')
const rename = fs.renameSync
fs.renameSync = (from, to) => {
  if (!String(to).endsWith('.order.json') || fs.existsSync(${JSON.stringify(mark)})) return rename(from, to)
  fs.writeFileSync(${JSON.stringify(mark)}, String(process.pid))
  process.kill(process.pid, 'SIGKILL')
}
require('node:module').syncBuiltinESMExports()
`,
  )
  return {
    env: { NODE_OPTIONS: `--require ${program}` },
    killed: () => (existsSync(mark) ? Number(readFileSync(mark, 'utf8')) : 0),
  }
}

const orderFile = (it: TmuxStage): string => path.join(it.home.batonHome, 'live', `${it.old}.order.json`)

test('an order whose writer was killed after storing it is carried out once by the next process', async () => {
  const { env, killed } = killAtOrder()
  const it = await tmuxStage(
    { steps: [...CLIMB, { text: BRIEF, used: 152_008 }], conversations: [FRESH] },
    { mod: true, server: true, env },
  )
  await it.tui.submit(PROMPT)
  await until('the server is killed', () => killed() > 0)
  const { orderId } = await inState(it, 'clearing', 'confirmed', 'started', 'done')
  expect(await it.baton('status')).toMatchObject({ code: 0 })
  expect(await inState(it, 'done')).toMatchObject({ way: 'mod', failedWays: [], orderId })
  expect(it.continued()).toHaveLength(1)
  expect(await it.clears()).toBe(1)
  expect(await it.events('handoff_failed')).toEqual([])
})

test('an order that a draft delays is never carried out after Baton was switched off', async () => {
  const script = {
    steps: [...CLIMB, { text: BRIEF, used: 152_008, hold: 'brief' }, { text: 'On.', used: 153_008 }],
    conversations: [FRESH],
  }
  const it = await tmuxStage(script, { mod: true })
  await it.tui.submit(PROMPT)
  await until('the brief is asked for', () => it.handoffs().length === 1)
  await it.tui.type('my own words')
  await it.tui.waitFor(/my own words/)
  it.model.release('brief')
  await inState(it, 'clearing')
  expect(await it.baton('off', it.old)).toMatchObject({ code: 0 })
  expect(it.handoff()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
  expect(existsSync(orderFile(it))).toBe(false)
  await it.tui.key('C-u')
  await it.tui.submit('go on')
  await it.tui.waitFor(/On\./)
  expect([it.tui.sessionId(), await it.clears(), it.continued()]).toEqual([it.old, 0, []])
})

test('a session whose plugin module stops responding is cleared once by keys', async () => {
  const script = { steps: [...CLIMB, { text: BRIEF, used: 152_008, hold: 'brief' }], conversations: [FRESH] }
  const it = await tmuxStage(script, { mod: true, env: { BATON_PATIENCE: '1' } })
  const program = path.join(it.home.configDir, 'skills', 'baton', 'hooks', 'register.js')
  await it.tui.submit(PROMPT)
  await until('the brief is asked for', () => it.handoffs().length === 1)
  writeFileSync(program, 'export const register = () => {}\n')
  it.model.release('brief')
  expect(await inState(it, 'clearing')).toMatchObject({ way: 'mod' })
  await until('the next way', () => it.handoff().way === 'tmux')
  expect(await inState(it, 'done')).toMatchObject({ way: 'tmux', failedWays: ['mod'] })
  expect([it.continued().length, await it.clears()]).toEqual([1, 1])
})
