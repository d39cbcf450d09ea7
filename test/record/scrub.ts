import type { Home } from '../harness/home.js'

const LONGEST_TEXT = 300

/**
 * Removes this machine's folders and the client's own long texts from a recording. Figures and
 * shapes stay.
 */
export function scrub(home: Home, value: unknown, longest = LONGEST_TEXT): unknown {
  const coded = home.dir.replace(/[^a-zA-Z0-9]/g, '-')
  const clean = (text: string): string => {
    const bare = text.replaceAll(home.dir, '/fixture').replaceAll(coded, '-fixture')
    return bare.length > longest ? `${bare.slice(0, longest / 4)} … (${bare.length} characters)` : bare
  }
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return clean(part)
    if (Array.isArray(part)) return part.map(walk)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(
      Object.entries(part).map(([key, inner]) => [clean(key), key === 'osVersion' ? 'Linux' : walk(inner)]),
    )
  }
  return walk(value)
}

/** Fields with the client's own prompts and tools, which we may not redistribute. */
const CLIENTS_OWN = ['shape', 'systemPrompt', 'tools', 'rendered', 'addedLines', 'addedNames', 'params']

export function scrubTranscript(home: Home, jsonl: string): string {
  return jsonl
    .split('\n')
    .map((line) => (line === '' ? '' : JSON.stringify(scrubLine(home, JSON.parse(line)))))
    .join('\n')
}

function scrubLine(home: Home, entry: Record<string, unknown>): unknown {
  if (entry.type !== 'attachment' && !String(entry.type).startsWith('api-request')) return scrub(home, entry)
  const shorten = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(shorten)
    if (typeof part !== 'object' || part === null) return part
    const members = Object.entries(part).map(([key, inner]) => [
      key,
      CLIENTS_OWN.includes(key) ? '(left out)' : shorten(inner),
    ])
    return Object.fromEntries(members)
  }
  return scrub(home, shorten(entry), 80)
}
