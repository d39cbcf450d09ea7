import { expect, test } from 'vitest'
import { startWorker } from './background-work.js'

test('a worker that cannot be started does not end the process that starts it', async () => {
  const node = process.execPath
  process.execPath = '/nonexistent/node'
  try {
    const child = startWorker('notify', 'engine.cjs', { root: '/x', config: '/x/config.yaml', log: '/x/log' })
    // Without a listener, Node throws the error of the failed start into this process.
    expect(child.listenerCount('error')).toBe(1)
    expect(await new Promise((resolve) => child.once('close', resolve))).toBeLessThan(0)
  } finally {
    process.execPath = node
  }
})
