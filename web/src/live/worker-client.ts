import type { Frame, LiveState } from './live-state.js'

/** The page of one tab, as its connection to the shared worker needs it. */
interface Tab {
  onMessage(message: FromWorker): void
  key(): string | null
  /** Calls `listener` after every key change. Returns the function that unsubscribes it. */
  onKeyChange(listener: () => void): () => void
  /** The window whose page says bye when the browser hides it and hello when it is restored. */
  window: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
  /** Called at most once, after the worker is disconnected: the page must open its own stream. */
  onFailure(): void
}

/** Receives the live state from a shared worker until the worker fails. */
export function connectToWorker(worker: Pick<SharedWorker, 'port' | 'onerror'>, tab: Tab): void {
  const { port } = worker
  const send = (message: ToWorker): void => port.postMessage(message)
  const sendHello = (): void => send({ kind: 'hello', key: tab.key() })
  const sendBye = (): void => send({ kind: 'bye' })
  const onPageShow = (event: Event): void => {
    if ((event as PageTransitionEvent).persisted) sendHello()
  }
  const unsubscribers = [tab.onKeyChange(sendHello)]
  for (const [name, act] of [['pagehide', sendBye] as const, ['pageshow', onPageShow] as const]) {
    tab.window.addEventListener(name, act)
    unsubscribers.push(() => tab.window.removeEventListener(name, act))
  }
  port.onmessage = ({ data }: MessageEvent<FromWorker>) => tab.onMessage(data)
  worker.onerror = (event) => {
    event.preventDefault()
    // Disconnect fully: a worker that fails twice or keeps running would give the tab two streams.
    worker.onerror = null
    port.onmessage = null
    for (const unsubscribe of unsubscribers) unsubscribe()
    sendBye()
    port.close()
    tab.onFailure()
  }
  sendHello()
}

export type ToWorker = { kind: 'hello'; key: string | null } | { kind: 'bye' }
export type FromWorker =
  | { kind: 'state'; state: LiveState }
  | { kind: 'frames'; frames: Frame[] }
  | { kind: 'refused'; key: string | null }
