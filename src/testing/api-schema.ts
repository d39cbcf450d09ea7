import type { JsonSchema } from '../server/openapi.js'

/**
 * Returns what is wrong with a value according to an API schema.
 * A key that the schema does not describe is a fault, unless it allows additional properties.
 */
export function faultsIn(value: unknown, schema: JsonSchema, at = ''): string[] {
  const s = schema as Record<string, never>
  if ('anyOf' in s || 'oneOf' in s) {
    const forms = ((schema.anyOf ?? schema.oneOf) as JsonSchema[]).map((one) => faultsIn(value, one, at))
    return forms.some((one) => one.length === 0) ? [] : forms.sort((a, b) => a.length - b.length)[0]!
  }
  if ('const' in s && value !== s.const) return [`${at}: is not ${s.const}`]
  if ('enum' in s && !(s.enum as unknown[]).includes(value)) return [`${at}: ${String(value)} is none of ${s.enum}`]
  if ('type' in s && !isOf(value, s.type)) return [`${at}: is no ${s.type}: ${JSON.stringify(value)?.slice(0, 60)}`]
  if (typeof value === 'number' && 'minimum' in s && value < s.minimum) return [`${at}: ${value} is too small`]
  if (typeof value === 'string' && 'format' in s && s.format === 'date-time' && Number.isNaN(Date.parse(value)))
    return [`${at}: ${value} is no time`]
  if (Array.isArray(value))
    return value.flatMap((one, i) => faultsIn(one, (s.items ?? {}) as JsonSchema, `${at}[${i}]`))
  if (typeof value === 'object' && value !== null) return faultsOfObject(value as Record<string, unknown>, schema, at)
  return []
}

function faultsOfObject(value: Record<string, unknown>, schema: JsonSchema, at: string): string[] {
  const known = (schema.properties ?? {}) as Record<string, JsonSchema>
  const more = schema.additionalProperties as JsonSchema | boolean | undefined
  const missing = ((schema.required ?? []) as string[])
    .filter((key) => !(key in value))
    .map((key) => `${at}.${key}: is missing`)
  const isAny = !('properties' in schema) && more === undefined
  return [
    ...missing,
    ...Object.entries(value).flatMap(([key, one]) => {
      if (key in known) return faultsIn(one, known[key]!, `${at}.${key}`)
      if (typeof more === 'object') return faultsIn(one, more, `${at}.${key}`)
      return more === true || isAny ? [] : [`${at}.${key}: is not described`]
    }),
  ]
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}
