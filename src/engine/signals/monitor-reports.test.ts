import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Reading } from '../../contract/reading.js'
import { BLANK_SIGNAL } from '../../contract/signal.js'
import { type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  app.engine.deps.leaveWork = () => {}
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.prompt()
})
afterEach(() => app.remove())

/** Sends a figure the way the endpoint for older monitors does. */
function report(used: number): void {
  const { agent, sessionId, cwd, project, transcriptPath, model, track } = app.store.session(s.id)!
  const reading: Reading = {
    used,
    usage: null,
    exact: false,
    model: null,
    source: 'monitor',
    answerId: null,
    stamp: null,
  }
  app.engine.takeSignal(
    {
      ...BLANK_SIGNAL,
      agent,
      sessionId,
      cwd,
      project,
      transcriptPath,
      model,
      reading,
      kind: 'status-line',
      event: 'context-usage',
      at: app.now().getTime(),
      limits: track.limits.window === null ? null : track.limits,
    },
    { deliver: 'keep' },
  )
}
const track = () => app.store.session(s.id)!.track
const handoffs = () => app.store.handoffs().map(({ state }) => state)
const crossed = () => s.events('level_crossed').map(({ data }) => data.level)

test('a monitor’s figure above every level warns and asks for no handoff', () => {
  s.step(60_000)
  report(166_000)
  expect(crossed()).toEqual(['notice', 'warning', 'handoff', 'critical'])
  expect(s.messages('context')).toHaveLength(1)
  expect(s.messages('context')[0]!.agent_text).not.toContain('handoff brief')
  s.prompt()
  s.batch()
  s.stop()
  expect(handoffs()).toEqual([])
  expect(app.store.briefs()).toEqual([])
  expect(s.events('guard_tripped')).toEqual([])
})

test('a level that a monitor reached first still hands off when Baton’s own figure reaches it', () => {
  s.step(60_000)
  report(166_000)
  s.step(150_000)
  expect(handoffs()).toEqual(['requested'])
  expect(crossed(), 'each level is on the timeline once').toEqual(['notice', 'warning', 'handoff', 'critical'])
  expect(track()).toMatchObject({ used: 150_000, source: 'transcript' })
})

test('Baton’s own lower figure replaces a reported one, even if it was known before', () => {
  s.step(60_000)
  report(166_000)
  expect(track()).toMatchObject({ used: 166_000, source: 'monitor', exact: false })
  s.statusLine(60_000)
  expect(track()).toMatchObject({ used: 60_000, source: 'status-line' })
  expect(handoffs()).toEqual([])
})

test('reports of a monitor do not make Baton’s own figures look late or repeated', () => {
  s.step(60_000)
  for (const used of [150_000, 151_000, 10, 199_000]) report(used)
  s.step(150_000)
  expect(track()).toMatchObject({ used: 150_000, source: 'transcript', seen: [60_000, 150_000] })
  expect(handoffs()).toEqual(['requested'])
})

test('a compaction reported by a monitor opens the levels again but archives, hands off and counts nothing', () => {
  s.step(100_000)
  report(120_000)
  app.engine.reportCompaction(s.id)
  expect(track()).toMatchObject({ used: null, source: null, latched: [], cycle: 1 })
  expect(app.store.session(s.id)).toMatchObject({ compactions: 0, compaction: null })
  expect(s.events('compaction_start', 'compaction_complete', 'archive_created', 'cycle_started')).toHaveLength(1)
  report(121_000)
  expect(crossed()).toEqual(['notice', 'warning', 'notice', 'warning'])
  expect(handoffs()).toEqual([])
})
