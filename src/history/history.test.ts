import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { SpendIncrement } from '../contract/records/spend.js'
import { sampleJob } from '../store/jobs.cases.js'
import { sampleEvent, sampleSession } from '../store/samples.cases.js'
import { openStore } from '../store/sqlite/sqlite.js'
import type { Store } from '../store/store.js'
import { addDays, calendarIn } from './calendar.js'
import { readHistory, spendOfToday } from './history.js'

let store: Store
beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-history-'))
  store = openStore(join(dir, 'baton.db'))
  onTestFinished(() => {
    store.close()
    rmSync(dir, { recursive: true, force: true })
  })
})

const spend = (at: string, changes: Partial<SpendIncrement> = {}): void =>
  store.addSpend({
    sessionId: 's1',
    at,
    model: 'opus',
    steps: 1,
    input: 10,
    output: 5,
    cacheCreation: 20,
    cacheRead: 70,
    costUsd: 0.25,
    ...changes,
  })
const NOW = new Date('2026-03-10T12:00:00.000Z')
const read = (query: Parameters<typeof readHistory>[1] = {}) =>
  readHistory(store, { timezone: 'UTC', days: 3, ...query }, NOW)

describe('what was spent', () => {
  test('history lists spend for each day, newest last, with zeros for days without activity', () => {
    spend('2026-03-08T09:00:00.000Z')
    spend('2026-03-10T09:00:00.000Z')
    spend('2026-03-10T09:05:00.000Z', { sessionId: 's2', costUsd: null })
    spend('2026-03-01T09:00:00.000Z', { output: 999 })
    const history = read()
    expect(history.days.map(({ date, sessions, steps }) => [date, sessions, steps])).toEqual([
      ['2026-03-08', 1, 1],
      ['2026-03-09', 0, 0],
      ['2026-03-10', 2, 2],
    ])
    expect(history.totals).toEqual({
      sessions: 2,
      steps: 3,
      input_tokens: 30,
      output_tokens: 15,
      cache_creation_tokens: 60,
      cache_read_tokens: 210,
      cache_hit_rate: 0.7,
      cost_usd: 0.5,
      compactions: 0,
      handoffs: 0,
      tokens_saved: 0,
    })
    expect(history.since).toBe('2026-03-01')
  })

  test('spend within a quarter of an hour is added up, and an unknown cost stays null', () => {
    for (let i = 0; i < 10; i++) spend('2026-03-10T09:00:00.000Z', { costUsd: null })
    expect(store.spend({ fromQuarter: 0 })).toMatchObject([{ steps: 10, output: 50, costUsd: null }])
    expect(read().totals.cost_usd).toBeNull()
    spend('2026-03-10T09:00:00.000Z', { costUsd: 0.1 })
    spend('2026-03-10T09:01:00.000Z', { costUsd: null })
    expect(read().totals.cost_usd).toBe(0.1)
  })

  test('spend counts for the day of the requested timezone', () => {
    spend('2026-03-09T23:30:00.000Z')
    expect(read().days.map(({ steps }) => steps)).toEqual([0, 1, 0])
    expect(read({ timezone: 'Europe/Berlin' }).days.map(({ steps }) => steps)).toEqual([0, 0, 1])
    expect(read({ timezone: 'America/New_York' }).days.map(({ steps }) => steps)).toEqual([0, 1, 0])
    // Midnight in Kathmandu is a quarter past six in the evening in London.
    spend('2026-03-09T18:14:00.000Z')
    spend('2026-03-09T18:16:00.000Z')
    expect(read({ timezone: 'Asia/Kathmandu' }).days.map(({ steps }) => steps)).toEqual([0, 1, 2])
  })

  test('history lists spend by project and model, most expensive first', () => {
    store.transaction(() => {
      store.putSession(sampleSession('s1', { project: '/shop' }))
      store.putSession(sampleSession('s2', { project: '/mill' }))
    })
    spend('2026-03-10T09:00:00.000Z')
    spend('2026-03-10T09:00:00.000Z', { sessionId: 's2', model: 'haiku', costUsd: 3 })
    spend('2026-03-10T09:00:00.000Z', { sessionId: 'gone', model: null, costUsd: null })
    const { projects, models } = read()
    expect(projects.map(({ project, cost_usd }) => [project, cost_usd])).toEqual([
      ['/mill', 3],
      ['/shop', 0.25],
      [null, null],
    ])
    expect(models.map(({ model }) => model)).toEqual(['haiku', 'opus', null])
  })

  test('spend of a job in a worktree counts for its repository', () => {
    const path = '/code/shop/.worktrees/job_1'
    const worktree = { path, branch: 'agent/job_1', base: 'main', repository: '/code/shop' }
    store.putJob(sampleJob('job_1', { workspace: { folder: path, worktree } }))
    store.putSession(sampleSession('s1', { project: path }))
    store.putSession(sampleSession('s2', { project: '/code/shop' }))
    spend('2026-03-10T09:00:00.000Z')
    spend('2026-03-10T09:00:00.000Z', { sessionId: 's2' })
    expect(read().projects).toMatchObject([{ project: '/code/shop', sessions: 2 }])
  })

  test('the spend of today is the spend since midnight', () => {
    spend('2026-03-09T23:59:00.000Z', { output: 1_000 })
    spend('2026-03-10T00:01:00.000Z')
    expect(spendOfToday(store, NOW, calendarIn('UTC'))).toEqual({ cost_usd: 0.25, input_tokens: 10, output_tokens: 5 })
  })

  test('history reads the store once, however much was spent', () => {
    const many = 1_000
    store.transaction(() => {
      for (let i = 0; i < many; i++)
        spend(new Date(NOW.getTime() - i * 9 * 3_600_000).toISOString(), { sessionId: `s${i % 300}` })
    })
    const asked: string[] = []
    const counted = new Proxy(store, {
      get: (of, name: keyof Store) => {
        asked.push(name)
        return of[name]
      },
    })
    const { totals } = readHistory(counted, { days: 400, timezone: 'Europe/Berlin' }, NOW)
    expect(totals.steps).toBe(many)
    expect(asked.sort()).toEqual(['firstSpend', 'jobs', 'milestones', 'spend'])
  })
})

