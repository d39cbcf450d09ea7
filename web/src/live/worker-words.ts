import type { Frame, LiveState } from './live.js'

export type ToWorker = { kind: 'hello'; key: string | null } | { kind: 'bye' }
export type FromWorker =
  | { kind: 'state'; state: LiveState }
  | { kind: 'frames'; frames: Frame[] }
  | { kind: 'refused'; key: string | null }
