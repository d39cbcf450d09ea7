import { expect, test } from 'vitest'
import { growth } from './growth.js'

const steps = (count: number) => () => {
  let sum = 0
  for (let i = 0; i < count; i++) sum = (sum * 31 + i) % 1_000_003
  return sum
}

test('work in proportion to its input is told from work that grows with the square', () => {
  expect(growth((size) => steps(size * 200), 10_000, 16, 4)).toBeLessThan(4)
  expect(growth((size) => steps((size * size) / 500), 10_000, 16, 4)).toBeGreaterThan(8)
})