describe('compactions and handoffs', () => {
  test('compactions and handoffs count on their day with the tokens they saved, failed compactions do not', () => {
    const at = '2026-03-10T10:00:00.000Z'
    store.putSession(sampleSession('s1', { project: '/shop' }))
    const event = (type: 'compaction_complete' | 'handoff_completed', data: object, when = at): void =>
      void store.addEvent(sampleEvent(type, { session_id: 's1', at: when, data: { ...data } }))
    event('compaction_complete', { outcome: 'completed', tokensSaved: 100_000 })
    event('compaction_complete', { outcome: 'failed', tokensSaved: null })
    event('handoff_completed', { inputTokens: 150_000 })
    event('handoff_completed', { inputTokens: 1 }, '2026-02-01T10:00:00.000Z')
    const { totals, projects, days } = read()
    expect(totals).toMatchObject({ compactions: 1, handoffs: 1, tokens_saved: 250_000, sessions: 0 })
    expect(projects).toMatchObject([{ project: '/shop', compactions: 1 }])
    expect(days.at(-1)).toMatchObject({ date: '2026-03-10', handoffs: 1 })
  })
})

describe('the calendar', () => {
  test("an unknown timezone is refused, and without one the machine's timezone is used", () => {
    expect(() => calendarIn('Mars/Olympus')).toThrow('Unknown timezone "Mars/Olympus".')
    expect(calendarIn().timezone).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone)
  })

  test('days are counted correctly across changes of daylight saving time', () => {
    expect(addDays('2026-03-29', 1)).toBe('2026-03-30')
    expect(addDays('2026-03-01', -1)).toBe('2026-02-28')
    expect(calendarIn('Europe/Berlin').dateAt(Date.parse('2026-10-25T22:59:59.000Z'))).toBe('2026-10-25')
    expect(calendarIn('Europe/Berlin').dateAt(Date.parse('2026-10-25T23:00:00.000Z'))).toBe('2026-10-26')
  })
})
