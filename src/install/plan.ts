/** One thing to do. Steps run in order; every one may be the last before a crash, and all may be run again. */
export type Step =
  | { do: 'make-folder'; path: string; mode: number }
  /** `expect`: what the file must still hold (null: nothing); left out: it is ours alone. */
  | { do: 'write'; path: string; bytes: Buffer; mode?: number; expect?: Buffer | null }
  | { do: 'remove'; path: string; expect?: Buffer }
  /** `last` goes after everything else in it, so that a half-removed folder is still known as ours. */
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
  /** What a person should know about it. */
  notes: string[]
  /** Settings files whose folders may hold a temporary file of a killed run. */
  settings: string[]
}

/** A settings file as it was found. */
export interface FoundSettings {
  path: string
  key: string
  bytes: Buffer | null
  mode: number | null
  /** Folders on the way to it that do not exist, outermost first. */
  missingFolders: string[]
}
