import { type ChildProcess, spawn } from 'node:child_process'
import type { Home } from './home.js'
import { clientBinary } from './paths.js'
import { end } from './processes.js'
import { PATIENCE_MS } from './wait.js'

export interface PrintOptions {
  prompt?: string
  /** The model's name, e.g. `claude-opus-4-6`. */
  model?: string
  args?: string[]
  env?: Record<string, string>
  cwd?: string
  timeoutMs?: number
  /** False to apply the client's own permission rules. */
  bypass?: boolean
  /** Text for stdin, which is then closed. `open` keeps stdin open for JSON lines from `send`. */
  stdin?: string | 'open'
}

/** A message of `--output-format stream-json`. */
export type ClientMessage = { type: string; subtype?: string; session_id?: string; [key: string]: unknown }

export interface PrintRun {
  /** Null when the client was ended by a signal. */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** Null when the client never reported a session id. */
  sessionId: string | null
  messages: ClientMessage[]
  /** The last `result` message. */
  result: ClientMessage | null
  timedOut: boolean
}

export interface RunningPrint {
  pid: number
  messages: ClientMessage[]
  /** Writes one JSON line to stdin. Needs `stdin: 'open'`. */
  send(message: unknown): void
  endInput(): void
  kill(signal: NodeJS.Signals): void
  done: Promise<PrintRun>
}

/** Runs `claude -p` to its end. Does not throw when the client fails. */
export function runPrint(home: Home, options: PrintOptions): Promise<PrintRun> {
  return startPrint(home, options).done
}

export function startPrint(home: Home, options: PrintOptions): RunningPrint {
  const child = spawn(clientBinary(), argumentsOf(options), {
    cwd: options.cwd ?? home.project,
    env: { ...home.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  child.stdin.on('error', () => {})
  if (options.stdin !== 'open') child.stdin.end(options.stdin ?? '')
  const messages: ClientMessage[] = []
  const done = collect(child, messages, options.timeoutMs ?? PATIENCE_MS)
  home.onDispose(() => (child.exitCode === null && child.signalCode === null ? end(child.pid!) : undefined))
  return {
    pid: child.pid!,
    messages,
    send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    endInput: () => child.stdin.end(),
    kill: (signal) => child.kill(signal),
    done,
  }
}

function argumentsOf(options: PrintOptions): string[] {
  return [
    '-p',
    ...(options.prompt === undefined ? [] : [options.prompt]),
    '--output-format',
    'stream-json',
    '--verbose',
    ...(options.stdin === 'open' ? ['--input-format', 'stream-json'] : []),
    ...(options.model ? ['--model', options.model] : []),
    ...(options.bypass === false ? [] : ['--dangerously-skip-permissions']),
    ...(options.args ?? []),
  ]
}

function collect(child: ChildProcess, messages: ClientMessage[], timeoutMs: number): Promise<PrintRun> {
  let stdout = ''
  let stderr = ''
  let rest = ''
  let timedOut = false
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line.startsWith('{')) messages.push(JSON.parse(line))
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const timer = setTimeout(() => {
    timedOut = true
    void end(child.pid!)
  }, timeoutMs)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const sessionId = messages.findLast((m) => m.session_id)?.session_id ?? null
      const result = messages.findLast((m) => m.type === 'result') ?? null
      resolve({ code, signal, stdout, stderr, sessionId, messages, result, timedOut })
    })
  })
}
