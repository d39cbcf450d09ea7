import { dirname, join } from 'node:path'
import type { PluginModuleFile } from '../agents/installer.js'
import { MODULE_MARKER_FILE } from '../agents/shared/mod-marker.js'
import type { FileChange, Step } from './plan.js'

/**
 * The folder of the plugin module as found on disk.
 * A `foreign` one is a link or not ours, and is never changed.
 */
export interface FoundMod {
  path: string
  state: 'absent' | 'ours' | 'foreign'
  /** Texts of the files wanted now or listed by an earlier install. Null when a file is missing. */
  texts: Record<string, string | null>
  /** Files that an earlier install wrote. */
  listed: string[]
  missingFolders: string[]
}

interface ModPlan {
  steps: Step[]
  files: FileChange[]
  note: string | null
  /** Folders outside the plugin module's own that will be made. */
  folders: string[]
}

/**
 * Plans the plugin module's files.
 * `unsupported` is the reason why this client would not load it, or null.
 */
export function planMod(found: FoundMod, files: PluginModuleFile[], unsupported: string | null): ModPlan {
  const nothing = { steps: [], files: [], folders: [] }
  if (files.length === 0) return { ...nothing, note: null }
  if (unsupported !== null) return { ...nothing, note: unsupported }
  if (found.state === 'foreign') {
    return {
      ...nothing,
      note:
        `${found.path} exists and is not Baton's plugin module, so it stays unchanged. ` +
        'The window and the compaction point are estimates.',
    }
  }
  const steps: Step[] = []
  const changes: FileChange[] = []
  // With this order, an interrupted run leaves neither an unlisted file nor a missing marker.
  for (const path of found.listed) {
    if (files.some((f) => f.path === path) || (found.texts[path] ?? null) === null) continue
    steps.push({ do: 'remove', path: join(found.path, path) })
    changes.push({ path: join(found.path, path), action: 'removed', backup: null })
  }
  const marker = {
    path: MODULE_MARKER_FILE,
    text: `${JSON.stringify({ by: 'baton', files: files.map((f) => f.path) }, null, 2)}\n`,
  }
  for (const file of [marker, ...files]) {
    const before = found.texts[file.path] ?? null
    const path = join(found.path, file.path)
    const action = before === file.text ? 'unchanged' : before === null ? 'created' : 'changed'
    if (file !== marker) changes.push({ path, action, backup: null })
    if (action === 'unchanged') continue
    const folders = [
      ...found.missingFolders,
      found.path,
      ...foldersTo(file.path).map((folder) => join(found.path, folder)),
    ]
    steps.push(...folders.map((folder): Step => ({ do: 'make-folder', path: folder, mode: 0o700 })))
    steps.push({ do: 'write', path, bytes: Buffer.from(file.text), mode: 0o600 })
  }
  return {
    steps,
    files: changes,
    note: null,
    folders: found.state === 'absent' ? [...found.missingFolders, found.path] : [],
  }
}

export function planModRemoval(found: FoundMod): ModPlan {
  if (found.state !== 'ours') return { steps: [], files: [], note: null, folders: [] }
  return {
    steps: [{ do: 'remove-tree', path: found.path, last: MODULE_MARKER_FILE }],
    files: [{ path: found.path, action: 'removed', backup: null }],
    note: null,
    folders: [],
  }
}

function foldersTo(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [...foldersTo(folder), folder]
}
