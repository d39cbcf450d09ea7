import { follow } from './follow.js'
import { type Frame, fold, heardUpTo, NOTHING_HEARD } from './live.js'
import type { FromWorker, ToWorker } from './worker-words.js'

/**
 * One stream for all tabs: a browser opens six connections to a server, and ten tabs with a stream each would leave none for anything else.
 * The state is kept here too, so that a new tab has it at once.
 */
const scope = self as unknown as { onconnect: ((event: MessageEvent) => void) | null }
const ports = new Set<MessagePort>()
let state = NOTHING_HEARD
let key: string | null | undefined
let following: AbortController | null = null

scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => (data.kind === 'bye' ? leave(port) : greet(port, data.key))
}

function greet(port: MessagePort, shown: string | null): void {
  ports.add(port)
  if (shown !== key || following === null) begin(shown)
  tell(port, { kind: 'state', state })
}

/** Another key sees other things: nothing that was heard with the old one is kept. */
function begin(shown: string | null): void {
  following?.abort()
  key = shown
  state = NOTHING_HEARD
  for (const port of ports) tell(port, { kind: 'state', state })
  const own = new AbortController()
  following = own
  void follow(
    shown,
    {
      heard: (frames) => own.signal.aborted || hear(frames),
      lastEventId: () => heardUpTo(state),
      refused(refusedKey) {
        if (own.signal.aborted) return
        following = null
        for (const port of ports) tell(port, { kind: 'refused', key: refusedKey })
      },
    },
    own.signal,
  )
}

function hear(frames: Frame[]): void {
  state = fold(state, frames)
  for (const port of ports) tell(port, { kind: 'frames', frames })
}

function leave(port: MessagePort): void {
  ports.delete(port)
  if (ports.size > 0) return
  following?.abort()
  following = null
}

const tell = (port: MessagePort, words: FromWorker): void => port.postMessage(words)
