import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { transcriptReaders } from '../agents/readers.js'
import {
  type ArchivingState,
  type JudgedTranscript,
  judgeStoredTranscripts,
  planStoredTranscripts,
} from '../engine/compaction/stored-transcripts.js'
import { stopOnSignals } from '../lib/stop-signals.js'
import { finishArchives, type OpenedArchives } from './archives.js'

type Env = Record<string, string | undefined>

/** Number of transcripts that are not imported, by reason. */
export type SkippedCounts = Record<Exclude<ArchivingState, 'unarchived'>, number>

/**
 * Archives the transcripts that clients keep on this disk, or in the folder `from`.
 * A dry run only counts: `found` and `bytes` are the transcripts that would be imported.
 */
export async function importStoredTranscripts(
  opened: OpenedArchives,
  env: Env,
  { from, headless, dryRun }: { from: string | null; headless: boolean; dryRun: boolean },
): Promise<{ found: number; bytes: number; leftOut: SkippedCounts; done: ImportSummary }> {
  const judged = judgeStoredTranscripts(opened.app.engine.deps, env, from)
  const wanted = judged.filter(({ standing }) => standing === 'unarchived' || (standing === 'headless' && headless))
  const count = (standing: ArchivingState): number =>
    judged.filter((one) => one.standing === standing && !wanted.includes(one)).length
  const leftOut = {
    archived: count('archived'),
    open: count('open'),
    headless: count('headless'),
    off: count('off'),
    forgotten: count('forgotten'),
    expired: count('expired'),
  }
  const done: ImportSummary = dryRun
    ? { imported: 0, bytes: 0, storedBytes: 0, failed: [], left: wanted.length }
    : await importTranscripts(opened, wanted)
  return { found: wanted.length, bytes: bytesOf(wanted), leftOut, done }
}

const bytesOf = (transcripts: readonly JudgedTranscript[]): number =>
  transcripts.reduce((sum, { bytes }) => sum + bytes, 0)

export function hasStoredTranscripts(env: Env): boolean {
  return Object.values(transcriptReaders).some((reader) => reader.storedTranscripts(env, null).length > 0)
}

/**
 * Returns transcripts from before Baton's install, so that a command can offer their import.
 * Null when there are no such transcripts or the user was asked before.
 * The returned `remember` stores that the user was asked, so the import is offered only once.
 */
export function importOffer(
  { app }: OpenedArchives,
  env: Env,
): { found: JudgedTranscript[]; bytes: number; remember(): void } | null {
  const asked = join(app.home.root, 'run', 'import-asked')
  if (existsSync(asked)) return null
  const found = judgeStoredTranscripts(app.engine.deps, env).filter(({ standing }) => standing === 'unarchived')
  if (found.length === 0) return null
  return { found, bytes: bytesOf(found), remember: () => writeFileSync(asked, '', { mode: 0o600 }) }
}

export interface ImportSummary {
  /** Number of transcripts that were archived, and their bytes. */
  imported: number
  bytes: number
  /** Bytes used on disk. */
  storedBytes: number
  /** Transcripts that could not be archived. */
  failed: { path: string; reason: string }[]
  /** Number of transcripts not reached before the user stopped the import. */
  left: number
}

/**
 * Archives transcripts one after the other.
 * The import can be stopped between two transcripts. Another call continues with the rest.
 */
export async function importTranscripts(
  { app, archives, progress }: OpenedArchives,
  transcripts: readonly JudgedTranscript[],
): Promise<ImportSummary> {
  const total: ImportSummary = { imported: 0, bytes: 0, storedBytes: 0, failed: [], left: 0 }
  const stop = stopOnSignals()
  const before = archives.sizes().bytes
  try {
    for (const [at, transcript] of transcripts.entries()) {
      // Copying blocks the process, so pending signals are handled here.
      await setImmediate()
      if (stop.isAsked()) {
        total.left = transcripts.length - at
        break
      }
      const { path, bytes, sessionId } = transcript
      if (!planStoredTranscripts(app.engine.deps, transcript)) continue
      finishArchives(app, archives, {
        sessionId,
        progress: (what, done) => progress.add(what === 'keep' ? 'importing transcripts:' : 'indexing archives:', done),
      })
      const newest = app.store.archives({ sessionId }).at(-1)
      if (newest?.status === 'kept') {
        total.imported++
        total.bytes += bytes
      } else total.failed.push({ path, reason: newest?.reason ?? 'another process is archiving it' })
    }
  } finally {
    stop.release()
    progress.end()
  }
  total.storedBytes = Math.max(0, archives.sizes().bytes - before)
  return total
}
