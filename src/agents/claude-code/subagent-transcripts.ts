import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The transcripts of a session's subagents, beside its own. */
export function subagentTranscripts(transcript: string): { name: string; path: string }[] {
  const folder = join(dirname(transcript), basename(transcript, '.jsonl'), 'subagents')
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .map((name) => ({ name: basename(name, '.jsonl'), path: join(folder, name) }))
  } catch {
    return []
  }
}
