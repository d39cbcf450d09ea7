import type { Event } from '../contract/event.js'

/**
 * Loopback is shared by all users of a machine, and these routes need no token: figures are for everybody, the words of a conversation
 * are not. What is left out is named in `withheld`.
 */
export function withoutWords(event: Event): Event {
  const data = withheldFrom(event.data, ['summary', 'lost'])
  return data === event.data ? event : { ...event, data }
}

/** The same of what is told of one session. */
export function detailWithoutWords(detail: Record<string, unknown>): Record<string, unknown> {
  const { losses } = detail
  if (!Array.isArray(losses)) return detail
  return { ...detail, losses: losses.map((loss: Record<string, unknown>) => withheldFrom(loss, ['lost'])) }
}

function withheldFrom(data: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  const held = keys.filter((key) => (Array.isArray(data[key]) ? data[key].length > 0 : typeof data[key] === 'string'))
  if (held.length === 0) return data
  const empty = Object.fromEntries(held.map((key) => [key, Array.isArray(data[key]) ? [] : null]))
  return { ...data, ...empty, withheld: held }
}
