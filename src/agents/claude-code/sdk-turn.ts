import { count, object } from './fields.js'

/**
 * What a turn's answers on the main chain put out in all, from its result message; null: not a result. Single answers tell a
 * first count only, because the SDK passes them on while they still stream.
 */
export function turnOutput(message: unknown): number | null {
  const result = object(message)
  return result?.type === 'result' ? count(object(result.usage)?.output_tokens) : null
}
