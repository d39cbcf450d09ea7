import { useSyncExternalStore } from 'react'
import { dropKey, keyNow, onKeyChange } from '../key.js'
import { follow } from './follow.js'
import { listenThrough } from './listen-through.js'
import { type Frame, fold, heardUpTo, type LiveState, NOTHING_HEARD } from './live.js'

let state: LiveState = NOTHING_HEARD
const listeners = new Set<() => void>()

function become(next: LiveState): void {
  state = next
  for (const listener of listeners) listener()
}
const hear = (frames: Frame[]): void => become(fold(state, frames))
const refused = (key: string | null): void => {
  if (key !== null) dropKey(key)
}

/** Begins to listen: through the worker all tabs share, or alone where the browser has none. */
export function listen(): void {
  if (typeof SharedWorker === 'undefined') listenAlone()
  else listenThroughWorker()
}

function listenThroughWorker(): void {
  const worker = new SharedWorker(new URL('./live-worker.ts', import.meta.url), { type: 'module', name: 'baton-live' })
  listenThrough(worker, {
    heard(words) {
      if (words.kind === 'state') become(words.state)
      else if (words.kind === 'frames') hear(words.frames)
      else refused(words.key)
    },
    ...{ key: keyNow, onKeyChange, window, alone: listenAlone },
  })
}

function listenAlone(): void {
  let following: AbortController | null = null
  const begin = (): void => {
    following?.abort()
    const own = new AbortController()
    following = own
    become(NOTHING_HEARD)
    void follow(
      keyNow(),
      { heard: (frames) => own.signal.aborted || hear(frames), lastEventId: () => heardUpTo(state), refused },
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
