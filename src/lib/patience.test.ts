import { afterEach, expect, test, vi } from 'vitest'
import { scaleTimeout } from './patience.js'

afterEach(() => void vi.unstubAllEnvs())

test('a time limit is multiplied by BATON_PATIENCE if that is a number from 1 to 99', () => {
  vi.stubEnv('BATON_PATIENCE', undefined)
  expect(scaleTimeout(200)).toBe(200)
  vi.stubEnv('BATON_PATIENCE', '10')
  expect(scaleTimeout(200)).toBe(2_000)
  for (const wrong of ['', '0', '-1', '100', '1e9', ' 2', 'x']) {
    vi.stubEnv('BATON_PATIENCE', wrong)
    expect(scaleTimeout(200), wrong).toBe(200)
  }
})
