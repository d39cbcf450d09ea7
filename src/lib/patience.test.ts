import { afterEach, expect, test, vi } from 'vitest'
import { patience } from './patience.js'

afterEach(() => void vi.unstubAllEnvs())

test('a time limit is multiplied by BATON_PATIENCE if that is a number from 1 to 99', () => {
  vi.stubEnv('BATON_PATIENCE', undefined)
  expect(patience(200)).toBe(200)
  vi.stubEnv('BATON_PATIENCE', '10')
  expect(patience(200)).toBe(2_000)
  for (const wrong of ['', '0', '-1', '100', '1e9', ' 2', 'x']) {
    vi.stubEnv('BATON_PATIENCE', wrong)
    expect(patience(200), wrong).toBe(200)
  }
})
