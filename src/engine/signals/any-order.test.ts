import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  LEVEL_TOKENS,
  type SendSignalOptions,
  type TestApp,
  type TestSession,
  testApp,
  testSession,
  textsOfAnswer,
} from '../../testing/engine-session.js'
import { randomFrom } from '../../tracker/random.cases.js'
import type { TakeResult } from './take-signal.js'

/**
 * Runs one random session: growth, late and repeated figures, compactions with any of their signs,
 * restarts and both ways to answer.
 */
function runRandomSession(app: TestApp, s: TestSession, random: (below: number) => number) {
  const told: string[] = []
  const figures: number[] = []
  let used = 20_000
  let compactions = 0
  let launchers = 0
  const chance = (percent: number): boolean => random(100) < percent

  const recordAnswer = (taken: { answer: string }): void => {
    const { agent } = textsOfAnswer(taken.answer)
    if (agent !== null) told.push(agent)
  }
  /** Takes the text the launcher prints before the engine reads the event, where no server runs. */
  const runLauncher = (event: string): void => {
    const out = join(app.outbox, s.id)
    if (!existsSync(join(out, event))) return
    const taken = `${out}.taken.${++launchers}`
    renameSync(out, taken)
    recordAnswer({ answer: readFileSync(join(taken, event), 'utf8') })
    writeFileSync(join(taken, `given.${event}`), '')
  }
  const chooseDelivery = (event: string): SendSignalOptions => {
    if (chance(50)) return {}
    runLauncher(event)
    return { deliver: 'outbox' }
  }
  /** Signals that wait for an engine while the client continues and its transcript grows. */
  let spool: (() => void)[] | null = null
  const send = (event: string, call: (sending: SendSignalOptions) => TakeResult): void => {
    if (spool === null) {
      recordAnswer(call(chooseDelivery(event)))
      return
    }
    runLauncher(event)
    app.wait(1)
    const arrived = app.now().getTime()
    spool.push(() => call({ deliver: 'outbox', spooled: (app.now().getTime() + 1000 - arrived) / 1000 }))
  }
  const statusLine = (used: number | null, clientMs = app.now().getTime()): void => {
    if (spool === null) s.statusLine(used, { clientMs })
  }
  const drain = (): void => {
    for (const take of spool ?? []) take()
    spool = null
  }

  const climb = (): void => {
    used += 1000 + random(20_000)
    figures.push(used)
    const early = chance(20)
    if (early) statusLine(used)
    const tool = s.answers(used)
    send('PostToolBatch', (sending) => s.batch([tool], sending))
    // The status line lags behind, or an old run of it arrives only now.
    const before = figures.at(-2) ?? used
    if (chance(15)) statusLine(before, early ? 1 : app.now().getTime())
    if (chance(30)) statusLine(used)
    if (chance(15)) s.reports(used, app.now().getTime())
  }
  const compact = (): void => {
    const signs = [
      () => send('SessionStart', (sending) => s.start('compact', sending)),
      () => send('PostCompact', (sending) => s.postCompact('auto', { ...sending, deliver: 'keep' })),
      () => statusLine(chance(50) ? null : used),
    ].filter(() => chance(80))
    if (chance(80)) send('PreCompact', (sending) => s.preCompact('auto', { ...sending, deliver: 'keep' }))
    const boundary = (): void => {
      s.boundary()
      statusLine(null)
    }
    if (chance(30)) s.boundary()
    else signs.push(boundary)
    while (signs.length > 0) signs.splice(random(signs.length), 1)[0]!()
    s.reports(null, app.now().getTime())
    compactions++
    used = 15_000 + random(80_000)
    figures.length = 0
    figures.push(used)
    const tool = s.answers(used)
    send('PostToolBatch', (sending) => s.batch([tool], sending))
  }
  const restart = (): void => {
    s.end('other', { deliver: 'keep' })
    for (const text of told) s.holds(text)
    recordAnswer(s.start('resume', chooseDelivery('SessionStart')))
  }

  recordAnswer(s.start())
  recordAnswer(s.prompt())
  climb()
  for (let n = 0; n < 25; n++) {
    if (used > 150_000 || chance(5)) compact()
    else if (spool === null && chance(8)) restart()
    else if (chance(10)) {
      send('Stop', (sending) => s.stop(sending))
      send('UserPromptSubmit', (sending) => s.prompt(sending))
    } else climb()
    if (spool === null && chance(10)) spool = []
    else if (chance(30)) drain()
  }
  drain()
  for (let n = 0; n < 3; n++) {
    runLauncher('UserPromptSubmit')
    recordAnswer(s.prompt())
    recordAnswer(s.stop())
  }
  return { told, used, compactions }
}

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  'random session %i warns once per level and cycle and counts every compaction once',
  (seed) => {
    const app = testApp()
    try {
      const s = testSession(app)
      const { told, used, compactions } = runRandomSession(app, s, randomFrom(seed))
      const record = s.record()
      expect({ used: record.track.used, compactions: record.compactions }).toEqual({ used, compactions })
      expect(record.track.cycle).toBe(compactions + 1)

      const starts = s.events('compaction_start').map((event) => event.id)
      const ends = s.events('compaction_complete').map((event) => event.id)
      expect(ends).toHaveLength(starts.length)
      for (const [index, end] of ends.entries()) {
        expect(end).toBeGreaterThan(starts[index]!)
        expect(end).toBeLessThan(starts[index + 1] ?? Number.POSITIVE_INFINITY)
      }

      const crossings = s.events('level_crossed').map((event) => `${event.data.cycle} ${event.data.level}`)
      expect(new Set(crossings).size).toBe(crossings.length)
      const reached = Object.entries(LEVEL_TOKENS)
        .filter(([, at]) => used >= at)
        .map(([name]) => name)
      for (const name of reached) expect(record.track.latched.map((latch) => latch.name)).toContain(name)

      expect(new Set(told).size).toBe(told.length)
      const given = s.messages('context').filter((message) => message.status !== 'cancelled')
      expect(given.map((message) => message.status)).toEqual(given.map(() => 'delivered'))
      for (const message of given) expect(told.filter((text) => text.includes(message.agent_text!))).toHaveLength(1)
    } finally {
      app.remove()
    }
  },
)
