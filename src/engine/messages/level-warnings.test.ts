import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { presetLevels } from '../../config/presets.js'
import { ADVICE_BY_MODE } from '../../policy/texts.js'
import {
  COMPACTION_POINT,
  LEVEL_TOKENS,
  type TestApp,
  type TestSession,
  testApp,
  testSession,
} from '../../testing/engine-session.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start()
})
afterEach(() => app.remove())

test('each level warns exactly at its own token count', () => {
  for (const [name, at] of Object.entries(LEVEL_TOKENS)) {
    s.step(at - 1)
    expect(s.events('level_crossed').some((event) => event.data.level === name)).toBe(false)
    s.step(at)
    expect(s.events('level_crossed').at(-1)?.data).toMatchObject({
      level: name,
      at_tokens: at,
      used_tokens: at,
      cycle: 1,
    })
  }
})

test('the event of a warning holds both percentages of the compaction point and the source of the figure', () => {
  s.step(120_000)
  expect(s.events('context_warning')[0]?.data).toEqual({
    contextUsedPercent: 72,
    contextRemainingPercent: 28,
    inputTokens: 8,
    cacheTokens: 119_992,
    contextWindow: 200_000,
    compactionTokens: COMPACTION_POINT,
    usedTokens: 120_000,
    level: 'warning',
    levels: ['notice', 'warning'],
    messageId: s.messages('context')[0]!.message_id,
  })
})

test('both percentages stay at 100 beyond the compaction point', () => {
  s.step(190_000)
  expect(s.events('context_warning')[0]?.data).toMatchObject({ contextUsedPercent: 100, contextRemainingPercent: 0 })
})

test('a level without actions appears on the timeline only, and is not named in the message of a higher one', () => {
  const quiet = {
    name: 'tick',
    at: { of: 'tokens', tokens: 100_000 },
    actions: [],
    mode: 'urgent',
    rule: '100k',
    from: '',
  }
  app.configure((policy) => ({ ...policy, levels: [...policy.levels, quiet as (typeof policy.levels)[0]] }))
  s.step(101_000)
  expect(s.events('level_crossed').map((event) => event.data.level)).toEqual(['notice', 'tick'])
  expect(s.events('context_warning').map((event) => event.data.level)).toEqual(['notice'])
  expect(s.messages('context')).toMatchObject([{ mode: 'sequential' }])
})

test('the preset tens emits one context_warning for each tenth and queues no message', () => {
  app.configure((policy) => ({ ...policy, levels: [...presetLevels(['tens']).values()] }))
  s.step(Math.ceil(COMPACTION_POINT * 0.1))
  s.step(Math.ceil(COMPACTION_POINT * 0.34))
  expect(s.messages()).toEqual([])
  expect(s.events('context_warning').map(({ data }) => [data.level, data.contextRemainingPercent])).toEqual([
    ['remaining-90', 90],
    ['remaining-80', 66],
    ['remaining-70', 66],
  ])
  expect(s.events('context_warning')[0]?.data).toEqual({
    contextUsedPercent: 10,
    contextRemainingPercent: 90,
    inputTokens: 8,
    cacheTokens: 16_692,
    contextWindow: 200_000,
    compactionTokens: COMPACTION_POINT,
    usedTokens: 16_700,
    level: 'remaining-90',
    levels: ['remaining-90'],
    messageId: null,
  })
})

test('the tenths beside the default levels do not take part in their message', () => {
  app.configure((policy) => ({ ...policy, levels: [...presetLevels(['default', 'tens']).values()] }))
  s.step(LEVEL_TOKENS.notice)
  const ofMessage = s.events('context_warning').filter(({ data }) => data.messageId !== null)
  expect(ofMessage.map(({ data }) => data.level)).toEqual(['notice'])
  expect(s.events('context_warning')).toHaveLength(1 + 5)
  expect(s.messages('context')).toHaveLength(1)
})

test('a session of a job emits one context_warning for each level it crosses and queues no message', () => {
  const ofJob = testSession(app, 'eeeeeeee-0005', { BATON_JOB_ID: 'job_1' })
  ofJob.start()
  ofJob.step(LEVEL_TOKENS.warning)
  expect(ofJob.messages()).toEqual([])
  expect(ofJob.events('context_warning').map(({ data }) => [data.level, data.levels, data.contextUsedPercent])).toEqual(
    [
      ['notice', ['notice'], 70],
      ['warning', ['warning'], 70],
    ],
  )
})

