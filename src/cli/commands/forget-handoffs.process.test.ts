import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sampleBrief, sampleEvent, sampleHandoff, sampleMessage, sampleSubagent } from '../../store/samples.cases.js'
import { openStore } from '../../store/sqlite/sqlite.js'
import type { Store } from '../../store/store.js'
import { createTestHome, sendReading } from '../../testing/cli-home.js'
import { aCompaction } from '../../testing/sample-compaction.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
const C = 'cccccccc-ef1f-4334-9716-3be98836406b'
const D = 'dddddddd-ef1f-4334-9716-3be98836406b'
const SECRET = 'never-say-this-again'
const LONG = `${SECRET} ${'x'.repeat(8_500)} ${SECRET}`

/**
 * Stores handoffs from A to B and from B to D,
 * and an earlier brief of A that was given to C by hand.
 */
function handedOver(store: Store): void {
  const seatId = store.session(A)!.seatId
  const coverage = { score: 0.5, missing: [{ kind: 'todo' as const, text: SECRET }], unsupported: [SECRET], byKind: {} }
  const brief = { seatId, sessionId: A, reason: SECRET, coverage, addenda: [] }
  const ofBaton = { seat_id: seatId, sender: 'baton', status: 'delivered' } as const
  store.transaction(() => {
    store.putBrief(sampleBrief('brief_1', 1, { ...brief, usedBySessionId: C }))
    const lasting = [
      { kind: 'constraint' as const, text: SECRET, line: 0, at: null, state: 'forbidden' as const, detail: {} },
    ]
    store.putBrief(sampleBrief('brief_2', 2, { ...brief, lasting, usedBySessionId: B }))
    const later = { seatId, reason: null, coverage: null, addenda: [], lasting }
    store.putBrief(sampleBrief('brief_3', 3, { ...later, sessionId: B, usedBySessionId: D }))
    store.putBrief(sampleBrief('brief_4', 4, { ...later, sessionId: D }))
    store.putHandoff(
      sampleHandoff('h1', {
        seatId,
        sessionId: A,
        state: 'done',
        newSessionId: B,
        draft: LONG,
        reason: SECRET,
        trouble: SECRET,
        question: SECRET,
        briefId: 'brief_2',
      }),
    )
    store.putMessage(
      sampleMessage('m1', { ...ofBaton, session_id: A, category: 'handoff', agent_text: `asked: ${SECRET}` }),
    )
    store.putMessage(
      sampleMessage('m2', { ...ofBaton, session_id: B, category: 'brief', agent_text: LONG, user_text: SECRET }),
    )
    store.putMessage(
      sampleMessage('m3', { ...ofBaton, session_id: C, category: 'brief', agent_text: LONG, status: 'queued' }),
    )
    store.putMessage(
      sampleMessage('m4', { ...ofBaton, session_id: B, category: 'handoff', agent_text: 'your own', status: 'queued' }),
    )
    store.putMessage(sampleMessage('m5', { ...ofBaton, session_id: B, category: 'context', agent_text: 'a level' }))
    store.putMessage(sampleMessage('m6', { ...ofBaton, session_id: B, category: 'recovery', agent_text: LONG }))
    store.putCompaction(aCompaction({ sessionId: B, first: { at: '2026-03-01', keys: [SECRET] } }))
    const lost = [
      { kind: 'constraint', text: SECRET, line: 0 },
      { kind: 'file', text: 'own.ts', line: 4 },
    ]
    store.addEvent(sampleEvent('loss_report', { session_id: B, data: { lost } }))
    store.putSubagent({ ...sampleSubagent(A, 'agent-1', 5), description: SECRET })
    for (const type of ['handoff_requested', 'handoff_failed', 'handoff_cancelled', 'message_cancelled'] as const)
      store.addEvent(sampleEvent(type, { session_id: A, data: { handoff_id: 'h1', reason: SECRET } }))
    store.addEvent(sampleEvent('handoff_failed', { session_id: B, data: { handoff_id: 'h1', reason: SECRET } }))
    store.addEvent(sampleEvent('cycle_started', { session_id: A, data: { cycle: 2, reason: 'clear' } }))
  })
}

test('forget deletes a session’s briefs with all their copies, drafts and reasons from the store', async () => {
  const fixture = createTestHome()
  for (const session of [A, B, C]) fixture.fill((app) => sendReading(app, { session, project: fixture.project }))
  fixture.fill((app) => handedOver(app.store))
  const home = fixture.env.BATON_HOME!
  const words = () =>
    ['baton.db', 'baton.db-wal'].some((name) => {
      const path = join(home, name)
      return existsSync(path) && readFileSync(path, 'latin1').includes(SECRET)
    })
  const laid = join(home, 'outbox', C)
  mkdirSync(laid, { recursive: true })
  writeFileSync(join(laid, 'UserPromptSubmit'), SECRET)
  writeFileSync(join(laid, 'ids'), 'm3\n')
  expect(words()).toBe(true)
  // Keep the store open in another connection,
  // so that closing it does not clean up for the command.
  const other = openStore(join(home, 'baton.db'))
  expect(other.session(A)).not.toBeNull()
  expect(await fixture.run(['archive', 'forget', 'aaaa'])).toMatchObject({ code: 0 })
  expect(words()).toBe(false)
  other.close()
  expect(existsSync(join(laid, 'UserPromptSubmit'))).toBe(false)
  fixture.fill(({ store }) => {
    expect(store.handoff('h1')).toMatchObject({
      state: 'done',
      newSessionId: B,
      draft: null,
      reason: null,
      trouble: null,
      question: null,
    })
    expect(store.compactions(B)).toEqual([])
    expect(store.events().find(({ type }) => type === 'loss_report')?.data.lost).toEqual([
      { kind: 'file', text: 'own.ts', line: 4 },
    ])
    const texts = ['m1', 'm2', 'm3', 'm4', 'm5'].map((id) => store.message(id)!)
    expect(texts.map(({ status, agent_text }) => [status, agent_text])).toEqual([
      ['delivered', null],
      ['delivered', null],
      ['cancelled', null],
      ['queued', 'your own'],
      ['delivered', 'a level'],
    ])
    expect(store.subagents(A)).toMatchObject([{ used: 5, description: null }])
    const told = store.events().filter(({ type }) => type.startsWith('handoff_') || type === 'message_cancelled')
    expect(told.map(({ data }) => data)).toEqual(Array(5).fill({ handoff_id: 'h1', reason: null, forgotten: true }))
    expect(store.events().find(({ type, data }) => type === 'cycle_started' && data.cycle === 2)?.data.reason).toBe(
      'clear',
    )
  })
  expect(await fixture.run(['archive', 'forget', 'aaaa'])).toMatchObject({ code: 3 })
})

test('forget also deletes the first draft of a handoff that has no brief', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project }))
  fixture.fill(({ store }) =>
    store.transaction(() => store.putHandoff(sampleHandoff('h1', { sessionId: A, draft: SECRET }))),
  )
  expect((await fixture.run(['archive', 'forget', 'aaaa'])).stdout).toMatch(/^Deleted quotes/)
  expect(fixture.fill(({ store }) => store.handoff('h1')?.draft)).toBeNull()
})
