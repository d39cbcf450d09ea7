import { describe, expect, test } from 'vitest'
import { queryPlanOf as planFor } from '../../testing/query-plan.js'
import type { EventQuery } from '../store.js'
import { eventRows } from './events.js'

const planOf = (ask: (rows: ReturnType<typeof eventRows>) => unknown): string => planFor((sql) => ask(eventRows(sql)))
const planOfEvents = (query: EventQuery) => planOf((rows) => rows.events(query))

describe('query plans for events', () => {
  test('a query for newer events reads only those, however long the history is', () => {
    for (const query of [
      { afterId: 5, limit: 10 },
      { afterId: 5, limit: 10, readings: 'newest' },
      { afterId: 5, sessionId: 's1', readings: 'newest' },
      { jobId: 'j1', readings: 'none' },
    ] satisfies EventQuery[]) {
      expect(planOfEvents(query), JSON.stringify(query)).toContain('SEARCH')
      expect(planOfEvents(query), JSON.stringify(query)).not.toContain('SCAN')
    }
  })

  test('a query without readings does not read them', () => {
    for (const query of [
      { readings: 'none', afterId: 5, limit: 10 },
      { readings: 'none', limit: 10 },
    ] satisfies EventQuery[])
      expect(planOfEvents(query), JSON.stringify(query)).toContain('events_but_readings')
  })

  test('compactions and handoffs of a history are found by their own index', () => {
    expect(planOf((rows) => rows.milestones('2026-01-01'))).toContain('events_milestones')
  })
})
