import { useSyncExternalStore } from 'react'
import { dropKey, keyNow, onKeyChange } from '../api/key.js'
import { followStream } from './follow-stream.js'
import { type Frame, fold, INITIAL_STATE, type LiveState, resumeAfter } from './live-state.js'
import { connectToWorker } from './worker-client.js'

let state: LiveState = INITIAL_STATE
const listeners = new Set<() => void>()

function setState(next: LiveState): void {
  state = next
  for (const listener of listeners) listener()
}
const applyFrames = (frames: Frame[]): void => setState(fold(state, frames))
const onRefused = (key: string | null): void => {
  if (key !== null) dropKey(key)
}

/** Begins to listen: through the worker all tabs share, or alone where the browser has none. */
export function listen(): void {
  if (typeof SharedWorker === 'undefined') listenDirectly()
  else listenThroughWorker()
}

function listenThroughWorker(): void {
  const worker = new SharedWorker(new URL('./live-worker.ts', import.meta.url), { type: 'module', name: 'baton-live' })
  connectToWorker(worker, {
    onMessage(words) {
      if (words.kind === 'state') setState(words.state)
      else if (words.kind === 'frames') applyFrames(words.frames)
      else onRefused(words.key)
    },
    key: keyNow,
    onKeyChange,
    window,
    onFailure: listenDirectly,
  })
}

function listenDirectly(): void {
  let stream: AbortController | null = null
  const begin = (): void => {
    stream?.abort()
    const own = new AbortController()
    stream = own
    setState(INITIAL_STATE)
    void followStream(
      keyNow(),
      {
        onFrames: (frames) => own.signal.aborted || applyFrames(frames),
        lastEventId: () => resumeAfter(state),
        onRefused,
      },
      own.signal,
    )
  }
  onKeyChange(begin)
  begin()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What `select` takes of what is live. It must give the same thing while nothing it looks at has changed. */
export const useLive = <T>(select: (state: LiveState) => T): T => useSyncExternalStore(subscribe, () => select(state))
