// After a handoff the work continues in a fresh session; the old session keeps its figures.
import { Tracker } from 'baton-cli'

const tracker = Tracker.open({ session: 'example-07-a' })
tracker.updateUsage({ input_tokens: 150_000, output_tokens: 2_000 })
console.log(tracker.sessionId, tracker.checkThresholds())

const fresh = tracker.resetSession('example-07-b')
console.log(tracker.sessionId, fresh.used_tokens, fresh.cumulative_input_tokens)

tracker.updateUsage({ input_tokens: 20_000, output_tokens: 300 })
console.log(tracker.sessionId, tracker.currentState().used_tokens)
console.log('example-07-a', Tracker.open({ session: 'example-07-a' }).currentState().used_tokens)

// Prints:
// example-07-a handoff
// example-07-b null 0
// example-07-b 20000
// example-07-a 150000
