// Reports the usage of each answer of a model and asks how full the session is.
import { Tracker } from 'baton-cli'

const tracker = Tracker.open({ session: 'example-01', model: 'claude-opus-4-6' })

// Usage of three answers. Most of an agent's input comes from the cache, and cached input fills
// the window too.
tracker.updateUsage({ input_tokens: 8, output_tokens: 400, cache_creation: 50_000 })
tracker.updateUsage({ input_tokens: 8, output_tokens: 300, cache_creation: 15_000, cache_read: 50_000 })
const state = tracker.updateUsage({ input_tokens: 8, output_tokens: 500, cache_creation: 60_000, cache_read: 65_000 })

console.log(
  `now ${state.used_tokens} tokens, ${state.used_percent}% of the window, ${state.compaction_percent}% of the ` +
    'compaction point',
)
console.log(
  `spent ${state.cumulative_output_tokens} output and ${state.cache_read_tokens} cached input tokens in ` +
    `${state.answers} answers`,
)
console.log(state.description)
tracker.close()

// Prints:
// now 125008 tokens, 62.5% of the window, 74.9% of the compaction point
// spent 1200 output and 115000 cached input tokens in 3 answers
// 125,008 tokens used, 74.9% of the compaction point (about 167,000); 62.5% of the 200,000 window