test('a figure from the mod before the transcript holds its answer has no token counts of an answer', () => {
  s.reports(90_000, 1)
  s.batch(['toolu_later'])
  expect(s.events('context_warning')[0]?.data).toMatchObject({
    usedTokens: 90_000,
    inputTokens: null,
    cacheTokens: null,
  })
})

test('a guard that stops a handoff tells the user', () => {
  s.step(150_000)
  expect(s.events('guard_tripped')).toEqual([])
  for (let n = 0; n < 6; n++) {
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary()
    s.step(30_000 + n)
  }
  s.step(150_001)
  expect(s.events('guard_tripped').map((event) => event.data)).toEqual([
    expect.objectContaining({
      guard: 'max_unattended_per_hour',
      reason: expect.stringContaining('6 resets'),
      level: 'handoff',
    }),
  ])
})

test('the guard counts neither resets of more than an hour ago nor the start', () => {
  for (let n = 0; n < 5; n++) {
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary()
    s.step(30_000 + n)
  }
  app.wait(3500)
  s.preCompact()
  s.start('compact')
  s.postCompact()
  s.boundary()
  s.step(30_009)
  app.wait(200)
  s.step(150_000)
  expect(s.events('guard_tripped')).toEqual([])
})

test('a session known only from its status line warns as well', () => {
  const bare = testSession(app, 'bbbbbbbb-0002')
  bare.statusLine(120_000)
  expect(bare.messages('context')).toMatchObject([{ status: 'queued' }])
  expect(bare.record()).toMatchObject({ costUsd: 0.5, agentVersion: '2.1.325', track: { source: 'status-line' } })
})

test('with the mod the compaction point is exact, and stays so while only derived figures follow', () => {
  s.reports(90_000, 1)
  s.step(90_000)
  expect(s.record().track).toMatchObject({ source: 'mod', limits: { exact: true, point: COMPACTION_POINT } })
  app.configure((policy) => policy)
  s.stop()
  expect(s.record().track.limits.exact).toBe(true)
})

describe('a session that may be handed over', () => {
  const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n'
  const endTurn = (answer: string) => s.endsTurn(answer).answer
  const handoffs = () => app.store.handoffs()
  beforeEach(() => {
    s = testSession(app, 'cccccccc-0003', { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' })
    s.start()
    s.prompt()
  })
  const asksForBrief = (answer: string) => answer.includes('handoff brief')

  test('a session is asked for one brief, however many levels it reaches meanwhile', () => {
    s.step(LEVEL_TOKENS.handoff)
    s.step(LEVEL_TOKENS.critical)
    expect(handoffs()).toMatchObject([{ level: 'handoff', state: 'requested', lastCall: true }])
    expect(s.messages('handoff')).toHaveLength(1)
  })

  test('a session gets the request and the figures, and no other advice on where to keep notes', () => {
    s.step(LEVEL_TOKENS.handoff)
    expect(s.messages('context').at(-1)).toMatchObject({ user_text: expect.stringContaining('handoff:') })
    const told = JSON.stringify(s.messages())
    expect(told).toContain('Context level')
    expect(asksForBrief(told)).toBe(true)
    for (const advice of Object.values(ADVICE_BY_MODE)) expect(told).not.toContain(advice)
  })

  test('the level handoff asks again for a thin brief; the level critical uses the brief it got', () => {
    app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0.9 } }))
    s.write({
      type: 'user',
      promptSource: 'typed',
      turnOrigin: 'human',
      message: { role: 'user', content: 'Never touch a.ts.' },
    })
    s.step(LEVEL_TOKENS.handoff)
    expect(asksForBrief(endTurn(BRIEF))).toBe(true)
    s.step(LEVEL_TOKENS.critical)
    expect(asksForBrief(endTurn(BRIEF))).toBe(false)
    expect(app.store.briefs()).toMatchObject([{ author: 'agent', status: 'checked' }])
    expect(handoffs()[0]).toMatchObject({ state: 'waiting', asked: 2 })
  })

  test('the level handoff at a turn’s last answer waits for the brief; the level critical does not', () => {
    s.answers(LEVEL_TOKENS.handoff)
    expect(asksForBrief(endTurn('Done.'))).toBe(true)
    expect(app.store.briefs()).toEqual([])
    const full = testSession(app, 'dddddddd-0004', { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'web' })
    s = full
    s.start()
    s.prompt()
    s.answers(LEVEL_TOKENS.critical)
    expect(asksForBrief(endTurn('Done.'))).toBe(false)
    expect(app.store.briefs()).toMatchObject([{ author: 'baton', sessionId: s.id }])
    expect(readFileSync(app.store.briefs()[0]!.path, 'utf8')).toContain('before the agent could be asked')
  })
})
