import { expect, test } from 'vitest'
import type { Session } from '../../contract/api/session-view.js'
import { aSession } from '../../testing/sample-session.js'
import { coloured, plain } from './screen.js'
import { keepOpenOrLastSessions, type SessionRow, sessionTable, tableLegend } from './session-table.js'
import { widthOf } from './text.js'

const now = new Date('2026-03-01T12:00:00Z')
const row = (change: Partial<Session> = {}, more: Partial<SessionRow> = {}): SessionRow => ({
  session: aSession(change),
  seatName: null,
  seenAt: '2026-03-01T11:58:00.000Z',
  pointExact: true,
  ...more,
})
const draw = (rows: SessionRow[], columns = 200): string[] =>
  sessionTable(rows, { columns, paint: plain, now, home: '/home/me' })

test('a wide terminal shows every column of the session table', () => {
  expect(draw([row()])).toEqual([
    'SESSION   SEAT       PROJECT  MODEL     STATE    CONTEXT     FULL  TOKENS     LEVEL    CYCLE  AGE',
    'd76d6c4d  seat_0123  ~/shop   opus-4-6  working  ▰▰▰▰▰▰▰▱┃▱   71%  119k/167k  warning      2  12s',
  ])
})

test('a narrow terminal drops columns but keeps session and percentage', () => {
  expect(draw([row()], 80)[0]).toBe('SESSION   SEAT       PROJECT  STATE    CONTEXT     FULL  TOKENS     LEVEL    AGE')
  expect(draw([row()], 60)[0]).toBe('SESSION   PROJECT  STATE    CONTEXT     FULL  LEVEL')
  expect(draw([row()], 30)).toEqual(['SESSION   FULL  LEVEL', 'd76d6c4d   71%  warning'])
  expect(draw([row()], 10)).toEqual(['SESSION   FULL', 'd76d6c4d   71%'])
})

test('the name of a seat is kept when nearly all other columns are dropped', () => {
  const named = [row({}, { seatName: 'api' })]
  expect(draw(named, 80)[0]).toContain('SEAT')
  expect(draw(named, 60)[0]).toBe('SESSION   SEAT  PROJECT  STATE    CONTEXT     FULL  LEVEL')
  expect(draw(named, 40)).toEqual(['SESSION   SEAT  STATE    FULL  LEVEL', 'd76d6c4d  api   working   71%  warning'])
})

test('the session table has one row for each open session, and the last one of a seat without any', () => {
  const at = (session_id: string, seat_id: string, state: Session['state']) => row({ session_id, seat_id, state })
  const rows = [
    at('a3', 'a', 'idle'),
    at('b2', 'b', 'ended'),
    at('a2', 'a', 'ended'),
    at('a1', 'a', 'working'),
    at('b1', 'b', 'ended'),
  ]
  expect(keepOpenOrLastSessions(rows).map(({ session }) => session.session_id)).toEqual(['a3', 'b2', 'a1'])
})

test('no line of the session table is wider than the terminal', () => {
  const rows = [
    row({
      project: '/srv/客户/日本語のとても長いプロジェクト名フォルダ',
      level: 'a-level-with-a-name-that-is-long',
      model: 'x'.repeat(60),
      stale: true,
    }),
    row(
      { state: 'ended', used_tokens: null, compaction_percent: null, updated_at: null },
      { seatName: 'a seat with a long name' },
    ),
  ]
  for (let columns = 20; columns < 200; columns += 7) {
    for (const line of sessionTable(rows, { columns, paint: coloured, now, home: undefined }))
      expect(widthOf(line)).toBeLessThanOrEqual(columns)
  }
})

test('derived figures are marked, unknown ones are a dash, and a legend explains the marks', () => {
  const derived = row({ exact: false }, { pointExact: false })
  expect(draw([derived])[1]).toContain('~71%  119k/~167k')
  expect(tableLegend([derived])).toEqual([expect.stringMatching(/^~ estimated/)])
  const unknown = row({
    used_tokens: null,
    used_percent: null,
    compaction_percent: null,
    exact: false,
    updated_at: null,
  })
  expect(draw([unknown])[1]).toMatch(/·{10} {5}– {2}–\/167k .* 2m$/)
  expect(tableLegend([unknown])).toEqual([expect.stringMatching(/^– unknown/)])
  expect(tableLegend([row()])).toEqual([])
})

test('the table gives the reason for a percentage above 100, and names a refusal point', () => {
  const over = row({ compaction_percent: 101.9, compaction_mode: 'reactive' })
  expect(draw([over])[1]).toContain('▰▰▰▰▰▰▰▰┃▰  101.9%*')
  expect(tableLegend([over])).toEqual([expect.stringMatching(/^\* above 100% .*API refuses/)])
  expect(tableLegend([row({ compaction_percent: 104 })])[0]).toContain('the next request will be compacted or refused')
  const off = row({ compaction_mode: 'off' })
  expect(draw([off])[1]).toContain('119k/167k†')
  expect(tableLegend([off])).toEqual([expect.stringMatching(/^† compaction is off/)])
})

test('the table shows that a session is switched off, stale or without a known model', () => {
  expect(draw([row({ enabled: false })])[1]).toContain('  off  ')
  expect(draw([row({ stale: true })])[1]).toMatch(/12s stale$/)
  expect(draw([row({ model: null, project: null })])[1]).toContain('seat_0123  –        –      working')
})

test('session titles are shown, and are cut before a column is dropped for them', () => {
  const titled = [row({ title: 'Fix the login and everything around it' }), row()]
  const [head, first, second] = draw(titled)
  expect(head).toMatch(/^SESSION +SEAT +TITLE +PROJECT/)
  expect(first).toContain('seat_0123  Fix the login and everything around it  ~/shop')
  expect(second).toMatch(/seat_0123 {2}– +~\/shop/)
  const narrow = sessionTable(titled, { columns: 80, paint: plain, now, home: '/home/me' })
  expect(narrow[1]).toMatch(/^d76d6c4d {2}Fix the login.*… /)
})

test('names from outside cannot write terminal sequences into the table', () => {
  const evil = row({ project: '/srv/\u001b[2Jx', model: 'm\u0007', level: 'l\u001b]0;t' }, { seatName: 's\r\n' })
  for (const line of draw([evil])) expect(line).not.toMatch(/[\u0000-\u001f]/)
})
