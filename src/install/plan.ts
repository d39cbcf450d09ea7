/**
 * A change on disk. Steps run in order. A crash may follow any of them, and all can be repeated.
 */
export type Step =
  | { do: 'make-folder'; path: string; mode: number }
  /**
   * `expect` is the content the file must still have, null when it must not exist.
   * Absent for files that only Baton writes.
   */
  | { do: 'write'; path: string; bytes: Buffer; mode?: number; expect?: Buffer | null }
  | { do: 'remove'; path: string; expect?: Buffer }
  /** The file `last` is removed last, so that a half-removed folder is still known as ours. */
  | { do: 'remove-tree'; path: string; last: string }
  | { do: 'remove-folder-if-empty'; path: string }

export interface FileChange {
  path: string
  action: 'created' | 'changed' | 'unchanged' | 'removed' | 'restored'
  backup: string | null
}

export interface Plan {
  steps: Step[]
  files: FileChange[]
  /** Information for the user about this plan. */
  notes: string[]
  /** Settings files whose folders may hold a temporary file of a killed run. */
  settings: string[]
}

/** A settings file as found on disk. */
export interface FoundSettings {
  path: string
  key: string
  bytes: Buffer | null
  mode: number | null
  /** Folders on the path to the file that do not exist, outermost first. */
  missingFolders: string[]
}
