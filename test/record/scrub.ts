import type { Home } from '../harness/home.js'

const LONGEST_TEXT = 300

/** Takes the machine out of what was recorded: folders, and the client's own long texts. Figures and shapes stay. */
export function scrub(home: Home, value: unknown): unknown {
  const coded = home.dir.replace(/[^a-zA-Z0-9]/g, '-')
  const clean = (text: string): string => {
    const bare = text.replaceAll(home.dir, '/fixture').replaceAll(coded, '-fixture')
    return bare.length > LONGEST_TEXT ? `${bare.slice(0, 80)} … (${bare.length} characters)` : bare
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

/** A transcript, line by line; what is not JSON stays as it is. */
export function scrubTranscript(home: Home, jsonl: string): string {
  return jsonl
    .split('\n')
    .map((line) => (line === '' ? '' : JSON.stringify(scrub(home, JSON.parse(line)))))
    .join('\n')
}
