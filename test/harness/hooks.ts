import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Home } from './home.js'

/**
 * A simulated client session that runs the real hooks. Used where many real clients would be too
 * slow.
 */
export interface Pretended {
  id: string
  transcript: string
  /** Appends an answer with one tool call to the transcript and returns the call's id. */
  answer(used: number): string
  /** Runs the installed hook command for an event, as the client does. */
  hook(event: string, body?: Record<string, unknown>, more?: HookOptions): Promise<HookRun>
  /** Appends an answer with a tool call and runs its PostToolBatch hook. */
  batch(used: number): Promise<HookRun>
  statusLine(used: number | null): Promise<HookRun>
  /** Writes a reading as the plugin module does, with `at` as its time. */
  live(used: number, at: number): void
}

export interface HookRun {
  code: number | null
  stdout: string
  stderr: string
  ms: number
}

export interface HookOptions {
  env?: Record<string, string>
  /** Text written to the hook's stdin instead of the event. */
  stdin?: string
  /** True to leave the hook's stdin open. */
  open?: boolean
}

let sessions = 0

const newId = (): string =>
  `5e55101${String(++sessions).padStart(1, '0')}-0000-4000-8000-${String(process.pid).padStart(12, '0')}`

/**
 * Simulates a session whose client is the process `pid`. `id` names an existing session to
 * continue.
 */
export function pretend(home: Home, pid: number, project = home.project, id = newId()): Pretended {
  const folder = path.join(home.configDir, 'projects', project.replace(/[^a-zA-Z0-9]/g, '-'))
  mkdirSync(folder, { recursive: true })
  const transcript = path.join(folder, `${id}.jsonl`)
  let answers = 0
  const env = {
    CLAUDE_PID: String(pid),
    CLAUDE_PROJECT_DIR: project,
    CLAUDE_CODE_SESSION_ID: id,
    CLAUDE_CODE_SESSION_ATTENDED: '1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    AI_AGENT: 'claude-code_2-1-325_harness',
  }
  const common = { session_id: id, transcript_path: transcript, cwd: project }
  const it: Pretended = {
    id,
    transcript,
    answer: (used) => {
      const n = ++answers
      appendFileSync(transcript, `${JSON.stringify(entry(id, project, n, used))}\n`)
      return `toolu_${n}`
    },
    hook: (event, body = {}, more = {}) =>
      run(
        commandOf(home, event),
        more.stdin ?? JSON.stringify({ ...common, permission_mode: 'default', hook_event_name: event, ...body }),
        { ...home.env, ...env, ...more.env },
        project,
        more.open,
      ),
    batch: (used) => {
      const call = it.answer(used)
      const tool = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: call, tool_response: 'README.md' }
      return it.hook('PostToolBatch', { tool_calls: [tool] })
    },
    statusLine: (used) => {
      const body = JSON.stringify({ ...common, ...line(project, used) })
      return run(commandOf(home, 'status-line'), body, { ...home.env, ...env }, project)
    },
    live: (used, at) =>
      writeFileSync(path.join(home.batonHome, 'live', `${id}.json`), JSON.stringify(report(id, used, at))),
  }
  return it
}

/** Returns the hook command that the client's settings name for an event. */
export function commandOf(home: Home, event: string): string {
  const settings = home.readSettings() as {
    hooks: Record<string, { hooks: { command: string }[] }[]>
    statusLine: { command: string }
  }
  return event === 'status-line' ? settings.statusLine.command : settings.hooks[event]!.at(-1)!.hooks[0]!.command
}

function run(command: string, stdin: string, env: Record<string, string>, cwd: string, open = false): Promise<HookRun> {
  const began = performance.now()
  const child = spawn('/bin/sh', ['-c', command], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.on('error', () => {})
  if (open) child.stdin.write(stdin)
  else child.stdin.end(stdin)
  return new Promise((resolve) => {
    child.on('close', (code) => {
      child.stdin.destroy()
      resolve({ code, stdout, stderr, ms: performance.now() - began })
    })
  })
}

/** Runs `work` for 0 … count − 1, at most `lanes` at a time. */
export async function crowd<T>(count: number, lanes: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const n = next++
      results[n] = await work(n)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}

/** Collects the texts that hook runs printed for the agent and for the user. */
export function said(runs: HookRun[]): { agent: string[]; user: string[] } {
  const answers = runs
    .filter(({ stdout }) => stdout.trim() !== '')
    .map(
      ({ stdout }) =>
        JSON.parse(stdout) as { systemMessage?: string; hookSpecificOutput?: { additionalContext?: string } },
    )
  return {
    agent: answers.flatMap((answer) => answer.hookSpecificOutput?.additionalContext ?? []),
    user: answers.flatMap((answer) => answer.systemMessage ?? []),
  }
}

function usage(used: number): Record<string, number> {
  return { input_tokens: 8, cache_creation_input_tokens: 1000, cache_read_input_tokens: used - 1008, output_tokens: 50 }
}

function entry(id: string, cwd: string, n: number, used: number): Record<string, unknown> {
  return {
    parentUuid: null,
    isSidechain: false,
    message: {
      id: `msg_${n}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-6',
      content: [{ type: 'tool_use', id: `toolu_${n}`, name: 'Bash', input: { command: 'ls' } }],
      stop_reason: 'tool_use',
      usage: usage(used),
    },
    requestId: `req_${n}`,
    type: 'assistant',
    uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    timestamp: new Date().toISOString(),
    cwd,
    sessionId: id,
    version: '2.1.325',
    gitBranch: 'main',
  }
}

function line(project: string, used: number | null): Record<string, unknown> {
  return {
    model: { id: 'claude-opus-4-6', display_name: 'Opus 4.6' },
    workspace: { current_dir: project, project_dir: project, added_dirs: [] },
    version: '2.1.325',
    cost: { total_cost_usd: 0.3, total_duration_ms: 2826, total_api_duration_ms: 66 },
    context_window: {
      total_input_tokens: used ?? 0,
      total_output_tokens: 50,
      context_window_size: 200_000,
      current_usage: used === null ? null : usage(used),
      used_percentage: used === null ? null : Math.round(used / 2000),
      remaining_percentage: used === null ? null : 100 - Math.round(used / 2000),
    },
    exceeds_200k_tokens: false,
  }
}

function report(session: string, tokens: number, at: number): Record<string, unknown> {
  const compaction = { threshold: 167_000, effective: 200_000, by: 'model-default', enabled: true }
  const figures = { tokens, window: 200_000, model: 'claude-opus-4-6', cost: 0.1, compaction, problem: null }
  return { format: 1, session, seq: at, at, epoch: 0, ...figures }
}
