// The summary in the shape of an older tracker, drawn as a bar.
import { Tracker } from 'baton-cli'

const tracker = Tracker.open({ session: 'example-04', model: 'claude-opus-4-6' })
tracker.updateUsage({ input_tokens: 12_000, output_tokens: 900, cache_creation: 30_000 })
tracker.updateUsage({ input_tokens: 15_000, output_tokens: 700, cache_creation: 10_000, cache_read: 100_000 })

const { total_tokens, budget, percentage_used, threshold_reached, breakdown } = tracker.usageSummary()
const bar = '#'.repeat(Math.round(percentage_used / 5)).padEnd(20, '.')
console.log(`[${bar}] ${percentage_used}%  ${total_tokens} of ${budget} tokens  ${threshold_reached ?? ''}`)
console.log(breakdown)
tracker.close()

// Prints:
// [###############.....] 74.9%  125000 of 167000 tokens  warning
// {
//   input_tokens: 27000,
//   output_tokens: 1600,
//   cache_creation_tokens: 40000,
//   cache_read_tokens: 100000
// }
