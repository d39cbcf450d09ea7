import type { FromWorker, ToWorker } from './worker-words.js'

/** What the page of one tab has to do with the worker all tabs share. */
export interface Tab {
  heard(words: FromWorker): void
  key(): string | null
  /** Returns what ends it. */
  onKeyChange(listener: () => void): () => void
  /** The window: a page that is put aside takes its leave, and greets again when it is taken out. */
  window: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
  /** The worker does not work: from now on the page listens by itself. Called once at most, after nothing of the worker is heard any more. */
  alone(): void
}

/** Listens through a worker until that fails. */
export function listenThrough(worker: Pick<SharedWorker, 'port' | 'onerror'>, tab: Tab): void {
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
  port.onmessage = ({ data }: MessageEvent<FromWorker>) => tab.heard(data)
  worker.onerror = (event) => {
    event.preventDefault()
    // It may fail again, and it may go on in spite of it: whoever is told of it twice would listen twice.
    worker.onerror = null
    port.onmessage = null
    for (const end of ends) end()
    bye()
    port.close()
    tab.alone()
  }
  hello()
}
