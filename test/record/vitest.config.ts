import { defineConfig } from 'vitest/config'

// Records the fixtures again: npx vitest run --config test/record/vitest.config.ts
export default defineConfig({
  test: { root: import.meta.dirname, include: ['*.record.ts'], testTimeout: 300_000, fileParallelism: false },
})
