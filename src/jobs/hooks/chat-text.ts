import type { HookPayload } from './payloads.js'

/** Describes an event for a chat: a title that says what happened, and a body. */
export function chatText(payload: HookPayload): { title: string; body: string } {
  if ('event' in payload) {
    const { job, result } = payload
    const how = { completed: 'is done', failed: 'failed', timeout: 'ran out of time', cancelled: 'was cancelled' }[
      payload.event
    ]
    const took = job.duration_ms === null ? '' : ` after ${lengthOf(job.duration_ms)}`
    return { title: `${job.agent} ${how}${took} (job ${job.id})`, body: (result.error ?? result.output).trim() }
  }
  const { agent_name, job_id, branch_name } = payload.session
  const where = branch_name === null ? '' : ` on ${branch_name}`
  if (payload.hook_event_name === 'context_threshold') {
    const { compaction_percent, input_tokens } = payload.context
    const full =
      compaction_percent === null
        ? `${input_tokens} tokens`
        : `${Math.round(compaction_percent * 100)} % of its compaction point`
    return { title: `${agent_name} is at ${full}${where} (job ${job_id})`, body: '' }
  }
  const { is_continuation, handoff_count } = payload.session
  const what = is_continuation ? `continues in a fresh session (handoff ${handoff_count})` : 'starts'
  return { title: `${agent_name} ${what}${where} (job ${job_id})`, body: '' }
}

function lengthOf(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function cutChatText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
