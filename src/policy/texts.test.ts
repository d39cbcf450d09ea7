import { describe, expect, test } from 'vitest'
import { MODES } from '../contract/level.js'
import type { Limits } from '../contract/reading.js'
import { sampleLevel, sampleLimits, sampleSpeaker, sampleTrack } from './samples.cases.js'
import {
  agentText,
  compactedText,
  contextUseText,
  parentText,
  shortContextUseText,
  silenceText,
  userText,
} from './texts.js'

const full = (used: number | null, limits: Limits = sampleLimits(167_000)) =>
  contextUseText(sampleTrack(used, { limits }))

describe('how full', () => {
  test('fullness names the percentage of the compaction point and of the window', () => {
    expect(full(118_600)).toBe(
      '118,600 tokens used, 71% of the compaction point (167,000); 59.3% of the 200,000 window',
    )
    expect(full(483_500, sampleLimits(967_000))).toContain(
      '50% of the compaction point (967,000); 48.4% of the 1,000,000 window',
    )
  })

  test('fullness says "about" before a derived compaction point', () => {
    expect(full(100, sampleLimits(167_000, 'proactive', false))).toContain('(about 167,000)')
    expect(full(100)).not.toContain('about')
  })

  test('fullness names the refusal point when compaction is off', () => {
    const text = full(88_500, sampleLimits(177_000, 'off'))
    expect(text).toContain('50% of the refusal point (compaction is off) (177,000)')
    expect(text).not.toContain('compaction point')
  })

  test('fullness above 100 % always gives the reason', () => {
    expect(full(167_000)).not.toContain('above')
    expect(full(167_300)).toMatch(/100\.2% .*; above 100% because the next request will be compacted or refused$/)
    expect(full(230_000, sampleLimits(167_000, 'reactive'))).toMatch(/137\.7% .*only when the API refuses a request$/)
    expect(full(230_000, sampleLimits(177_000, 'off'))).toMatch(/129\.9% .*; above 100% because compaction is off/)
    expect(full(230_000, { ...sampleLimits(null), window: 200_000 })).toMatch(/115% of the window; above 100% because/)
  })

  test('fullness falls back to tokens alone, and says when nothing is known', () => {
    expect(full(1234, sampleLimits(null))).toBe('1,234 tokens used')
    expect(full(100_000, { ...sampleLimits(null), window: 200_000 })).toBe('100,000 tokens used, 50% of the window')
    expect(full(null)).toBe('context use is not known yet')
  })
})

describe('how full in short, for the user', () => {
  const inShort = (used: number | null, limits: Limits = sampleLimits(167_000)) =>
    shortContextUseText(sampleTrack(used, { limits }))

  test('the short fullness gives the percentage and the tokens until compaction or refusal', () => {
    expect(inShort(104_000)).toBe('62% full, about 63k tokens until compaction')
    expect(inShort(166_900)).toBe('99% full, about 100 tokens until compaction')
    expect(inShort(88_500, sampleLimits(177_000, 'off'))).toBe(
      '50% full, about 89k tokens until the client refuses (compaction is off)',
    )
  })

  test('the short fullness at 100 % and above says what happens to the next request', () => {
    expect(inShort(167_000)).toBe('100% full: the next request is compacted or refused')
    expect(inShort(230_000, sampleLimits(167_000, 'reactive'))).toBe(
      '138% full: compacted when the API refuses a request',
    )
    expect(inShort(230_000, sampleLimits(177_000, 'off'))).toMatch(/^130% full: the next request may be refused/)
  })

  test('the short fullness equals the long one when the compaction point is unknown', () => {
    expect(inShort(1234, sampleLimits(null))).toBe('1,234 tokens used')
  })
})

describe('what is said', () => {
  const track = sampleTrack(118_600)

  test.each(MODES)(
    'the text for the agent (%s) starts with [baton] and names the level, the numbers and the off switch',
    (mode) => {
      const text = agentText(track, sampleLevel('warning', ['agent'], mode))
      expect(text).toMatch(/^\[baton\] /)
      expect(text).toContain('"warning"')
      expect(text).toContain(contextUseText(track))
      expect(text).toContain('`baton off`')
      expect(text.length).toBeLessThan(1000)
    },
  )

  test('the text for the agent gets more urgent with the mode and never asks for a brief', () => {
    const texts = MODES.map((mode) => agentText(track, sampleLevel('one', ['agent'], mode)))
    expect(new Set(texts).size).toBe(3)
    for (const text of texts) expect(text).not.toContain('handoff brief')
  })

  test('the text for the agent says what happens at the compaction point', () => {
    const said = (limits: Limits) => agentText(sampleTrack(1, { limits }), sampleLevel('one'))
    const [proactive, reactive, off] = [
      said(sampleLimits(167_000)),
      said(sampleLimits(167_000, 'reactive')),
      said(sampleLimits(177_000, 'off')),
    ]
    expect(proactive).toMatch(/summary/)
    expect(proactive).not.toMatch(/refuse/)
    expect(reactive).toMatch(/refuses.*summary/)
    expect(off).toMatch(/refuses.*compaction is off/)
    expect(off).not.toMatch(/summary/)
  })

  test('the text for the user is one line with the commands for this session', () => {
    const text = userText(track, sampleLevel('warning'), sampleSpeaker)
    expect(text).toMatch(/^\[baton\] warning: 71% full, about 48k tokens until compaction · /)
    expect(text).not.toContain('\n')
    expect(text).toContain('baton show 01234567')
    expect(text).toContain('baton off 01234567')
  })

  test('the text for a parent names the session and says that it is still running', () => {
    const text = parentText(track, sampleLevel('warning'), sampleSpeaker)
    expect(text).toMatch(
      /^\[baton\] Session 01234567-89ab-cdef \(seat builder\) in \/home\/me\/shop reached level "warning"/,
    )
    expect(text).toContain('still running')
    expect(parentText(track, sampleLevel('w'), { sessionId: 'x', seatName: null, project: null })).toContain(
      'Session x reached',
    )
  })

  test('the text about a compaction says "still running" and never that anything was lost', () => {
    const text = compactedText(sampleSpeaker, ' (160,000 tokens before)')
    expect(text).toMatch(
      /^\[baton\] Session 01234567-89ab-cdef .* was compacted and is still running \(160,000 tokens before\)\.$/,
    )
    expect(text).not.toMatch(/lost/i)
  })

  test('the text about silence names the session, the duration and what to do', () => {
    const text = silenceText(sampleSpeaker, 20, 3)
    expect(text).toMatch(/^\[baton\] .*\b01234567\b.*\b20 tool calls\b.*\b3 min\b.*baton doctor$/)
  })
})
