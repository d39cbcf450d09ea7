import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BriefStatus } from '../../contract/records/brief.js'
import { HANDOFF_STATES, type HandoffRecord, type HandoffState } from '../../contract/records/handoff.js'
import { sampleBrief, sampleHandoff } from '../../store/samples.cases.js'
import { type TestApp, testApp, testSession } from '../../testing/engine-session.js'
import { type PolicyContext, sessionContext } from '../session-context.js'
import {
  applyEvent,
  HANDOFF_EVENTS,
  type HandoffEvent,
  TRANSITIONS,
  transitionOf,
  updateHandoff,
} from './handoff-transitions.js'

const SRC = join(import.meta.dirname, '..', '..')
const PAGE = join(SRC, '..', 'docs', 'internals', 'state.md')
const EVENTS = Object.keys(HANDOFF_EVENTS) as HandoffEvent[]
const STATES: (HandoffState | null)[] = [null, ...HANDOFF_STATES]
const OVER: (HandoffState | null)[] = ['done', 'failed', 'cancelled']

let app: TestApp
let context: PolicyContext
beforeEach(() => {
  app = testApp()
  const session = testSession(app, 'aaaaaaaa-0001', { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' })
  session.start()
  context = sessionContext(app.engine.deps, app.engine.deps.agents['claude-code']!, session.record())
  app.wait(60)
})
afterEach(() => app.remove())

const inTransaction = (run: () => void): void => app.store.transaction(run)
const stored = (): HandoffRecord | null => app.store.handoff('h1')

/** Stores a handoff of the session in this state, with a brief. Null stores none. */
function storeHandoff(state: HandoffState | null, brief: BriefStatus = 'checked', id = 'h1'): HandoffRecord {
  const { seatId, sessionId } = context.record
  const handoff = sampleHandoff(id, { seatId, sessionId, state: state ?? 'requested', briefId: 'b1' })
  inTransaction(() => {
    app.store.putBrief(sampleBrief('b1', 1, { seatId, sessionId, status: brief }))
    if (state !== null) app.store.putHandoff(handoff)
  })
  return handoff
}

test.each(STATES)('a handoff in state %s follows the table for every event and refuses all others', (state) => {
  for (const event of EVENTS) {
    const handoff = storeHandoff(state, 'checked', `${state} ${event}`)
    const id = handoff.handoffId
    context.events = []
    app.logged.length = 0
    const moved = app.store.transaction(() => applyEvent(context, handoff, event, { trouble: 'because' }))
    const to = transitionOf(state, event)?.to ?? null
    if (to === null) {
      expect([event, moved, app.store.handoff(id)]).toEqual([event, null, state === null ? null : handoff])
      expect([event, app.store.brief('b1')?.status, context.events]).toEqual([event, 'checked', []])
      expect(app.logged).toEqual(['a handoff refused an event'])
    } else {
      const after = { ...handoff, state: to, stateAt: context.at, dueAt: null, trouble: 'because' }
      expect([event, moved, app.store.handoff(id)]).toEqual([event, after, after])
      expect(app.logged).toEqual([])
    }
  }
})

test('one pair of state and event has one row in the table', () => {
  const pairs = TRANSITIONS.flatMap(({ from, event }) => from.map((state) => `${state} ${event}`))
  expect(new Set(pairs).size).toBe(pairs.length)
})

test('every state but "written" can be reached from a request, and every event has a row', () => {
  const reached = new Set<HandoffState | null>([null])
  for (let size = 0; size !== reached.size; ) {
    size = reached.size
    for (const { from, to } of TRANSITIONS) if (from.some((state) => reached.has(state))) reached.add(to)
  }
  expect(STATES.filter((state) => !reached.has(state))).toEqual(['written'])
  expect(EVENTS.filter((event) => !TRANSITIONS.some((row) => row.event === event))).toEqual([])
})

test('no event leads away from done, failed and cancelled', () => {
  expect(TRANSITIONS.filter(({ from }) => from.some((state) => OVER.includes(state)))).toEqual([])
})

test('an open handoff in any state can be cancelled and can fail', () => {
  const open = STATES.filter((state) => state !== null && !OVER.includes(state))
  for (const event of ['handoff-cancelled', 'handoff-failed', 'signing-key-lost'] as const)
    expect(open.filter((state) => transitionOf(state, event) === null)).toEqual([])
})

test('an outdated copy of a handoff cannot bring back the state it had', () => {
  const old = storeHandoff('clearing')
  inTransaction(() => void applyEvent(context, old, 'handoff-cancelled', { trouble: 'because' }))
  inTransaction(() => {
    updateHandoff(context, old, { asked: 9 })
    expect(applyEvent(context, old, 'clear-ordered')).toBeNull()
  })
  expect(stored()).toMatchObject({ state: 'cancelled', asked: 9 })
})

test.each<[HandoffEvent, HandoffState, BriefStatus, BriefStatus, string[]]>([
  ['review-opened', 'checked', 'checked', 'review', []],
  ['clear-ordered', 'checked', 'checked', 'checked', ['handoff_started']],
  ['clear-ordered', 'clearing', 'checked', 'checked', []],
  ['fresh-session-began', 'waiting', 'checked', 'used', ['handoff_started']],
  ['fresh-session-began', 'clearing', 'checked', 'used', []],
  ['fresh-session-worked', 'started', 'used', 'used', ['handoff_completed']],
  ['fresh-session-lost', 'started', 'used', 'checked', []],
  ['conversation-compacted', 'review', 'review', 'written', ['handoff_cancelled']],
  ['brief-expired', 'confirmed', 'used', 'checked', ['handoff_cancelled']],
  ['brief-given-elsewhere', 'waiting', 'checked', 'checked', []],
  ['handoff-cancelled', 'waiting', 'checked', 'cancelled', ['handoff_cancelled']],
  ['handoff-cancelled', 'started', 'used', 'used', ['handoff_cancelled']],
  ['handoff-failed', 'clearing', 'checked', 'failed', ['handoff_failed']],
  ['signing-key-lost', 'review', 'review', 'checked', ['handoff_failed']],
])(
  '%s in state %s turns a brief that is %s into one that is %s and emits %j',
  (event, state, before, after, events) => {
    const handoff = storeHandoff(state, before)
    inTransaction(() => void applyEvent(context, handoff, event))
    expect(app.store.brief('b1')?.status).toBe(after)
    expect(context.events.map(({ type }) => type)).toEqual(events)
  },
)

test('nothing but handoff-transitions.ts stores a handoff', () => {
  const files = (readdirSync(SRC, { recursive: true }) as string[]).filter(
    (name) => name.endsWith('.ts') && !/\.(test|cases)\.ts$|(^|\/)fixtures\/|^testing\/|^store\//.test(name),
  )
  const writing = files.filter((file) => /\bputHandoff\b/.test(readFileSync(join(SRC, file), 'utf8')))
  expect(writing).toEqual(['engine/handoff/handoff-transitions.ts'])
})

test('docs/internals/state.md shows the table and the events as they are in the code', () => {
  const code = (names: readonly (string | null)[]): string => names.map((name) => `\`${name ?? 'none'}\``).join(', ')
  const rows = TRANSITIONS.map(
    ({ from, event, to, effects }) => `| ${code(from)} | \`${event}\` | \`${to}\` | ${effects.join('; ')} |`,
  )
  const events = Object.entries(HANDOFF_EVENTS).map(([event, when]) => `| \`${event}\` | ${when} |`)
  const page = readFileSync(PAGE, 'utf8')
  const shown = page.match(/<!-- transitions -->\n([\s\S]*?)\n<!-- \/transitions -->/)?.[1]
  expect(shown).toBe(
    [
      '| from | event | to | effects |',
      '|---|---|---|---|',
      ...rows,
      '',
      '| event | happens when |',
      '|---|---|',
      ...events,
    ].join('\n'),
  )
})
