import { followStream } from './follow-stream.js'
import { applyFrames, type Frame, INITIAL_STATE, resumeAfter } from './live-state.js'
import type { FromWorker, ToWorker } from './worker-client.js'

/**
 * Shares one event stream among all tabs.
 * Browsers open at most six connections to a server, which a stream per tab would use up.
 * The worker also holds the state, so that a new tab gets it at once.
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

function addPort(port: MessagePort, tabKey: string | null): void {
  ports.add(port)
  if (tabKey !== key || stream === null) startStream(tabKey)
  post(port, { kind: 'state', state })
}

/** Opens the stream with a key and drops the old state, because another key may see other data. */
function startStream(tabKey: string | null): void {
  stream?.abort()
  key = tabKey
  state = INITIAL_STATE
  for (const port of ports) post(port, { kind: 'state', state })
  const controller = new AbortController()
  stream = controller
  void followStream(
    tabKey,
    {
      onFrames: (frames) => controller.signal.aborted || receiveFrames(frames),
      lastEventId: () => resumeAfter(state),
      onRefused(refusedKey) {
        if (controller.signal.aborted) return
        stream = null
        for (const port of ports) post(port, { kind: 'refused', key: refusedKey })
      },
    },
    controller.signal,
  )
}

function receiveFrames(frames: Frame[]): void {
  state = applyFrames(state, frames)
  for (const port of ports) post(port, { kind: 'frames', frames })
}

function removePort(port: MessagePort): void {
  ports.delete(port)
  if (ports.size > 0) return
  stream?.abort()
  stream = null
}

const post = (port: MessagePort, message: FromWorker): void => port.postMessage(message)
