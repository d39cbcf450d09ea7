import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import { type OrderStage, orderStage, PROMPT } from './mod-orders-stage.js'

const MODEL = 'claude-opus-4-6'

/**
 * Makes the plugin module wait before `call` for a file of this name in the live folder. The file
 * `<name>.held` shows that it waits.
 */
const holdBefore = (call: string, name: string) => (program: string) => {
  expect(program).toContain(call)
  const held = `await $.fs.write(LIVE + '/${name}.held', '')`
  return program.replace(
    call,
    `${held}; while (!(await $.fs.exists(LIVE + '/${name}'))) await $.clock.sleep(20); ${call}`,
  )
}

/** Counts the fresh sessions that got the prompt. */
const given = (it: OrderStage): number => new Set(it.requestsWith(PROMPT).map((entry) => entry.session_id)).size

/**
 * Counts the sessions that the client began, from live files, because hooks die with the client.
 */
const sessions = (it: OrderStage): number =>
  readdirSync(it.liveDir).filter((name) => /^[\w-]+\.json$/.test(name)).length

const CLEAR = 'await $.command.run({ command: "clear" })'
const SUBMIT = 'try {\n    return dropReason(await $.prompt.submit'

test.each([
  ['before it is begun', null],
  ['when it is begun', holdBefore(CLEAR, 'gate')],
  ['when the session is cleared', holdBefore(SUBMIT, 'gate')],
  ['when the fresh session has the prompt', null],
] as const)(
  'a client that is killed around an order carries it out at most once, even after a resume: %s',
  async (when, change) => {
    const it = await orderStage(
      {
        steps: ['Done.'],
        rest: 'On.',
        conversations: [{ when: 'Go on with the parser', steps: [{ text: 'Went on.', hold: 'fresh' }] }],
      },
      change ?? undefined,
    )
    const tui = await startTui(it.home, { model: MODEL })
    await tui.submit('go')
    await tui.waitIdle()
    const session = tui.sessionId()!
    await until('the transcript', () => it.home.transcript(session)?.includes('Done.'))
    if (when === 'before it is begun') {
      await tui.type('half a thought')
      await tui.waitFor(/half a thought/)
    }
    const order = it.order(session)
    if (change) await until('the mod is held', () => existsSync(path.join(it.liveDir, 'gate.held')))
    else if (when === 'before it is begun') await until('the order is held', () => it.hindrance(order) === 'draft')
    else await until('the prompt', () => given(it) === 1)
    process.kill(tui.pid, 'SIGKILL')
    await tui.kill()
    const begun = it.answer(order)
    const before = { sessions: sessions(it), given: given(it) }
    expect(before.sessions).toBeLessThanOrEqual(2)
    writeFileSync(path.join(it.liveDir, 'gate'), '')
    it.model.release('fresh')

    const again = await startTui(it.home, { model: MODEL, args: ['--resume', session] })
    if (when === 'before it is begun') {
      expect(begun).toBeNull()
      await until('an order that was never begun is carried out now', () => it.answer(order)?.state === 'done')
      await until('the prompt', () => given(it) === 1)
      expect(again.sessionId()).not.toBe(session)
      return
    }
    expect(begun).not.toBeNull()
    // The plugin module checks for orders at each turn's end, so it has checked after the second.
    for (const prompt of ['a first turn', 'a second turn']) {
      await again.submit(prompt)
      await again.waitIdle()
    }
    expect({ sessions: sessions(it), given: given(it) }).toEqual(before)
    expect(again.sessionId()).toBe(session)
  },
)
