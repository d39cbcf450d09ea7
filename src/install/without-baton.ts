import { createHash } from 'node:crypto'
import type { AgentInstaller } from '../agents/installer.js'
import { addPathToFault, decodeSettingsText } from '../agents/shared/install-problem.js'
import type { ProgramRecognition } from '../agents/shared/launcher-call.js'
import { readJson } from '../lib/json-text.js'
import type { FoundSettings } from './plan.js'
import type { InstallRecord } from './record.js'

/** Data that an earlier install stored about a settings file. */
export interface EarlierInstall {
  record: InstallRecord | null
  recordText: string | null
  /**
   * The bytes of the record's backup.
   * Null when there was no file, or the backup is missing or damaged.
   */
  before: Buffer | null
  /** Returns the former status line by key. */
  formerOf: (key: string) => string | null
  notes: string[]
}

/**
 * Returns the settings file as it would be without Baton.
 * Null when there would be no file.
 * If the file is unchanged since we wrote it, returns exactly the former bytes.
 * If the file was changed, returns its current text without Baton's entries.
 */
export function withoutBaton(
  installer: AgentInstaller,
  settings: FoundSettings,
  earlier: EarlierInstall,
  by: ProgramRecognition,
): Buffer | null {
  const { bytes } = settings
  const { record, before } = earlier
  if (bytes === null) return null
  if (record?.after.includes(createHash('sha256').update(bytes).digest('hex'))) {
    if (!record.existed) return null
    if (before) return before
  }
  const text = decodeSettingsText(settings.path, bytes)
  const known = record && { created: record.created, former: record.former, formerLiteral: record.former_literal }
  const stripped = addPathToFault(settings.path, () => installer.strip(text, by, known, earlier.formerOf))
  if (stripped === text) return bytes
  if (record && isEmpty(stripped)) {
    if (!record.existed) return null
    if (before && isEmpty(before.toString())) return before
  }
  return Buffer.from(stripped)
}

function isEmpty(text: string): boolean {
  if (text.replace(/^\uFEFF/, '').trim() === '') return true
  const root = readJson(text)
  return root.kind === 'object' && root.parts.length === 0
}
