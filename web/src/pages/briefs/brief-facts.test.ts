import { expect, test } from 'vitest'
import type { BriefRow } from '../../../../src/contract/api/briefs.js'
import { briefMatches, briefTitle, countsByKind, inReviewOrder, missingByKind } from './brief-facts.js'

const brief = (change: Partial<BriefRow>): BriefRow =>
  ({
    brief_id: 'b',
    seat_id: 'seat_1',
    seat_name: 'api',
    author: 'agent',
    taken_at: '2026-11-16T10:00:00.000Z',
    review_until: null,
    ...change,
  }) as BriefRow

test('missing facts are grouped by kind, most important first', () => {
  expect(
    missingByKind([
      { kind: 'commit', text: 'c' },
      { kind: 'odd', text: 'o' },
      { kind: 'constraint', text: 'a' },
      { kind: 'constraint', text: 'b' },
    ]),
  ).toEqual([
    ['constraint', ['a', 'b']],
    ['commit', ['c']],
    ['odd', ['o']],
  ])
})

test('kinds without any fact are not counted', () => {
  expect(
    countsByKind({ commit: { total: 2, kept: 1 }, todo: { total: 0, kept: 0 }, request: { total: 1, kept: 1 } }),
  ).toEqual([
    { kind: 'request', total: 1, kept: 1 },
    { kind: 'commit', total: 2, kept: 1 },
  ])
})

test('briefs under review are listed by the end of their review', () => {
  const rows = [
    brief({ brief_id: 'yes' }),
    brief({ brief_id: 'late', review_until: '2026-11-16T11:00:00.000Z' }),
    brief({ brief_id: 'soon', review_until: '2026-11-16T10:01:00.000Z' }),
  ]
  expect(inReviewOrder(rows).map(({ brief_id }) => brief_id)).toEqual(['soon', 'late', 'yes'])
})

test('a brief is found by its seat and its author', () => {
  expect([briefMatches(brief({}), 'API agent'), briefMatches(brief({}), 'api person')]).toEqual([true, false])
})

test('a brief is named by its seat, the title of its job, or the folder of a seat without a name', () => {
  expect(briefTitle(brief({ sequence: 3 }))).toBe('Brief 3 of api')
  expect(briefTitle(brief({ sequence: 1, seat_name: null, project: '/home/me/shop' }))).toBe('Brief 1 of shop')
  const job = { sequence: 2, seat_name: 'job_799cc73155c9443f', title: 'Migrate the orders' }
  expect(briefTitle(brief(job))).toBe('Brief 2 of Migrate the orders')
})
