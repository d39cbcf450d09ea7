import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { transcriptReaders } from '../agents/readers.js'
import type { StoredTranscript, TranscriptReader } from '../agents/transcript-reader.js'
import { FACTS_FORMAT } from '../facts/facts.js'
import { readIfThere, writeFileAtomic } from '../lib/atomic-file.js'
import { keepFolderPrivate } from '../lib/private-folder.js'
import { VERSION } from '../version.js'
import { type ReplayedCompaction, type ReplayedTranscript, replayTranscript } from './replay-transcript.js'

/** Version of the stored figures. Raise it when a figure is measured in another way. */
const REPLAY_FORMAT = 1
const DAY_MS = 86_400_000

export interface ReplayOptions {
  env: Record<string, string | undefined>
  /** Folder with transcripts to read instead of the agents' own. Null for the agents' own. */
  folder: string | null
  /** Age in days up to which a compaction counts. Null for no limit. */
  days: number | null
  now: Date
  /** Folder in which the figures of each transcript are kept, so that a stopped run continues. */
  cache: string
  /** Called after each transcript with its size. */
  onTranscript(bytes: number): void
  /** True when the user stopped the run. */
  isStopped(): boolean
}

export interface Replay {
  transcripts: number
  /** Transcripts that were not reached before the user stopped the run. */
  left: number
  compactions: ReplayedCompaction[]
  withoutSummary: number
  unreadable: { path: string; reason: string }[]
}

interface Source extends StoredTranscript {
  reader: TranscriptReader
}

/** Replays the compactions of all transcripts, one transcript after the other. */
export async function runReplay(options: ReplayOptions): Promise<Replay> {
  const since = options.days === null ? 0 : options.now.getTime() - options.days * DAY_MS
  const { sources, unreadable } = listSources(options)
  const wanted = sources.filter(({ writtenMs }) => writtenMs >= since)
  const replay: Replay = { transcripts: wanted.length, left: 0, compactions: [], withoutSummary: 0, unreadable }
  const byId = new Map<string, ReplayedCompaction>()
  keepFolderPrivate(options.cache)
  for (const [at, source] of wanted.entries()) {
    // Reading blocks the process, so pending signals are handled here.
    await setImmediate()
    if (options.isStopped()) {
      replay.left = wanted.length - at
      break
    }
    const { compactions, withoutSummary, problem } = replayCached(source, options.cache)
    if (problem !== null) unreadable.push({ path: source.path, reason: problem })
    replay.withoutSummary += withoutSummary
    for (const one of compactions) {
      if ((one.at ?? source.writtenMs) < since) continue
      // A fork or a copy repeats a compaction. The one followed by more work counts.
      const known = byId.get(one.id)
      if (known === undefined || known.calls < one.calls) byId.set(one.id, one)
    }
    options.onTranscript(source.bytes)
  }
  replay.compactions = [...byId.values()]
  return replay
}

function listSources({ env, folder }: ReplayOptions): { sources: Source[]; unreadable: Replay['unreadable'] } {
  const unreadable: Replay['unreadable'] = []
  const sources = Object.values(transcriptReaders).flatMap((reader) => {
    if (folder === null) return reader.storedTranscripts(env, null).map((one) => ({ ...one, reader }))
    const below = reader.transcriptsBelow(folder)
    unreadable.push(...below.unreadable)
    return below.found.map((one) => ({ ...one, reader }))
  })
  return { sources, unreadable }
}

/** Returns the kept figures of a transcript, or replays it when it or the program changed. */
function replayCached(source: Source, cache: string): ReplayedTranscript {
  const { path, bytes, writtenMs, reader } = source
  const file = join(cache, `replay-${createHash('sha256').update(path).digest('hex').slice(0, 32)}.json`)
  const key = [REPLAY_FORMAT, FACTS_FORMAT, VERSION, path, bytes, writtenMs].join(' ')
  const known = readKept(file, key)
  if (known !== null) return known
  const replayed = replayTranscript(reader, path)
  if (replayed.problem === null) writeFileAtomic(file, JSON.stringify({ key, replayed }), { mode: 0o600 })
  return replayed
}

function readKept(file: string, key: string): ReplayedTranscript | null {
  const bytes = readIfThere(file)
  if (bytes === null) return null
  try {
    const kept = JSON.parse(bytes.toString('utf8')) as { key: string; replayed: ReplayedTranscript }
    return kept.key === key ? kept.replayed : null
  } catch {
    // A damaged file is replaced by the next result.
    return null
  }
}
