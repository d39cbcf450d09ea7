import { dirname, join } from 'node:path'
import type { FileChange, Step } from './plan.js'

/** A file of the mod, its path relative to the mod's folder. */
export interface ModFile {
  path: string
  text: string
}

/** The folder as it was found. `foreign`: somebody else's, or a link: never touched. */
export interface FoundMod {
  path: string
  state: 'absent' | 'ours' | 'foreign'
  /** What it holds of the files wanted now or listed by an earlier install; null: missing. */
  texts: Record<string, string | null>
  /** Files an earlier install wrote. */
  listed: string[]
  missingFolders: string[]
}

/** Makes the folder ours, and lists what we wrote. The client adds files of its own beside. */
export const MARKER = '.baton.json'
const MIN_CLIENT = [2, 1, 287]

/** Older clients know no mods. A version that cannot be told is taken for a new one. */
export function supportsMods(version: string | null): boolean {
  const parts = /(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number)
  if (!parts) return true
  const differs = parts.findIndex((n, i) => n !== MIN_CLIENT[i])
  return differs < 0 || parts[differs]! > MIN_CLIENT[differs]!
}

export interface ModPlan {
  steps: Step[]
  files: FileChange[]
  note: string | null
  /** Folders outside the mod's own that will be made. */
  folders: string[]
}

export function planMod(found: FoundMod, files: ModFile[], clientVersion: string | null): ModPlan {
  const nothing = { steps: [], files: [], folders: [] }
  if (files.length === 0) return { ...nothing, note: null }
  if (!supportsMods(clientVersion)) {
    return {
      ...nothing,
      note: `Claude Code ${clientVersion} loads no mods (2.1.287 and later do): window and compaction point will be derived, not exact.`,
    }
  }
  if (found.state === 'foreign') {
    return {
      ...nothing,
      note: `${found.path} is not Baton's: it was left alone, so window and compaction point will be derived, not exact.`,
    }
  }
  const steps: Step[] = []
  const changes: FileChange[] = []
  // In this order a run that is cut off leaves nothing unlisted in the folder, and nothing in a folder without its mark.
  for (const path of found.listed) {
    if (files.some((f) => f.path === path) || (found.texts[path] ?? null) === null) continue
    steps.push({ do: 'remove', path: join(found.path, path) })
    changes.push({ path: join(found.path, path), action: 'removed', backup: null })
  }
  const marker = { path: MARKER, text: `${JSON.stringify({ by: 'baton', files: files.map((f) => f.path) }, null, 2)}\n` }
  for (const file of [marker, ...files]) {
    const before = found.texts[file.path] ?? null
    const path = join(found.path, file.path)
    const action = before === file.text ? 'unchanged' : before === null ? 'created' : 'changed'
    if (file !== marker) changes.push({ path, action, backup: null })
    if (action === 'unchanged') continue
    const folders = [...found.missingFolders, found.path, ...foldersTo(file.path).map((folder) => join(found.path, folder))]
    steps.push(...folders.map((folder): Step => ({ do: 'make-folder', path: folder, mode: 0o700 })))
    steps.push({ do: 'write', path, bytes: Buffer.from(file.text), mode: 0o600 })
  }
  return { steps, files: changes, note: null, folders: found.state === 'absent' ? [...found.missingFolders, found.path] : [] }
}

export function planModRemoval(found: FoundMod): ModPlan {
  if (found.state !== 'ours') return { steps: [], files: [], note: null, folders: [] }
  return {
    steps: [{ do: 'remove-tree', path: found.path, last: MARKER }],
    files: [{ path: found.path, action: 'removed', backup: null }],
    note: null,
    folders: [],
  }
}

function foldersTo(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [...foldersTo(folder), folder]
}
