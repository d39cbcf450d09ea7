import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { BriefRecord } from '../contract/records/brief.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import { judgeBriefs, judgeOpenHandoffs } from './check-store.js'
import { createDoctorHome } from './fixtures/doctor-home.js'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString()
const handoff = (over: Partial<HandoffRecord>): HandoffRecord =>
  ({
    handoffId: 'h1',
    seatId: 's',
    sessionId: 'a',
    state: 'waiting',
    stateAt: ago(90),
    dueAt: null,
    ...over,
  }) as HandoffRecord
const judge = (open: HandoffRecord[], undriven = false) =>
  judgeOpenHandoffs(
    open,
    NOW,
    () => undriven,
    () => {},
  )

test('without any handoffs or briefs the check reports none', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  fixture.signal('SessionStart', { session_id: 's1', source: 'startup' })
  expect((await fixture.examine()).of('handoffs')).toMatchObject({
    ok: true,
    detail: expect.stringContaining('No handoffs'),
  })
})

test('a damaged key is reported with the next step', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  fixture.signal('SessionStart', { session_id: 's1', source: 'startup' })
  writeFileSync(fixture.home.key, 'not a key')
  const found = (await fixture.examine()).of('handoffs')
  expect(found).toMatchObject({
    ok: false,
    detail: expect.stringContaining('is damaged'),
    fix: expect.stringContaining('backup'),
  })
})

test('a handoff that waits for the user is fine however long, and one that is stuck is reported', () => {
  expect(judge([handoff({}), handoff({ state: 'requested' })])).toEqual([])
  expect(judge([handoff({ state: 'clearing', stateAt: ago(5), dueAt: ago(-5) })])).toEqual([])
  const [stuck] = judge([handoff({ state: 'started' }), handoff({ state: 'confirmed', handoffId: 'h2' })])
  expect(stuck).toMatchObject({ detail: expect.stringMatching(/h1 .*1 more.*started for 2 h/) })
})

test('an overdue handoff can be repaired, and one that nobody types for is reported', () => {
  expect(judge([handoff({ state: 'clearing', dueAt: ago(10) })])).toMatchObject([
    { detail: expect.stringContaining('overdue'), repair: expect.any(Function) },
  ])
  expect(judge([handoff({ state: 'clearing', dueAt: ago(10) })], true)).toMatchObject([
    { detail: expect.stringContaining('/clear'), fix: expect.stringContaining('/clear') },
  ])
})

test('briefs whose files are missing or changed are counted and named', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-briefs-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'c'), 'other')
  const brief = (briefId: string) => ({ briefId, path: join(dir, briefId) }) as BriefRecord
  expect(judgeBriefs([])).toEqual([])
  expect(judgeBriefs([brief('a'), brief('b'), brief('c')]).map(({ detail }) => detail)).toEqual([
    'The file of 2 briefs (a, …) is missing.',
    'The file of a brief (c) was changed outside Baton.',
  ])
})
