import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import type { FromWorker, ToWorker } from './worker-client.js'
import { connectToWorker } from './worker-client.js'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** A tab, and the other end of the port its worker would have. */
function trial() {
  const { port1, port2 } = new MessageChannel()
  ends.push(
    () => port1.close(),
    () => port2.close(),
  )
  const said: ToWorker[] = []
  port2.on('message', (words: ToWorker) => said.push(words))
  const heard: FromWorker[] = []
  const keys = new EventTarget()
  const window = new EventTarget()
  let alone = 0
  const worker = { port: port1 as unknown as MessagePort, onerror: null as SharedWorker['onerror'] }
  connectToWorker(worker, {
    onMessage: (words) => void heard.push(words),
    key: () => 'k',
    onKeyChange(listener) {
      keys.addEventListener('key', listener)
      return () => keys.removeEventListener('key', listener)
    },
    window,
    onFailure: () => alone++,
  })
  return {
    said,
    heard,
    worker,
    window,
    alone: () => alone,
    tell: (words: FromWorker) => port2.postMessage(words),
    newKey: () => keys.dispatchEvent(new Event('key')),
    fail: () => worker.onerror?.call(worker as unknown as SharedWorker, new Event('error') as ErrorEvent),
  }
}

const told: FromWorker = { kind: 'frames', frames: [] }

describe('a tab that listens through the worker', () => {
  test('greets it, hears it, and greets again with another key or when it is taken out of the cache', async () => {
    const { said, heard, tell, newKey, window } = trial()
    tell(told)
    await until('it', () => heard.length === 1)
    newKey()
    window.dispatchEvent(new Event('pagehide'))
    window.dispatchEvent(new Event('pageshow'))
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    await until('all', () => said.length === 4)
    expect(said.map(({ kind }) => kind)).toEqual(['hello', 'hello', 'bye', 'hello'])
  })

  test('listens alone once, however often the worker fails, and has nothing to do with it any more', async () => {
    const { said, heard, tell, newKey, window, fail, worker, alone } = trial()
    fail()
    fail()
    expect([alone(), worker.onerror]).toEqual([1, null])
    tell(told)
    newKey()
    window.dispatchEvent(new Event('pagehide'))
    await until('the leave', () => said.length >= 2)
    expect(said.map(({ kind }) => kind)).toEqual(['hello', 'bye'])
    expect(heard).toEqual([])
  })
})
