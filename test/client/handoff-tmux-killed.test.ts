import { expect, test } from 'vitest'
import type { HandoffRecord } from '../../src/contract/records/handoff.js'
import type { FaultPoint } from '../../src/lib/fault-point.js'
import { faultGate } from '../harness/gate.js'
import { alive } from '../harness/processes.js'
import { tempDir } from '../harness/temp-dir.js'
import { until } from '../harness/wait.js'
import { BRIEF, CLIMB, FRESH, PROMPT, type TmuxStage, tmuxStage } from './handoff-tmux-stage.js'

const POINTS: FaultPoint[] = ['DRIVER_READY', 'DRIVER_TYPING', 'DRIVER_ENTER', 'DRIVER_CLEARED', 'DRIVER_PROMPTED']
const SCRIPT = { steps: [...CLIMB, { text: BRIEF, used: 152_008, hold: 'brief' }], conversations: [FRESH] }

/**
 * Kills the driver the first time it is held at each of these moments, and lets it pass at all
 * others, until the handoff is done and no driver runs. A handoff can be done while its driver
 * still waits for a sign that the client took the prompt, so the state alone does not end the loop.
 */
async function killAt(it: TmuxStage, gates: Gates, moments: string[]): Promise<string[]> {
  const killed: string[] = []
  for (;;) {
    // Each step gets its own time limit, because together they last several driver runs.
    const next = await until(
      async () => `a driver is held or the handoff is over; killed at ${killed}: ${await it.diagnosis()}`,
      async () => gates.find((gate) => gate.isReached()) ?? ((await isOver(it)) ? 'over' : null),
    )
    if (next === 'over') return killed
    // Read the state while the driver is held, because an earlier reading may be outdated.
    const { state, driver } = it.handoff()
    const moment = momentAt(next.point, state)
    if (moments.includes(moment) && !killed.includes(moment)) {
      process.kill(driver!.pid, 'SIGKILL')
      await until('the driver is dead', () => !alive(driver!.pid))
      killed.push(moment)
    }
    if (next.point === 'DRIVER_READY') it.model.release('brief')
    next.pass()
  }
}

/** True once the handoff is done and no driver runs. */
async function isOver(it: TmuxStage): Promise<boolean> {
  const handoff = it.handoffs().at(-1)
  if (!handoff || (handoff.driver && alive(handoff.driver.pid))) return false
  if (handoff.state === 'done') return true
  // Without a server the next command detects that no driver runs.
  await it.sessions()
  return false
}

/**
 * States that the client's hooks can set while the driver still runs, once the client has accepted
 * the typed text. They say nothing about the driver's progress.
 */
function momentAt(point: FaultPoint, state: HandoffRecord['state']): string {
  return point === 'DRIVER_CLEARED' || point === 'DRIVER_PROMPTED' ? point : `${point} ${state}`
}

type Gates = (ReturnType<typeof faultGate> & { point: FaultPoint })[]

test('a session is cleared once and prompted once although the typing process is killed repeatedly', async () => {
  const moments = ['DRIVER_READY requested', 'DRIVER_ENTER clearing', 'DRIVER_ENTER confirmed', 'DRIVER_PROMPTED']
  const folder = tempDir()
  const gates: Gates = POINTS.map((point) => ({ ...faultGate(folder, point), point }))
  const it = await tmuxStage(SCRIPT, { env: Object.assign({}, ...gates.map(({ env }) => env)) })
  await it.tui.submit(PROMPT)
  expect(await killAt(it, gates, moments)).toEqual(moments)
  for (const gate of gates) gate.open()
  await it.driverEnded()
  expect(it.handoff()).toMatchObject({ state: 'done', way: 'tmux' })
  expect(await it.clears()).toBe(1)
  expect(it.continued()).toHaveLength(1)
  expect(JSON.stringify(it.continued()[0]!.body)).toContain('because the shop opens on Monday')
  expect(await it.events('handoff_completed')).toHaveLength(1)
})
