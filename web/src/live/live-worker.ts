import { followStream } from './follow-stream.js'
import { type Frame, fold, INITIAL_STATE, resumeAfter } from './live-state.js'
import type { FromWorker, ToWorker } from './worker-client.js'

/**
 * One stream for all tabs: a browser opens six connections to a server, and ten tabs with a stream each would leave none for anything else.
 * The state is kept here too, so that a new tab has it at once.
 */
const scope = self as unknown as { onconnect: ((event: MessageEvent) => void) | null }
const ports = new Set<MessagePort>()
let state = INITIAL_STATE
let key: string | null | undefined
let stream: AbortController | null = null

scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return
  port.onmessage = ({ data }: MessageEvent<ToWorker>) =>
    data.kind === 'bye' ? removePort(port) : addPort(port, data.key)
}

function addPort(port: MessagePort, shown: string | null): void {
  ports.add(port)
  if (shown !== key || stream === null) startStream(shown)
  post(port, { kind: 'state', state })
}

/** Another key sees other things: nothing that was heard with the old one is kept. */
function startStream(shown: string | null): void {
  stream?.abort()
  key = shown
  state = INITIAL_STATE
  for (const port of ports) post(port, { kind: 'state', state })
  const own = new AbortController()
  stream = own
  void followStream(
    shown,
    {
      onFrames: (frames) => own.signal.aborted || applyFrames(frames),
      lastEventId: () => resumeAfter(state),
      onRefused(refusedKey) {
        if (own.signal.aborted) return
        stream = null
        for (const port of ports) post(port, { kind: 'refused', key: refusedKey })
      },
    },
    own.signal,
  )
}

function applyFrames(frames: Frame[]): void {
  state = fold(state, frames)
  for (const port of ports) post(port, { kind: 'frames', frames })
}

function removePort(port: MessagePort): void {
  ports.delete(port)
  if (ports.size > 0) return
  stream?.abort()
  stream = null
}

const post = (port: MessagePort, words: FromWorker): void => port.postMessage(words)
