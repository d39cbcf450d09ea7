import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { textImportsForVite } from './scripts/text-imports.mjs'
import { keepTemporaryFilesInMemory } from './test/harness/memory-folder.js'

keepTemporaryFilesInMemory()

/** Timeouts only end a test that hangs; a test that takes longer on a busy machine still passes. */
const common = {
  testTimeout: 1_200_000,
  hookTimeout: 1_200_000,
  expect: { poll: { timeout: 480_000 } },
  pool: 'forks',
  // A prompt of a real client has 40 kB: without a bound one failed assertion hides the others.
  diff: { truncateThreshold: 60 },
} as const
/** Builds dist, installs tmux and shellcheck, and guards the real home; the unit tier needs none of it. */
const globalSetup = ['test/harness/global-setup.ts']

/**
 * How many times as long as usual Baton waits for others: see src/lib/patience.ts. The client ends a
 * hook after ten seconds.
 */
const PATIENT = { BATON_PATIENCE: '5' }

/** Runs the unit tier last: its short files keep all workers busy to the end. */
class TierSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const tier = ({ project }: TestSpecification): number => ['client', 'page', 'process', 'unit'].indexOf(project.name)
    return (await super.sort(files)).sort((a, b) => tier(a) - tier(b))
  }
}

/**
 * With `isolate: false` files share a process and load modules once: a test puts back what it
 * changes there.
 */
export default defineConfig({
  test: {
    // One more than the cores of a small machine: a test with the client mostly waits for the
    // client.
    maxWorkers: 3,
    reporters: ['default', './test/harness/failure-list.ts'],
    sequence: { sequencer: TierSequencer },
    projects: [
      {
        plugins: [textImportsForVite],
        test: {
          ...common,
          name: 'client',
          include: ['test/client/**/*.test.ts'],
          globalSetup,
          isolate: false,
          env: PATIENT,
        },
      },
      {
        plugins: [textImportsForVite],
        test: {
          ...common,
          name: 'page',
          env: PATIENT,
          include: ['test/page/**/*.test.ts'],
          globalSetup: [...globalSetup, 'test/page/global-setup.ts'],
          isolate: false,
        },
      },
      {
        plugins: [textImportsForVite],
        test: {
          ...common,
          name: 'process',
          include: ['src/**/*.process.test.ts', 'examples/**/*.process.test.ts', 'test/{process,attacks}/**/*.test.ts'],
          globalSetup,
          isolate: false,
        },
      },
      {
        plugins: [textImportsForVite],
        test: {
          ...common,
          name: 'unit',
          include: ['src/**/*.test.ts', 'web/src/**/*.test.ts', 'examples/**/*.test.ts', 'test/corpus/**/*.test.ts'],
          exclude: ['**/*.process.test.ts'],
          setupFiles: ['test/harness/no-processes.ts'],
          isolate: false,
        },
      },
    ],
  },
})
