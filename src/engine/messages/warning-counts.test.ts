import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start()
  s.prompt()
  s.step(60_000)
})
afterEach(() => app.remove())

const warnings = () => s.events('context_warning').map(({ data }) => data)

test('a warning from the mod before the transcript held the answer gets the counts of the answer', () => {
  s.reports(120_000, 1)
  const { answer, unsettled } = s.batch(['toolu_late'])
  expect(textsOfAnswer(answer).agent).toContain('Context level "warning"')
  expect({ told: warnings(), unsettled }).toEqual({ told: [], unsettled: true })
  s.answers(120_000)
  s.batch(['toolu_late'], { again: true })
  expect(warnings()).toMatchObject([
    { level: 'warning', usedTokens: 120_000, inputTokens: 8, cacheTokens: 119_992, messageId: expect.any(String) },
  ])
  s.step(121_000)
  expect(warnings()).toHaveLength(1)
})

test('a warning waits while the transcript shows only earlier answers', () => {
  s.reports(120_000, 1)
  s.batch(['toolu_late'])
  s.answers(90_000)
  s.batch(['toolu_late'], { again: true })
  expect(warnings()).toEqual([])
  s.answers(120_000)
  s.reports(121_000, 2)
  s.step(121_000)
  expect(warnings()).toMatchObject([{ level: 'warning', inputTokens: 8, cacheTokens: 119_992 }])
})

test('a warning whose answer never appears is emitted without its counts', () => {
  s.reports(120_000, 1)
  s.batch(['toolu_late'])
  s.reports(125_000, 2)
  s.step(125_000)
  expect(warnings()).toMatchObject([{ usedTokens: 120_000, inputTokens: null, cacheTokens: null }])
  s.reports(150_000, 3)
  s.batch(['toolu_later'])
  expect(warnings()).toHaveLength(1)
  s.end()
  expect(warnings()).toHaveLength(2)
})

test('a warning without a message has the token count that reached its level, even if read with a later one', () => {
  app.configure((policy) => ({
    ...policy,
    levels: policy.levels.map((level) => ({ ...level, actions: [], emitsWarning: true })),
  }))
  s.answers(90_000)
  s.answers(121_000)
  s.batch()
  const counts = (type: 'context_warning' | 'level_crossed', key: string) =>
    s.events(type).map(({ data }) => [data.level, data[key]])
  expect(counts('level_crossed', 'used_tokens')).toEqual([
    ['notice', 90_000],
    ['warning', 121_000],
  ])
  expect(counts('context_warning', 'usedTokens')).toEqual(counts('level_crossed', 'used_tokens'))
  expect(warnings()).toMatchObject([{ contextUsedPercent: 54, cacheTokens: 89_992 }, { contextUsedPercent: 72 }])
})
