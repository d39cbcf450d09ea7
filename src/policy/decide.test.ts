import { describe, expect, test } from 'vitest'
import type { Crossing, LevelAction } from '../contract/level.js'
import { type DecisionContext, decideOnCrossings } from './decide.js'
import { sampleLevel, samplePolicy, sampleSpeaker, sampleTrack } from './samples.cases.js'
import { ADVICE_BY_MODE } from './texts.js'

const NOTHING = { resets: 0, sinceHandoff: null, failures: 0 }
const about: DecisionContext = {
  speaker: sampleSpeaker,
  job: false,
  lately: NOTHING,
  mayHandOver: false,
  mayOffer: true,
  reported: false,
  handingOver: false,
}
const judge = (crossed: Crossing[], changes: Partial<DecisionContext> = {}, track = sampleTrack(120_000)) =>
  decideOnCrossings(crossed, track, samplePolicy, { ...about, ...changes })
const listeners = (...actions: LevelAction[]) => {
  const decision = judge([sampleLevel('one', actions)])
  return decision && (['agent', 'user', 'parent'] as const).filter((who) => decision[who] !== null)
}

describe('who is told', () => {
  test('no message is sent when no level was crossed or no crossed level has an action', () => {
    expect(judge([])).toBeNull()
    expect(listeners()).toBeNull()
  })

  test('no message is sent in a session of a job, because its runner decides', () => {
    expect(judge([sampleLevel('critical', ['user', 'agent', 'parent', 'request-handoff'])], { job: true })).toBeNull()
  })

  test('a message goes to exactly the recipients that the level names', () => {
    expect(listeners('user')).toEqual(['user'])
    expect(listeners('agent')).toEqual(['agent'])
    expect(listeners('parent')).toEqual(['parent'])
    expect(listeners('user', 'parent')).toEqual(['user', 'parent'])
  })

  test.each(['request-handoff', 'hand-off', 'pause', 'hook:mine', 'webhook:ours'] as const)(
    'the action %s alone warns the user and the agent',
    (action) => expect(listeners(action)).toEqual(['agent', 'user']),
  )

  test('levels crossed in one jump send one message to all their recipients, naming the highest level', () => {
    const decision = judge([
      sampleLevel('notice', ['user'], 'sequential'),
      sampleLevel('warning', ['parent'], 'sequential'),
      sampleLevel('critical', ['agent'], 'urgent'),
    ])!
    expect([decision.level.name, decision.mode]).toEqual(['critical', 'urgent'])
    for (const text of [decision.agent, decision.user, decision.parent]) expect(text).toContain('critical')
    expect(decision.agent).toContain('120,000 tokens')
  })

  test('a higher level with a less urgent mode does not delay the message of a lower one in the same jump', () => {
    const decision = judge([
      sampleLevel('critical', ['agent', 'hand-off'], 'urgent'),
      sampleLevel('added-by-a-repository', ['user'], 'sequential'),
    ])!
    expect(decision).toMatchObject({ mode: 'urgent', handoff: true, lastCall: true })
  })

  test('a level without actions changes neither the name nor the mode of the message', () => {
    const decision = judge([sampleLevel('critical', ['agent'], 'urgent'), sampleLevel('tick', [], 'sequential')])!
    expect([decision.level.name, decision.mode]).toEqual(['critical', 'urgent'])
    expect(decision.agent).toContain('"critical"')
  })
})

describe('the user', () => {
  const handoff = [sampleLevel('handoff', ['request-handoff'], 'important')]

  test('the user is told that the session will be handed off, and how to cancel it', () => {
    const { user } = judge(handoff, { mayHandOver: true })!
    expect(user).toContain('fresh session')
    expect(user).toContain('baton handoffs cancel 01234567')
  })

  test('the user is not told of a handoff that is not allowed, guarded or already announced', () => {
    const guarded = { mayHandOver: true, lately: { ...NOTHING, failures: 99 } }
    for (const about of [{}, guarded, { mayHandOver: true, handingOver: true }])
      expect(judge(handoff, about)!.user).not.toContain('fresh session')
    expect(judge([sampleLevel('warning', ['user'])], { mayHandOver: true })!.user).not.toContain('fresh session')
  })
})

