export type Fields = Record<string, unknown>

export const asObject = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
export const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
export const asNumber = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** Parses a JSON object. Null for any other text. */
export function parseObject(text: string): Fields | null {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return null
  }
}
