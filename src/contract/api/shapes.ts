import * as v from 'valibot'

/** ISO 8601, UTC. */
export const time = v.pipe(v.string(), v.isoTimestamp())
export const text = v.string()
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
export const figure = v.number()
export const maybe = <S extends v.GenericSchema>(schema: S): v.NullableSchema<S, undefined> => v.nullable(schema)

/** Names of what is left out of an object because the caller has not shown that the words are theirs to read. Absent: nothing is. */
export const withheld = v.optional(v.array(text))

/** Every refusal and every failure. */
export const problem = v.object({ error: text, hint: v.optional(text) })
export type Problem = v.InferOutput<typeof problem>
