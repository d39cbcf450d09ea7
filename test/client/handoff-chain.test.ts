import { test } from 'vitest'
import { threeInARow } from './handoff-chain.js'

test('three handoffs in a row keep one seat and link brief to brief', async () => {
  await threeInARow()
})
