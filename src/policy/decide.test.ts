import { describe, expect, test } from 'vitest'
import type { Action, Crossing } from '../contract/level.js'
import { type Circumstances, decide } from './decide.js'
import { sampleLevel, samplePolicy, sampleSpeaker, sampleTrack } from './samples.cases.js'

const NOTHING = { resets: 0, sinceHandoff: null, failures: 0 }
const about: Circumstances = {
  speaker: sampleSpeaker,
  job: false,
  lately: NOTHING,
  mayHandOver: false,
  mayOffer: true,
  reported: false,
  handingOver: false,
}
const judge = (crossed: Crossing[], changes: Partial<Circumstances> = {}, track = sampleTrack(120_000)) =>
  decide(crossed, track, samplePolicy, { ...about, ...changes })
const listeners = (...actions: Action[]) => {
  const decision = judge([sampleLevel('one', actions)])
  return decision && (['agent', 'user', 'parent'] as const).filter((who) => decision[who] !== null)
}

describe('who is told', () => {
  test('nobody, when no level was crossed or none has anything to do', () => {
    expect(judge([])).toBeNull()
    expect(listeners()).toBeNull()
  })

  test('nobody in a session Baton started itself: its runner decides', () => {
    expect(judge([sampleLevel('critical', ['user', 'agent', 'parent', 'request-handoff'])], { job: true })).toBeNull()
  })

  test('exactly those the level names', () => {
    expect(listeners('user')).toEqual(['user'])
    expect(listeners('agent')).toEqual(['agent'])
    expect(listeners('parent')).toEqual(['parent'])
    expect(listeners('user', 'parent')).toEqual(['user', 'parent'])
  })

  test.each(['request-handoff', 'hand-off', 'pause', 'hook:mine', 'webhook:ours'] as const)(
    '%s warns the user and the agent until it can do more',
    (action) => expect(listeners(action)).toEqual(['agent', 'user']),
  )

  test('all whom the jumped levels name together, in one message that names the highest', () => {
    const decision = judge([
      sampleLevel('notice', ['user'], 'sequential'),
      sampleLevel('warning', ['parent'], 'sequential'),
      sampleLevel('critical', ['agent'], 'urgent'),
    ])!
    expect([decision.level.name, decision.mode]).toEqual(['critical', 'urgent'])
    for (const text of [decision.agent, decision.user, decision.parent]) expect(text).toContain('critical')
    expect(decision.agent).toContain('120,000 tokens')
  })

  test('a higher level that is less pressing does not delay the message of a lower one in the same jump', () => {
    const decision = judge([
      sampleLevel('critical', ['agent', 'hand-off'], 'urgent'),
      sampleLevel('added-by-a-repository', ['user'], 'sequential'),
    ])!
    expect(decision).toMatchObject({ mode: 'urgent', handoff: true, lastCall: true })
  })

  test('a higher level that only appears on the timeline lends the message neither name nor mode', () => {
    const decision = judge([sampleLevel('critical', ['agent'], 'urgent'), sampleLevel('tick', [], 'sequential')])!
    expect([decision.level.name, decision.mode]).toEqual(['critical', 'urgent'])
    expect(decision.agent).toContain('"critical"')
  })
})

describe('the person', () => {
  const handoff = [sampleLevel('handoff', ['request-handoff'], 'important')]

  test('hears that the session is about to be handed over, and how to stop it', () => {
    const { user } = judge(handoff, { mayHandOver: true })!
    expect(user).toContain('a fresh session continues after this turn')
    expect(user).toContain('baton handoffs cancel 01234567')
  })

  test('hears nothing of the kind where it is not: nobody may, a guard is in the way, or it was said before', () => {
    const guarded = { mayHandOver: true, lately: { ...NOTHING, failures: 99 } }
    for (const about of [{}, guarded, { mayHandOver: true, handingOver: true }])
      expect(judge(handoff, about)!.user).not.toContain('fresh session')
    expect(judge([sampleLevel('warning', ['user'])], { mayHandOver: true })!.user).not.toContain('fresh session')
  })
})

describe('what the agent is advised beside the request for a brief', () => {
  const handoff = [sampleLevel('handoff', ['request-handoff'], 'important')]
  const advice = 'write down goal'

  test('is nothing but the figures, and the person hears them too', () => {
    const decision = judge(handoff, { mayHandOver: true })!
    expect(decision.agent).toContain('"handoff"')
    expect(decision.agent).toContain('120,000 tokens')
    expect(decision.agent).not.toContain(advice)
    expect(decision.user).toContain('72% full')
  })

  test('is nothing either at a later level while the brief is still wanted', () => {
    const critical = [sampleLevel('critical', ['agent'], 'urgent')]
    expect(judge(critical, { handingOver: true })!.agent).not.toContain(advice)
    expect(judge(critical, { mayHandOver: true })!.agent).toContain(advice)
  })

  test('is given where no brief is asked for: the session may not be handed over, or a guard stops it', () => {
    expect(judge(handoff)!.agent).toContain(advice)
    const stopped = judge(handoff, { mayHandOver: true, lately: { ...NOTHING, sinceHandoff: 1 } })!
    expect(stopped.guard).not.toBeNull()
    expect(stopped.agent).toContain(advice)
  })
})

describe('guards', () => {
  const handoff = [sampleLevel('handoff', ['request-handoff'])]
  const guard = (track = sampleTrack(120_000), recentResets = 0, levels = handoff) =>
    judge(levels, { lately: { ...NOTHING, resets: recentResets } }, track)?.guard

  test('do not speak in the first cycle, nor where no handoff is wanted', () => {
    expect(guard()).toBeNull()
    expect(guard(sampleTrack(120_000, { cycle: 5, base: 119_000 }), 99, [sampleLevel('warning', ['user'])])).toBeNull()
  })

  test('too little new work in this cycle', () => {
    expect(guard(sampleTrack(120_000, { cycle: 2, base: 100_001 }))).toMatchObject({
      name: 'min_new_tokens',
      reason: 'only 19,999 new tokens in this cycle, 20,000 wanted',
    })
    expect(guard(sampleTrack(120_000, { cycle: 2, base: 100_000 }))).toBeNull()
    expect(guard(sampleTrack(120_000, { cycle: 2, base: null }))?.reason).toMatch(/^only 0 new/)
  })

  test('never counts new work below zero', () => {
    expect(guard(sampleTrack(50_000, { cycle: 2, base: 60_000 }))?.reason).toMatch(/^only 0 new tokens/)
  })

  test('too many resets in an hour', () => {
    expect(guard(sampleTrack(120_000), 5)).toBeNull()
    expect(guard(sampleTrack(120_000), 6)).toMatchObject({ name: 'max_unattended_per_hour' })
  })
})

describe('guards of a seat that was handed over', () => {
  const handoff = [sampleLevel('handoff', ['request-handoff'])]
  const guard = (lately: Partial<Circumstances['lately']>, used = 120_000) =>
    judge(handoff, { lately: { ...NOTHING, ...lately } }, sampleTrack(used))?.guard?.name ?? null

  test('let it cool down, want new work, and stop after some failures in a row', () => {
    expect(guard({ sinceHandoff: 10 })).toBe('cooldown_seconds')
    expect(guard({ sinceHandoff: 600 }, 1_000)).toBe('min_new_tokens')
    expect(guard({ failures: 3 })).toBe('breaker_after')
    expect(guard({ failures: 2 })).toBeNull()
  })
})
