import * as v from 'valibot'

/** Schema of a time: ISO 8601, UTC. */
export const time = v.pipe(v.string(), v.isoTimestamp())
export const text = v.string()
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
export const number = v.number()
export const nullable = <S extends v.GenericSchema>(schema: S): v.NullableSchema<S, undefined> => v.nullable(schema)

export const spend = v.object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_tokens: count,
  cache_read_tokens: count,
  cache_hit_rate: nullable(number),
  cost_usd: nullable(number),
})

/** The body of every error reply. */
export const problem = v.object({ error: text, hint: v.optional(text) })
export type Problem = v.InferOutput<typeof problem>
