import { useSyncExternalStore } from 'react'
import { currentKey, dropKey, onKeyChange } from '../api/key.js'
import { followStream } from './follow-stream.js'
import { applyFrames, type Frame, INITIAL_STATE, type LiveState, resumeAfter } from './live-state.js'
import { connectToWorker } from './worker-client.js'

let state: LiveState = INITIAL_STATE
const listeners = new Set<() => void>()

function setState(next: LiveState): void {
  state = next
  for (const listener of listeners) listener()
}
const receiveFrames = (frames: Frame[]): void => setState(applyFrames(state, frames))
const onRefused = (key: string | null): void => {
  if (key !== null) dropKey(key)
}

/** Starts the event stream: in the worker all tabs share, or in this tab without SharedWorker. */
export function startEventStream(): void {
  if (typeof SharedWorker === 'undefined') listenDirectly()
  else listenThroughWorker()
}

function listenThroughWorker(): void {
  const worker = new SharedWorker(new URL('./live-worker.ts', import.meta.url), { type: 'module', name: 'baton-live' })
  connectToWorker(worker, {
    onMessage(message) {
      if (message.kind === 'state') setState(message.state)
      else if (message.kind === 'frames') receiveFrames(message.frames)
      else onRefused(message.key)
    },
    key: currentKey,
    onKeyChange,
    window,
    onFailure: listenDirectly,
  })
}

function listenDirectly(): void {
  let stream: AbortController | null = null
  const begin = (): void => {
    stream?.abort()
    const controller = new AbortController()
    stream = controller
    setState(INITIAL_STATE)
    void followStream(
      currentKey(),
      {
        onFrames: (frames) => controller.signal.aborted || receiveFrames(frames),
        lastEventId: () => resumeAfter(state),
        onRefused,
      },
      controller.signal,
    )
  }
  onKeyChange(begin)
  begin()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns `select(state)` and redraws when it changes. `select` must return a stable identity. */
export const useLive = <T>(select: (state: LiveState) => T): T => useSyncExternalStore(subscribe, () => select(state))
