/** Returns a line of a rollout as Codex CLI 0.166.0 writes it. */
const line = (type: string, payload: object): string =>
  `${JSON.stringify({ timestamp: '2026-05-04T09:00:00.000Z', type, payload })}\n`

export const ROLLOUT_SESSION_ID = '01b2c3d4-0000-7000-8000-00000000beef'

export const rollout = {
  begin: (cwd: string): string =>
    line('session_meta', {
      session_id: ROLLOUT_SESSION_ID,
      id: ROLLOUT_SESSION_ID,
      cwd,
      originator: 'codex_exec',
      cli_version: '0.166.0',
      source: 'exec',
      history_mode: 'paginated',
    }) + line('event_msg', { type: 'task_started', turn_id: 'turn-1', model_context_window: 190_000 }),
  prompt: (text: string): string =>
    line('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
  answer: (id: string, used: number, text: string): string =>
    line('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }) +
    line('token_usage_record', {
      thread_id: ROLLOUT_SESSION_ID,
      session_id: ROLLOUT_SESSION_ID,
      response_id: id,
      usage: {
        input_tokens: used,
        cached_input_tokens: Math.round(used * 0.8),
        cache_write_input_tokens: 0,
        output_tokens: 40,
        reasoning_output_tokens: 12,
        total_tokens: used + 40,
      },
    }),
  command: (id: string, command: string, output: string): string =>
    line('response_item', {
      type: 'function_call',
      name: 'shell',
      call_id: id,
      arguments: JSON.stringify({ command }),
    }) + line('response_item', { type: 'function_call_output', call_id: id, output }),
  compacted: (message: string): string =>
    line('compacted', { message, replacement_history: [], window_number: 1, compaction_response_id: 'resp-summary' }),
}

/** Returns the body of a hook's event. */
export function hookBody(event: string, place: { cwd: string; transcript: string }, more: object = {}): string {
  return JSON.stringify({
    session_id: ROLLOUT_SESSION_ID,
    turn_id: 'turn-1',
    transcript_path: place.transcript,
    cwd: place.cwd,
    hook_event_name: event,
    model: 'gpt-test',
    permission_mode: 'default',
    ...more,
  })
}
