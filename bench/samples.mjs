import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const WORDS =
  'the handler reads one line at a time and keeps what it has seen so far in a small table keyed by the path of ' +
  'the file; '

/** The client's session clock. Baton uses it to decide which of two status lines is newer. */
const clock = () => 10_000_000 + Math.round(performance.now())

/**
 * Returns the JSON that the client gives its status line after an answer, padded by `extra` bytes.
 */
export function statusLine({ sessionId, transcript, cwd, used, extra = 0, duration = clock() }) {
  const cached = used - 8
  const dirs = []
  for (let left = extra, i = 0; left > 0; i++) {
    const dir = `${cwd}/packages/part-${i}/${'x'.repeat(60)}`
    dirs.push(dir)
    left -= dir.length + 3
  }
  return JSON.stringify({
    session_id: sessionId,
    transcript_path: transcript,
    cwd,
    prompt_id: 'a960c650-bc6b-4f5d-93ca-8dce9338e44b',
    effort: { level: 'high' },
    model: { id: 'claude-opus-4-6', display_name: 'Opus 4.6' },
    workspace: { current_dir: cwd, project_dir: cwd, added_dirs: dirs },
    version: '2.1.325',
    output_style: { name: 'default' },
    cost: {
      total_cost_usd: 0.34633,
      total_duration_ms: duration,
      total_api_duration_ms: 66,
      total_lines_added: 0,
      total_lines_removed: 0,
    },
    context_window: {
      total_input_tokens: used,
      total_output_tokens: 50,
      context_window_size: 200_000,
      current_usage: {
        input_tokens: 8,
        output_tokens: 50,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: cached,
      },
      used_percentage: Math.round(used / 2000),
      remaining_percentage: 100 - Math.round(used / 2000),
    },
    exceeds_200k_tokens: false,
    prompt_cache: {
      warm: true,
      caching_observed: true,
      ttl: '5m',
      expires_at: 1794775452,
      requests: 2,
      misses: 0,
      expected_rebuilds: 0,
      hit_ratio: 0.49497109368812864,
      cache_write_tokens: 51000,
      miss_recache_tokens: 0,
      last_miss_at: null,
      last_miss_cause: null,
      miss_causes: {},
      recache_tokens_if_cold: used,
    },
    fast_mode: false,
    thinking: { enabled: true },
  })
}

/**
 * Returns the id of the tool call of step `n`. Transcript and payload must agree, because Baton
 * waits for a batch whose call is not in the transcript yet.
 */
export const toolUseId = (n) => `toolu_${stepId(n)}`
const stepId = (n) => n.toString(36).padStart(8, '0')

/**
 * Returns the hook payload of the finished tool batch of step `n`, with `size` bytes of tool
 * result.
 */
export function toolBatch({ sessionId, transcript, cwd, n, size }) {
  return JSON.stringify({
    session_id: sessionId,
    transcript_path: transcript,
    cwd,
    prompt_id: '66e1b276-e2ee-4ee3-8938-b10096a4dec2',
    permission_mode: 'default',
    effort: { level: 'high' },
    hook_event_name: 'PostToolBatch',
    tool_calls: [
      {
        tool_name: 'Bash',
        tool_input: { command: 'cat notes.txt' },
        tool_use_id: toolUseId(n),
        tool_response: prose(size),
      },
    ],
  })
}

export const prose = (size) => WORDS.repeat(Math.ceil(size / WORDS.length)).slice(0, size)

/** Environment variables that the client gives its hooks. */
export function hookEnvironment({ sessionId, cwd, attended = '1', pid = process.pid }) {
  return {
    CLAUDE_PID: String(pid),
    CLAUDE_PROJECT_DIR: cwd,
    CLAUDE_CODE_SESSION_ID: sessionId,
    CLAUDE_CODE_SESSION_ATTENDED: attended,
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    AI_AGENT: 'claude-code_2-1-325_harness',
    COLUMNS: '120',
  }
}

/**
 * Returns the transcript lines of one step: an answer with its tool call, and the tool's result.
 */
export function transcriptStep({ sessionId, cwd, n, used, size, at }) {
  const common = {
    isSidechain: false,
    userType: 'external',
    entrypoint: 'cli',
    cwd,
    sessionId,
    version: '2.1.325',
    gitBranch: 'main',
    timestamp: new Date(at).toISOString(),
  }
  const id = stepId(n)
  const answer = {
    parentUuid: `u${id}`,
    message: {
      model: 'claude-opus-4-6',
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      content: [{ type: 'tool_use', id: toolUseId(n), name: 'Bash', input: { command: 'cat notes.txt' } }],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 8,
        cache_creation_input_tokens: 400,
        cache_read_input_tokens: used - 408,
        output_tokens: 50,
        service_tier: 'standard',
      },
    },
    requestId: `req_${id}`,
    type: 'assistant',
    uuid: `a${id}`,
    ...common,
  }
  const result = {
    parentUuid: `a${id}`,
    type: 'user',
    message: {
      role: 'user',
      content: [{ tool_use_id: toolUseId(n), type: 'tool_result', content: prose(size), is_error: false }],
    },
    uuid: `r${id}`,
    toolUseResult: { stdout: prose(Math.min(size, 400)), stderr: '', interrupted: false },
    ...common,
  }
  return `${JSON.stringify(answer)}\n${JSON.stringify(result)}\n`
}

const SIZES = [300, 900, 2_000, 400, 6_000, 1_200, 29_000, 700]

/**
 * Writes a transcript of about `bytes` with answers and tool results of usual sizes. Returns the
 * number of steps.
 */
export function writeTranscript(file, { sessionId, cwd, bytes, used = 60_008 }) {
  mkdirSync(dirname(file), { recursive: true })
  const fd = openSync(file, 'w')
  // Serialising is slow, so lines are reused with new ids and times.
  const shapes = SIZES.map((size) => transcriptStep({ sessionId, cwd, n: 0, used, size, at: 0 }))
  const zero = new RegExp(`0{8}|${new Date(0).toISOString()}`, 'g')
  let written = 0
  let n = 0
  let block = ''
  const began = Date.now() - 3_600_000
  while (written < bytes) {
    const id = stepId(++n)
    const time = new Date(began + n * 50).toISOString()
    block += shapes[n % shapes.length].replace(zero, (found) => (found.length === 8 ? id : time))
    if (block.length > 1024 * 1024 || written + block.length >= bytes) {
      written += writeSync(fd, block)
      block = ''
    }
  }
  closeSync(fd)
  return n
}
