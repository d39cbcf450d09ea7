import { createHash } from 'node:crypto'
import { isBlank, SettingsFault } from './claude-code-settings.js'
import { stripBaton } from './claude-code-settings-change.js'
import { InstallProblem } from './install-problem.js'
import { readJson } from './json-text.js'
import type { Recognise } from './launcher-call.js'
import type { FoundSettings } from './plan.js'
import type { InstallRecord } from './record.js'

/** What an earlier install left about a settings file. */
export interface Earlier {
  record: InstallRecord | null
  recordText: string | null
  /** The bytes the record's backup holds; null: there was no file, or the backup is gone or damaged. */
  before: Buffer | null
  /** Former status lines by key. */
  formerOf: (key: string) => string | null
  notes: string[]
}

/**
 * The settings file as it would be without Baton; null: there would be none.
 * Untouched since we wrote it: the very bytes that were there. Otherwise what is there now, less our entries.
 */
export function withoutBaton(settings: FoundSettings, earlier: Earlier, by: Recognise): Buffer | null {
  const { bytes } = settings
  const { record, before } = earlier
  if (bytes === null) return null
  if (record?.after.includes(createHash('sha256').update(bytes).digest('hex'))) {
    if (!record.existed) return null
    if (before) return before
  }
  const text = asText(settings.path, bytes)
  const known = record && { created: record.created, former: record.former, formerLiteral: record.former_literal }
  const stripped = checked(settings.path, () => stripBaton(text, by, known, earlier.formerOf))
  if (stripped === text) return bytes
  if (record && isEmpty(stripped)) {
    if (!record.existed) return null
    if (before && isEmpty(before.toString())) return before
  }
  return Buffer.from(stripped)
}

/** Settings as text; bytes that are no UTF-8 would not survive being written back. */
export function asText(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new InstallProblem(path, 'it is not UTF-8 text', 'Save the file as UTF-8 and try again.')
  }
}

/** Names the file a fault was found in. */
export function checked<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SettingsFault) throw new InstallProblem(path, error.reason, error.hint)
    throw error
  }
}

function isEmpty(text: string): boolean {
  if (isBlank(text)) return true
  const root = readJson(text)
  return root.kind === 'object' && root.parts.length === 0
}
