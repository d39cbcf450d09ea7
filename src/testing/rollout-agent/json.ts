export type Fields = Record<string, unknown>

export const fields = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
export const str = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
export const num = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** Parses a JSON object. Null for any other text. */
export function parse(text: string): Fields | null {
  try {
    return fields(JSON.parse(text))
  } catch {
    return null
  }
}
