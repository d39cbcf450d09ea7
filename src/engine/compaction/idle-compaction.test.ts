import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app, 'aaaaaaaa-0001', { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' })
  s.start()
  s.prompt()
  s.step(90_000)
})
afterEach(() => app.remove())

/**
 * Runs a compaction's hooks in the order in which Claude Code 2.1.325 ran them 54 minutes after a
 * turn.
 */
function compact(): string {
  s.preCompact()
  const { answer } = s.start('compact')
  s.boundary('auto', { preTokens: 90_020, postTokens: 3_000, durationMs: 1_575 })
  s.postCompact()
  return answer
}

test('a compaction of an idle session is marked idle, and the session stays idle', () => {
  s.stop()
  app.wait(54 * 60)
  compact()
  expect(s.events('compaction_start').map(({ data }) => data)).toMatchObject([
    { triggerReason: 'threshold_exceeded', idle: true },
  ])
  expect(s.events('compaction_complete').map(({ data }) => data)).toMatchObject([{ outcome: 'completed', idle: true }])
  expect(s.record()).toMatchObject({ state: 'idle', compactions: 1, track: { cycle: 2 } })
  expect(s.messages('compaction')[0]?.user_text).toContain('compacted while idle')
})

test('facts are put back after the compaction of an idle session as after any other', () => {
  s.write({
    type: 'user',
    promptSource: 'typed',
    turnOrigin: 'human',
    message: { role: 'user', content: 'Never touch a.ts.' },
  })
  s.stop()
  expect(textsOfAnswer(compact()).agent).toContain('Never touch a.ts.')
})

test('a compaction within a turn is not marked idle, and the session stays working', () => {
  compact()
  expect(s.events('compaction_start')[0]?.data).not.toHaveProperty('idle')
  expect(s.record().state).toBe('working')
})

test('a compaction with the first request of the next turn is not marked idle', () => {
  s.stop()
  s.prompt()
  compact()
  expect(s.events('compaction_start')[0]?.data).not.toHaveProperty('idle')
})

test('a manual compaction between turns is not marked idle', () => {
  s.stop()
  s.preCompact('manual')
  expect(s.events('compaction_start')[0]?.data).toMatchObject({ triggerReason: 'manual' })
  expect(s.events('compaction_start')[0]?.data).not.toHaveProperty('idle')
})
