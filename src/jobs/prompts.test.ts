import { describe, expect, test } from 'vitest'
import { aJob } from '../testing/sample-job.js'
import { briefIntroduction, freshPrompt, resumePrompt } from './attempt-prompts.js'
import type { KnownCall } from './journal.js'

const call = (id: string, outcome: KnownCall['outcome'], result = ''): KnownCall => ({
  callId: id,
  tool: 'Bash',
  input: `{"command":"step ${id}"}`,
  outcome,
  result,
})

describe('the first prompt of a session', () => {
  test('the first prompt is the task, after text that hooks put before it', () => {
    expect(freshPrompt({ task: 'Mend it.', before: '', brief: null, repository: 'main', unreportedCalls: '' })).toBe(
      'Mend it.',
    )
    expect(
      freshPrompt({ task: 'Mend it.', before: 'Ticket 4\n', brief: null, repository: null, unreportedCalls: '' }),
    ).toBe('Ticket 4\n\nMend it.')
  })

  test('the first prompt after a handoff contains task, brief and repository', () => {
    const text = freshPrompt({
      task: 'Mend it.',
      before: 'From a hook.',
      repository: 'branch main, 2 changed files',
      unreportedCalls: 'These calls were made.',
      brief: { text: '# Handoff brief\n\nNext: step 7', lead: briefIntroduction(aJob({ handoffs: 2 })) },
    })
    // Text without Baton's prefix counts as the user's and would be quoted in every later brief.
    expect(text).toMatch(/^\[baton\] [^\n]*hooks[^\n]*\n\nFrom a hook\.\n\n\[baton\] You continue a job/)
    for (const part of [
      '[baton]',
      'handoff 2 of at most 3',
      'Mend it.',
      'Next: step 7',
      '2 changed files',
      'These calls were made.',
    ])
      expect(text).toContain(part)
  })
})

describe('the prompt of a resumed session', () => {
  test('the resume prompt lists every call the transcript lacks: done, failed or unknown', () => {
    const text = resumePrompt(
      [call('a', 'done', 'ok'), call('b', 'failed', 'no'), call('c', 'unknown')],
      'the client was killed',
    )
    expect(text).toMatch(/step a.*\(a\): done: ok/)
    expect(text).toMatch(/step b.*\(b\): failed: no/)
    expect(text).toMatch(/step c.*\(c\): outcome unknown/)
    expect(text.indexOf('step c')).toBeGreaterThan(text.indexOf('outcome is unknown'))
  })

  test('the resume prompt lists no calls when the transcript has them all', () => {
    expect(resumePrompt([], 'Baton was ended')).not.toMatch(/calls/)
  })

  test('the resume prompt lists two hundred calls, the newest with their results', () => {
    const many = Array.from({ length: 200 }, (_, i) => call(`c${i}`, 'done', 'y'.repeat(5_000)))
    const text = resumePrompt(many, 'x')
    for (const { callId } of many) expect(text).toContain(`(${callId}): done`)
    expect(text).toMatch(/\(c199\): done: yyy/)
    expect(text).not.toMatch(/earlier calls/)
  })

  test('the resume prompt is limited in size and keeps the newest calls', () => {
    const many = Array.from({ length: 2_000 }, (_, i) => call(`c${i}`, 'done', 'y'.repeat(5_000)))
    const text = resumePrompt(many, 'x')
    expect(text.length).toBeLessThan(51_000)
    expect(text).toContain('(c1999)')
    expect(text).toMatch(/and \d+ earlier calls/)
  })
})

test('hook text that begins like a client command is not sent as a command', () => {
  const first = { task: 'Mend it.', brief: null, repository: null, unreportedCalls: '' }
  expect(freshPrompt({ ...first, before: 'Ticket 7' })).toBe('Ticket 7\n\nMend it.')
  expect(freshPrompt({ ...first, before: ' /compact is slow' })).toMatch(
    /^\w.*hooks.*\n\n\/compact is slow\n\nMend it\.$/,
  )
})
