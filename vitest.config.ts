import { defineConfig } from 'vitest/config'

const patient = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' } as const

export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts'],
    // Two cores, and every end-to-end test runs a client of 200 MB beside it.
    maxWorkers: 2,
    projects: [
      { test: { ...patient, name: 'rooms', include: ['src/**/*.test.ts', 'examples/**/*.test.ts'] } },
      { test: { ...patient, name: 'page', include: ['web/src/**/*.test.ts'] } },
      // The client has a clock of its own: what a machine too busy for it spoils is tried once more, and the report names it.
      { test: { ...patient, name: 'client', include: ['test/**/*.test.ts'], retry: 1 } },
    ],
  },
})
