import type { Archives } from '../archive/archive.js'
import { findArchivePart } from '../archive/choose-archives.js'
import type { RedactionPattern } from '../archive/named-secrets.js'
import { BUILT_IN_PATTERNS, configuredPatterns, E_MAIL, redactLines } from '../archive/redact.js'
import { restoreArchive } from '../archive/restore-archive.js'
import { loadConfig } from '../config/load-config.js'
import type { ArchiveRecord } from '../contract/records/archive.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { OpenedArchives } from './archives.js'
import { areBytesNeededElsewhere } from './forget-sessions.js'

type Env = Record<string, string | undefined>

interface TakeOutOptions {
  /** Id of an archive, or its beginning. */
  archive: string
  /** Name of a subagent. Null for the session's own transcript. */
  subagent: string | null
  to: string
  /** True to replace an existing file. */
  force: boolean
  /** Redaction of secrets. Null to write the original bytes. */
  redact: { emails: boolean } | null
}

/** Writes an archived transcript to a file. `removed` counts the redacted secrets by kind. */
export function takeOutArchive(
  opened: OpenedArchives,
  env: Env,
  { archive, subagent, to, force, redact }: TakeOutOptions,
): { record: ArchiveRecord; part: ArchiveRecord['parts'][number]; removed: Record<string, number> } {
  const record = opened.archives.find(archive)
  const part = findArchivePart(record, subagent)
  const counts = new Map<string, number>()
  const patterns = redact ? patternsFor(opened, env, record, redact.emails) : []
  restoreArchive(opened.archives.blocks, {
    part,
    to,
    force,
    segments: opened.archives.segments(part.streamId),
    progress: (bytes) => opened.progress.add('unpacking:', bytes),
    ...(redact ? { through: redactLines(patterns, counts) } : {}),
  })
  opened.progress.end()
  return { record, part, removed: Object.fromEntries([...counts].sort()) }
}

/**
 * Returns the redaction patterns.
 * Throws when the configuration is unusable, because a missing pattern would leak a secret.
 */
function patternsFor({ app }: OpenedArchives, env: Env, record: ArchiveRecord, emails: boolean): RedactionPattern[] {
  const loaded = loadConfig({ home: app.home, project: record.project, env })
  const [problem] = loaded.problems
  if (problem)
    throw new BatonError(
      `The configuration is invalid, so the text cannot be redacted: ${problem.key} in ${problem.file} ` +
        `${problem.reason}.`,
      problem.hint === '' ? 'Run baton config check.' : `${problem.hint} (baton config check lists all errors).`,
      EXIT.usage,
    )
  const file = loaded.project
  if (file?.trusted === false && file.ignored.some(({ key }) => /(^|\.)archive$/.test(key)))
    throw new BatonError(
      `${file.path} is not trusted (${file.reason}), so its redaction patterns are not used.`,
      'Read the file, then run baton trust in its folder, or remove the key archive from it.',
      EXIT.refused,
    )
  const { policy } = app.policyOf({ agent: record.agent, project: record.project, model: null, seat: null })
  return [...configuredPatterns(policy.archive.redact), ...BUILT_IN_PATTERNS, ...(emails ? [E_MAIL] : [])]
}

/** Size of the search index from which a removal takes noticeably long. */
const LONG_BYTES = 20_000_000

/**
 * Removes archives, also from the search index.
 * A dry run only computes the sizes and returns null as `indexFreed`.
 * `slow` is called before work that may take a minute.
 */
export function removeArchives(archives: Archives, records: readonly ArchiveRecord[], dry: boolean, slow: () => void) {
  const before = archives.sizes()
  const shown = archives.view(records)
  if (!dry && shown.length > 0 && before.indexBytes > LONG_BYTES) slow()
  const shared = areBytesNeededElsewhere(archives, records)
  const freed = dry ? archives.freedBytes(records) : archives.remove(records, { thorough: true }).freedBytes
  const after = archives.sizes()
  return {
    archives: shown,
    freed,
    indexFreed: dry ? null : Math.max(0, before.indexBytes - after.indexBytes),
    /** True when other archives of the sessions need some of these bytes, which then stay. */
    shared,
    left: dry ? before.archives - shown.length : after.archives,
    leftBytes: dry ? before.bytes - freed : after.bytes,
  }
}
