import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: ['test/harness/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores, and every end-to-end test runs a client of 200 MB beside it.
    maxWorkers: 2,
    pool: 'forks',
  },
})
