import { measureUsage } from '../agents/claude-code/usage.js'
import type { Reading, Usage } from '../contract/reading.js'

/** What one answer of the model reported. The API's own `usage` object fits as it is. */
export interface AnswerUsage {
  /** Input that was neither read from nor written to the cache. */
  input_tokens: number
  output_tokens: number
  /** Input written to the cache. The object the API puts under this name is passed over. */
  cache_creation?: number | object | null
  /** Input read from the cache. */
  cache_read?: number | null
  /** The API's name for `cache_creation`. */
  cache_creation_input_tokens?: number | null
  /** The API's name for `cache_read`. */
  cache_read_input_tokens?: number | null
  /** The answer's own id, where you know it: the same answer then counts once, whoever tells it. */
  answer_id?: string
}

export interface Measured {
  /** null: the answer was given nothing, which says nothing about the window. */
  reading: Reading | null
  spend: Usage & { answers: number }
}

/** Throws RangeError for a count that cannot be, TypeError for what is no count. */
export function measureAnswer(told: AnswerUsage): Measured {
  if (typeof told !== 'object' || told === null)
    throw new TypeError('the usage of an answer is an object with input_tokens and output_tokens')
  const created = typeof told.cache_creation === 'object' ? undefined : told.cache_creation
  const usage = {
    ...told,
    input_tokens: counted('input_tokens', told.input_tokens),
    output_tokens: counted('output_tokens', told.output_tokens),
    cache_creation_input_tokens: either('cache_creation', created, told.cache_creation_input_tokens),
    cache_read_input_tokens: either('cache_read', told.cache_read, told.cache_read_input_tokens),
  }
  const { used, usage: last, spent, exact } = measureUsage(usage)!
  const answerId = told.answer_id || null
  return {
    reading: used === null ? null : { used, usage: last, exact, model: null, source: 'sdk', answerId, stamp: null },
    spend: { ...spent, answers: 1 },
  }
}

function either(name: string, own: number | null | undefined, api: number | null | undefined): number {
  const ours = counted(name, own ?? 0)
  const theirs = counted(`${name}_input_tokens`, api ?? 0)
  if (own != null && api != null && ours !== theirs)
    throw new RangeError(`${name} (${ours}) and ${name}_input_tokens (${theirs}) disagree`)
  return own == null ? theirs : ours
}

function counted(name: string, value: unknown): number {
  if (typeof value !== 'number')
    throw new TypeError(`${name} must be a number of tokens, not ${value === undefined ? 'missing' : typeof value}`)
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${name} must be a whole number of tokens, not negative: ${value}`)
  return value
}
