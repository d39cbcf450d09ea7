/** Signals as Claude Code sends them, of a session that does not exist. */
export interface Sample {
  sessionId: string
  /** Tokens the status line tells. */
  used: number
  sessionStart: string
  statusLine: string
}

export const SAMPLE_PREFIX = 'doctor-'

export function sampleSignals(folder: string, id: string): Sample {
  const sessionId = `${SAMPLE_PREFIX}${id}`
  const used = 12_345
  const common = { session_id: sessionId, transcript_path: `${folder}/${sessionId}.jsonl`, cwd: folder }
  return {
    sessionId,
    used,
    sessionStart: JSON.stringify({ ...common, hook_event_name: 'SessionStart', source: 'startup', model: 'claude-opus-4-6' }),
    statusLine: JSON.stringify({
      ...common,
      model: { id: 'claude-opus-4-6', display_name: 'Opus 4.6' },
      workspace: { current_dir: folder, project_dir: folder, added_dirs: [] },
      cost: { total_cost_usd: 0, total_duration_ms: 1, total_api_duration_ms: 0 },
      context_window: {
        total_input_tokens: used,
        context_window_size: 200_000,
        current_usage: {
          input_tokens: 345,
          output_tokens: 10,
          cache_creation_input_tokens: 2_000,
          cache_read_input_tokens: 10_000,
        },
      },
    }),
  }
}
