// Passes every message of the Agent SDK to `observe`, which reads session, model, answers,
// compactions and cost.
import { Tracker } from 'baton-cli'

// In your program, import { query } from '@anthropic-ai/claude-agent-sdk' and call query({ prompt,
// options }) instead.
async function* query() {
  const session_id = '7d1f0a52-0c61-4a56-9d1e-2b8a51c1f001'
  const answer = (id, cache_read_input_tokens, parent_tool_use_id = null) => {
    const usage = { input_tokens: 8, cache_read_input_tokens, output_tokens: 1 }
    return { type: 'assistant', session_id, parent_tool_use_id, message: { id, model: 'claude-opus-4-6', usage } }
  }
  yield { type: 'system', subtype: 'init', session_id, model: 'claude-opus-4-6', cwd: process.cwd() }
  yield answer('msg_1', 60_000)
  yield answer('msg_1', 60_000) // the same answer, its second block
  yield answer('msg_2', 190_000, 'toolu_1') // a subagent: has its own window
  yield answer('msg_3', 146_000)
  yield { type: 'result', session_id, uuid: 'r1', usage: { output_tokens: 900 }, total_cost_usd: 0.42, modelUsage: {} }
}

const tracker = Tracker.open()
for await (const message of query()) {
  const { crossed, used_tokens } = tracker.observe(message)
  if (crossed.length > 0) console.log(`${used_tokens} tokens: ${crossed.join(', ')}`)
  if (tracker.shouldAutoPause() && message.type === 'result') console.log('hand off before the next turn')
}
const { session_id, answers, cumulative_output_tokens, cost_usd } = tracker.currentState()
console.log({ session_id, answers, cumulative_output_tokens, cost_usd })
tracker.close()

// Prints:
// 146008 tokens: notice, warning, handoff
// hand off before the next turn
// {
//   session_id: '7d1f0a52-0c61-4a56-9d1e-2b8a51c1f001',
//   answers: 2,
//   cumulative_output_tokens: 900,
//   cost_usd: 0.42
// }