describe('what the agent is advised beside the request for a brief', () => {
  const handoff = [sampleLevel('handoff', ['request-handoff'], 'important')]

  test('the agent gets numbers without advice when a brief is requested, and the user gets them too', () => {
    const decision = judge(handoff, { mayHandOver: true })!
    expect(decision.agent).toContain('"handoff"')
    expect(decision.agent).toContain('120,000 tokens')
    for (const advice of Object.values(ADVICE_BY_MODE)) expect(decision.agent).not.toContain(advice)
    expect(decision.user).toContain('72% full')
  })

  test('the agent gets no advice at a later level while the brief is still requested', () => {
    const critical = [sampleLevel('critical', ['agent'], 'urgent')]
    expect(judge(critical, { handingOver: true })!.agent).not.toContain(ADVICE_BY_MODE.urgent)
    expect(judge(critical, { mayHandOver: true })!.agent).toContain(ADVICE_BY_MODE.urgent)
  })

  test('the agent gets advice when no brief is requested: handoffs are not allowed or guarded', () => {
    expect(judge(handoff)!.agent).toContain(ADVICE_BY_MODE.important)
    const stopped = judge(handoff, { mayHandOver: true, lately: { ...NOTHING, sinceHandoff: 1 } })!
    expect(stopped.guard).not.toBeNull()
    expect(stopped.agent).toContain(ADVICE_BY_MODE.important)
  })
})

describe('guards', () => {
  const handoff = [sampleLevel('handoff', ['request-handoff'])]
  const guard = (track = sampleTrack(120_000), recentResets = 0, levels = handoff) =>
    judge(levels, { lately: { ...NOTHING, resets: recentResets } }, track)?.guard

  test('guards stop nothing in the first cycle, and nothing where no handoff is wanted', () => {
    expect(guard()).toBeNull()
    expect(guard(sampleTrack(120_000, { cycle: 5, base: 119_000 }), 99, [sampleLevel('warning', ['user'])])).toBeNull()
  })

  test('a guard stops a handoff after too little new work in the cycle', () => {
    expect(guard(sampleTrack(120_000, { cycle: 2, base: 100_001 }))).toMatchObject({
      name: 'min_new_tokens',
      reason: expect.stringMatching(/\b19,999\b.*\b20,000\b/),
    })
    expect(guard(sampleTrack(120_000, { cycle: 2, base: 100_000 }))).toBeNull()
    expect(guard(sampleTrack(120_000, { cycle: 2, base: null }))?.reason).toMatch(/^only 0 new/)
  })

  test('new work is never counted as negative', () => {
    expect(guard(sampleTrack(50_000, { cycle: 2, base: 60_000 }))?.reason).toMatch(/^only 0 new tokens/)
  })

  test('a guard stops handoffs after too many resets in an hour', () => {
    expect(guard(sampleTrack(120_000), 5)).toBeNull()
    expect(guard(sampleTrack(120_000), 6)).toMatchObject({ name: 'max_unattended_per_hour' })
  })
})

describe('guards of a seat that was handed over', () => {
  const handoff = [sampleLevel('handoff', ['request-handoff'])]
  const guard = (lately: Partial<DecisionContext['lately']>, used = 120_000) =>
    judge(handoff, { lately: { ...NOTHING, ...lately } }, sampleTrack(used))?.guard?.name ?? null

  test('guards stop a handoff during the cooldown, without new work, and after three failures in a row', () => {
    expect(guard({ sinceHandoff: 10 })).toBe('cooldown_seconds')
    expect(guard({ sinceHandoff: 600 }, 1_000)).toBe('min_new_tokens')
    expect(guard({ failures: 3 })).toBe('breaker_after')
    expect(guard({ failures: 2 })).toBeNull()
  })
})
