import { test, vi } from 'vitest'
import { threeInARow } from './handoff-chain.js'

vi.setConfig({ testTimeout: 150_000 })

test('three handoffs in a row keep one seat and link brief to brief: cleared from within the client', async () => {
  await threeInARow('mod')
})
