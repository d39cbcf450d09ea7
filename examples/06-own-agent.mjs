// Tracks an agent of your own: its window, the point where it compacts, and its levels.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Tracker } from 'baton-cli'

const home = mkdtempSync(join(tmpdir(), 'baton-example-'))
writeFileSync(
  join(home, 'config.yaml'),
  'presets: []\nlevels:\n  - { name: tidy-up, at: 20k before compaction, actions: [request-handoff] }\n',
)

const tracker = Tracker.open({ session: 'example-06', home, window: 128_000, compaction: 120_000 })
for (const input_tokens of [60_000, 99_000, 101_000]) {
  const state = tracker.updateUsage({ input_tokens, output_tokens: 50 })
  console.log(
    `${state.compaction_percent}% of ${state.compaction_tokens}: ${state.threshold_reached}, pause ` +
      `${tracker.shouldAutoPause()}`,
  )
}
console.log(tracker.configProblems())
tracker.close()

// Prints:
// 50% of 120000: null, pause false
// 82.5% of 120000: null, pause false
// 84.2% of 120000: tidy-up, pause true
// []
