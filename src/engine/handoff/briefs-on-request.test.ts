import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transcriptReaders } from '../../agents/readers.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { readFacts } from '../compaction/read-facts.js'
import { giveBriefToSession, writeBriefNow } from './briefs-on-request.js'
import { dropBrief } from './handoff-calls.js'

const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: '1' }
let app: TestApp
let briefId: string
beforeEach(() => {
  app = testApp()
  const old = testSession(app, 'aaaaaaaa-0001', ATTENDED)
  old.start()
  old.asks('Fix the login.')
  const read = readFacts(transcriptReaders, 'claude-code', old.transcript, {})
  briefId = writeBriefNow(app.engine.deps, { sessionId: old.id, caller: null, reason: 'A test.', read }).briefId
})
afterEach(() => app.remove())

function startSession(id: string): TestSession {
  const session = testSession(app, id, ATTENDED)
  session.start()
  return session
}
const giveBriefTo = ({ id }: TestSession) =>
  giveBriefToSession(app.engine.deps, { briefId, sessionId: id, caller: null })
const brief = () => app.store.brief(briefId)!

describe('a brief given to a running session', () => {
  test('a brief whose handoff failed can be given to a running session', () => {
    app.store.transaction(() => app.store.putBrief({ ...brief(), status: 'failed' }))
    const next = startSession('cccccccc-0003')
    giveBriefTo(next)
    expect(textsOfAnswer(next.prompt().answer).agent).toContain('Fix the login.')
    next.step(20_000)
    expect(brief()).toMatchObject({ status: 'used', usedBySessionId: next.id })
  })

  test('a brief given to a running session counts as used once the agent has it', () => {
    const next = startSession('cccccccc-0003')
    giveBriefTo(next)
    expect(brief()).toMatchObject({ status: 'written', usedBySessionId: null })
    expect(readFileSync(join(app.outbox, next.id, 'UserPromptSubmit'), 'utf8')).toContain('Fix the login.')
    expect(next.record().lastHandoffPath).toBeNull()
    expect(textsOfAnswer(next.prompt().answer).agent).toContain('Fix the login.')
    next.step(20_000)
    expect(brief()).toMatchObject({ status: 'used', usedBySessionId: next.id, usedAt: expect.any(String) })
    expect(next.record().lastHandoffPath).toBe(brief().path)
    expect(() => giveBriefTo(startSession('dddddddd-0004'))).toThrow('in use by session cccccccc')
  })

  test('the user’s requests in a given brief are in the brief of the session that received it', () => {
    const next = startSession('cccccccc-0003')
    giveBriefTo(next)
    next.asks('Go on.')
    next.step(20_000)
    const read = readFacts(transcriptReaders, 'claude-code', next.transcript, {})
    const written = writeBriefNow(app.engine.deps, { sessionId: next.id, caller: null, reason: 'A test.', read })
    expect(written.parentBriefId).toBe(briefId)
    expect(readFileSync(written.path, 'utf8')).toContain('Fix the login.')
  })

  test('a brief given to a session cannot be given to another or dropped meanwhile', () => {
    const next = startSession('cccccccc-0003')
    giveBriefTo(next)
    expect(() => giveBriefTo(startSession('dddddddd-0004'))).toThrow('session cccccccc')
    expect(() => dropBrief(app.engine.deps, { briefId, caller: null })).toThrow('session cccccccc')
  })

  test('a brief can be given again when its session ends before receiving it, and that session loses it', () => {
    const next = startSession('cccccccc-0003')
    giveBriefTo(next)
    next.end('prompt_input_exit')
    expect(brief().status).toBe('written')
    const other = startSession('dddddddd-0004')
    giveBriefTo(other)
    expect(existsSync(join(app.outbox, next.id))).toBe(false)
    next.start('resume')
    expect(textsOfAnswer(next.prompt().answer).agent ?? '').not.toContain('Fix the login.')
    expect(textsOfAnswer(other.prompt().answer).agent).toContain('Fix the login.')
  })
})
