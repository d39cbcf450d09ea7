import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import type { FromWorker, ToWorker } from './worker-client.js'
import { connectToWorker } from './worker-client.js'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Connects a tab to a message channel; the test holds the port that the worker would have. */
function connectTab() {
  const { port1, port2 } = new MessageChannel()
  ends.push(
    () => port1.close(),
    () => port2.close(),
  )
  const sent: ToWorker[] = []
  port2.on('message', (message: ToWorker) => sent.push(message))
  const received: FromWorker[] = []
  const keys = new EventTarget()
  const window = new EventTarget()
  let failures = 0
  const worker = { port: port1 as unknown as MessagePort, onerror: null as SharedWorker['onerror'] }
  connectToWorker(worker, {
    onMessage: (message) => void received.push(message),
    key: () => 'k',
    onKeyChange(listener) {
      keys.addEventListener('key', listener)
      return () => keys.removeEventListener('key', listener)
    },
    window,
    onFailure: () => failures++,
  })
  return {
    sent,
    received,
    worker,
    window,
    failures: () => failures,
    sendToTab: (message: FromWorker) => port2.postMessage(message),
    changeKey: () => keys.dispatchEvent(new Event('key')),
    fail: () => worker.onerror?.call(worker as unknown as SharedWorker, new Event('error') as ErrorEvent),
  }
}

const someFrames: FromWorker = { kind: 'frames', frames: [] }

describe('a tab connected to the shared worker', () => {
  test('a tab says hello again with a new key and when the browser restores it from its cache', async () => {
    const { sent, received, sendToTab, changeKey, window } = connectTab()
    sendToTab(someFrames)
    await until('the frames have arrived', () => received.length === 1)
    changeKey()
    window.dispatchEvent(new Event('pagehide'))
    window.dispatchEvent(new Event('pageshow'))
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    await until('all messages have arrived', () => sent.length === 4)
    expect(sent.map(({ kind }) => kind)).toEqual(['hello', 'hello', 'bye', 'hello'])
  })

  test('a worker that fails twice is reported once, and the tab no longer uses it', async () => {
    const { sent, received, sendToTab, changeKey, window, fail, worker, failures } = connectTab()
    fail()
    fail()
    expect([failures(), worker.onerror]).toEqual([1, null])
    sendToTab(someFrames)
    changeKey()
    window.dispatchEvent(new Event('pagehide'))
    await until('the tab has said bye', () => sent.length >= 2)
    expect(sent.map(({ kind }) => kind)).toEqual(['hello', 'bye'])
    expect(received).toEqual([])
  })
})
