import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { countWarnings, levelMark, mainRequests, type Stage, stage } from '../harness/stage.js'
import { startTui, type Tui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'

/** Runs one turn to its end and returns its requests to the model. */
async function turn(it: Stage, tui: Tui, prompt: string): Promise<{ notice: number[]; warning: number[] }> {
  const before = mainRequests(it.model).length
  await tui.submit(prompt)
  await tui.waitIdle()
  const since = (level: string): number[] => countWarnings(it.model, level).slice(before)
  return { notice: since('notice'), warning: since('warning') }
}

/** Checks that the status line shows the figure of the store. */
async function expectLine(it: Stage, tui: Tui, line: RegExp): Promise<string> {
  const screen = await tui.waitFor(line)
  const session = await it.show(tui.sessionId()!)
  const percent = /([\d.]+)% of compaction point/.exec(screen)?.[1]
  expect(percent === undefined ? null : Number(percent)).toBe(session.compaction_percent)
  return screen
}

test('an interactive session is measured and warned over several turns', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 50_008 },
        { bash: 'echo b', used: 90_008, grow: 1000, repeat: 3 },
        { text: 'First.', used: 93_008 },
        { bash: 'echo c', used: 94_008 },
        { text: 'Second.', used: 120_008 },
        { text: 'Third.', used: 121_008 },
      ],
      after_compaction: [
        { bash: 'echo d', used: 30_008 },
        { bash: 'echo e', used: 95_008, grow: 1000, repeat: 3 },
        { text: 'Fourth.', used: 98_008 },
      ],
    },
    { settings: { statusLine: { type: 'command', command: 'echo FORMER' } } },
  )
  const tui = await startTui(it.home, { model: MODEL })
  const first = tui.sessionId()!
  await expectLine(it, tui, /FORMER.*ctx – of 167k/s)

  const one = await turn(it, tui, 'go')
  expect(one.notice.indexOf(1)).toBeGreaterThan(1)
  expect(one.notice.slice(-2)).toEqual([1, 1])
  const screen = await expectLine(it, tui, /93k\/~?167k · notice/)
  expect(screen).toMatch(/FORMER/)
  expect(screen).toMatch(/\[baton\] notice: 5\d% full, about \d\dk tokens until compaction/)

  // The turn's last answer reached the level: no turn is forced, the next prompt carries the
  // warning.
  const two = await turn(it, tui, 'on')
  expect(two.warning).toEqual([0, 0])
  await expectLine(it, tui, /120k\/~?167k · warning/)
  const three = await turn(it, tui, 'and on')
  expect(three).toEqual({ notice: [1], warning: [1] })
  expect(await it.events('level_crossed')).toHaveLength(2)

  await tui.submit('/compact')
  await expectLine(it, tui, /ctx – of 167k/)
  await tui.waitIdle()
  expect(await it.show(first)).toMatchObject({
    used_tokens: null,
    compaction_percent: null,
    level: null,
    cycle: 2,
    compactions: 1,
  })
  const four = await turn(it, tui, 'after the compaction')
  expect(four.notice.slice(0, 2)).toEqual([0, 0])
  expect(four.notice.slice(-2)).toEqual([1, 1])
  await expectLine(it, tui, /98k\/~?167k · notice · compacted 1×/)

  await tui.submit('/clear')
  const second = await until('the new session', () => tui.sessionId() !== first && tui.sessionId())
  await expectLine(it, tui, /ctx – of 167k/)
  const [fresh, old] = await Promise.all([it.show(second), it.show(first)])
  expect(fresh).toMatchObject({ used_tokens: null, level: null, cycle_reason: 'clear', seat_id: old.seat_id })
  expect(old).toMatchObject({ state: 'ended', used_tokens: 98_008 })
  expect(fresh.chain.map((link) => link.session_id)).toEqual([first, second])
  const five = await turn(it, tui, 'anew')
  expect(five.notice.indexOf(1)).toBeGreaterThan(1)
  expect(five.notice.slice(-2)).toEqual([1, 1])
  await expectLine(it, tui, /93k\/~?167k · notice/)
  await tui.exit()
  expect((await it.sessions()).map((session) => session.state)).toEqual(['ended', 'ended'])
})

test('with BATON_DISABLE=1 only the user’s own status line runs', async () => {
  const it = await stage(
    { steps: [{ bash: 'echo a', used: 150_008 }, { bash: 'echo b', used: 151_008 }, 'Done.'] },
    { settings: { statusLine: { type: 'command', command: 'echo FORMER' } } },
  )
  const tui = await startTui(it.home, { model: MODEL, env: { BATON_DISABLE: '1' } })
  await tui.submit('go')
  await tui.waitIdle()
  expect(await tui.waitFor(/FORMER/)).not.toMatch(/ctx|compaction|baton\]/)
  expect(mainRequests(it.model).every((entry) => countOccurrences(entry, '[baton]') === 0)).toBe(true)
  await tui.exit()
  expect(existsSync(path.join(it.home.batonHome, 'baton.db'))).toBe(false)
  expect(it.strays()).toEqual([])
})

test('a change of the model moves the levels and re-arms those above the current figure', async () => {
  const it = await stage({
    steps: [
      { bash: 'echo a', used: 90_008, grow: 1000, repeat: 3 },
      { text: 'First.', used: 93_008 },
      { bash: 'echo b', used: 94_008 },
      { bash: 'echo c', used: 160_008, grow: 1000, repeat: 3 },
      { text: 'Second.', used: 163_008 },
    ],
  })
  const tui = await startTui(it.home, { model: MODEL })
  const { notice } = await turn(it, tui, 'go')
  expect(notice.at(-1)).toBe(1)
  await tui.submit('/model claude-opus-4-8')
  await until('the switch is confirmed', async () => {
    if (/Switch model\?/.test(await tui.screen())) await tui.key('Enter')
    return /Set model to/.test(await tui.screen())
  })
  await tui.waitFor(/93k\/~?967k/)
  const moved = await it.show(tui.sessionId()!)
  expect(moved).toMatchObject({
    window_tokens: 1_000_000,
    compaction_tokens: 967_000,
    used_tokens: 93_008,
    level: null,
    cycle: 1,
  })
  const second = await turn(it, tui, 'on')
  expect(second.notice.slice(-2)).toEqual([2, 2])
  const last = mainRequests(it.model).at(-1)!
  expect(countOccurrences(last, levelMark('notice'))).toBe(2)
  expect(countOccurrences(last, '(967,000)')).toBe(1)
  expect(await it.show(tui.sessionId()!)).toMatchObject({ level: 'notice', exact: true, cycle: 1 })
})
