import { expect, it } from 'vitest'
import type { Event } from '../contract/event.js'
import { detailWithoutWords, withoutWords } from './withhold.js'

const event = (data: Record<string, unknown>): Event => ({
  ...{ id: 1, type: 'loss_report', at: '2026-03-01T10:00:00.000Z', session_id: 's', seat_id: null, job_id: null, data },
})

it('events keep their figures and lose what they quote, and say so', () => {
  expect(withoutWords(event({ facts: 3, lost: [{ text: 'secret' }] })).data).toEqual({ facts: 3, lost: [], withheld: ['lost'] })
  expect(withoutWords(event({ outcome: 'completed', summary: 'secret' })).data).toEqual({
    ...{ outcome: 'completed', summary: null, withheld: ['summary'] },
  })
  for (const data of [{ used_tokens: 5 }, { summary: null }, { lost: [] }]) expect(withoutWords(event(data)).data).toBe(data)
})

it('so does what is told of a session', () => {
  expect(detailWithoutWords({ a: 1, losses: [{ facts: 2, lost: [{ text: 'secret' }] }] })).toEqual({
    a: 1,
    losses: [{ facts: 2, lost: [], withheld: ['lost'] }],
  })
  expect(detailWithoutWords({ a: 1 })).toEqual({ a: 1 })
})
