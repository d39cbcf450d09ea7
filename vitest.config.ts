import { defineConfig } from 'vitest/config'

const patient = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' } as const

export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts'],
    // One more than the cores of a small machine: much of an end-to-end test is waiting for the client. Each runs one of 200 MB beside it.
    maxWorkers: 3,
    projects: [
      // The client has a clock of its own: what a machine too busy for it spoils is tried once more, and the report names it.
      { test: { ...patient, name: 'client', include: ['test/**/*.test.ts'], retry: 1 } },
      // Begun after the others, so that no worker is idle at the end. A file leaves no trace in its process: nothing is mocked, and what
      // it changes there it puts back; so files share one, and what they import is read once.
      {
        test: {
          ...patient,
          name: 'rooms',
          include: ['src/**/*.test.ts', 'examples/**/*.test.ts', 'web/src/**/*.test.ts'],
          isolate: false,
        },
      },
    ],
  },
})
