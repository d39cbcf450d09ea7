/**
 * JSON object of unknown shape.
 * The functions below narrow its values, never throw, and return null for other types.
 */
export type Fields = Record<string, unknown>

export function asObject(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export function asNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Returns a token count: a whole, non-negative number. */
export function asCount(value: unknown): number | null {
  const n = asNumber(value)
  return n !== null && n >= 0 ? Math.trunc(n) : null
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function parseObject(json: string): Fields | null {
  try {
    return asObject(JSON.parse(json))
  } catch {
    return null
  }
}
