import type { Frame, LiveState } from './live-state.js'

/** What the page of one tab has to do with the worker all tabs share. */
interface Tab {
  onMessage(words: FromWorker): void
  key(): string | null
  /** Returns what ends it. */
  onKeyChange(listener: () => void): () => void
  /** The window: a page that is put aside takes its leave, and greets again when it is taken out. */
  window: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
  /** The worker does not work: from now on the page listens by itself. Called once at most, after nothing of the worker is heard any more. */
  onFailure(): void
}

/** Listens through a worker until that fails. */
export function connectToWorker(worker: Pick<SharedWorker, 'port' | 'onerror'>, tab: Tab): void {
  const { port } = worker
  const say = (words: ToWorker): void => port.postMessage(words)
  const hello = (): void => say({ kind: 'hello', key: tab.key() })
  const bye = (): void => say({ kind: 'bye' })
  const back = (event: Event): void => {
    if ((event as PageTransitionEvent).persisted) hello()
  }
  const ends = [tab.onKeyChange(hello)]
  for (const [name, act] of [['pagehide', bye] as const, ['pageshow', back] as const]) {
    tab.window.addEventListener(name, act)
    ends.push(() => tab.window.removeEventListener(name, act))
  }
  port.onmessage = ({ data }: MessageEvent<FromWorker>) => tab.onMessage(data)
  worker.onerror = (event) => {
    event.preventDefault()
    // It may fail again, and it may go on in spite of it: whoever is told of it twice would listen twice.
    worker.onerror = null
    port.onmessage = null
    for (const end of ends) end()
    bye()
    port.close()
    tab.onFailure()
  }
  hello()
}

export type ToWorker = { kind: 'hello'; key: string | null } | { kind: 'bye' }
export type FromWorker =
  | { kind: 'state'; state: LiveState }
  | { kind: 'frames'; frames: Frame[] }
  | { kind: 'refused'; key: string | null }
