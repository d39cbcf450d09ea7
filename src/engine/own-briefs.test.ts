import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readers } from '../agents/readers.js'
import { dropBrief } from './handoff-calls.js'
import { takeUp, writeNow } from './own-briefs.js'
import { readFacts } from './read-facts.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: '1' }
let house: TrialHouse
let briefId: string
beforeEach(() => {
  house = trialHouse()
  const old = trialSession(house, 'aaaaaaaa-0001', ATTENDED)
  old.start()
  old.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content: 'Fix the login.' } })
  old.prompt()
  const read = readFacts(readers, 'claude-code', old.transcript, {})
  briefId = writeNow(house.engine.parts, { sessionId: old.id, caller: null, read }).briefId
})
afterEach(() => house.remove())

function begun(id: string): TrialSession {
  const session = trialSession(house, id, ATTENDED)
  session.start()
  return session
}
const use = ({ id }: TrialSession) => takeUp(house.engine.parts, { briefId, sessionId: id, caller: null })
const brief = () => house.store.brief(briefId)!

describe('a brief given to a running session', () => {
  it('may be one whose handoff failed: its text is as good as before', () => {
    house.store.transaction(() => house.store.putBrief({ ...brief(), status: 'failed' }))
    const next = begun('cccccccc-0003')
    use(next)
    expect(said(next.prompt().answer).agent).toContain('Fix the login.')
    next.step(20_000)
    expect(brief()).toMatchObject({ status: 'used', usedBySessionId: next.id })
  })

  it('is used once the agent has it, and not before', () => {
    const next = begun('cccccccc-0003')
    use(next)
    expect(brief()).toMatchObject({ status: 'written', usedBySessionId: null })
    expect(readFileSync(join(house.outbox, next.id, 'UserPromptSubmit'), 'utf8')).toContain('Fix the login.')
    expect(next.record().lastHandoffPath).toBeNull()
    expect(said(next.prompt().answer).agent).toContain('Fix the login.')
    next.step(20_000)
    expect(brief()).toMatchObject({ status: 'used', usedBySessionId: next.id, usedAt: expect.any(String) })
    expect(next.record().lastHandoffPath).toBe(brief().path)
    expect(() => use(begun('dddddddd-0004'))).toThrow('was used')
  })

  it('is handed on: what the user asked for in it stands in the brief of the session it was given to', () => {
    const next = begun('cccccccc-0003')
    use(next)
    next.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content: 'Go on.' } })
    next.prompt()
    next.step(20_000)
    const read = readFacts(readers, 'claude-code', next.transcript, {})
    const written = writeNow(house.engine.parts, { sessionId: next.id, caller: null, read })
    expect(written.parentBriefId).toBe(briefId)
    expect(readFileSync(written.path, 'utf8')).toContain('Fix the login.')
  })

  it('is given to nobody else meanwhile, nor dropped', () => {
    const next = begun('cccccccc-0003')
    use(next)
    expect(() => use(begun('dddddddd-0004'))).toThrow('on its way to session cccccccc')
    expect(() => dropBrief(house.engine.parts, { briefId, caller: null })).toThrow('on its way')
  })

  it('can be given again when the session ends before, and is not given to that one any more', () => {
    const next = begun('cccccccc-0003')
    use(next)
    next.end('prompt_input_exit')
    expect(brief().status).toBe('written')
    const other = begun('dddddddd-0004')
    use(other)
    expect(existsSync(join(house.outbox, next.id))).toBe(false)
    next.start('resume')
    expect(said(next.prompt().answer).agent ?? '').not.toContain('Fix the login.')
    expect(said(other.prompt().answer).agent).toContain('Fix the login.')
  })
})
