import { randomUUID } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import type { RunningSession, Runtime, RuntimeListener, SessionOptions } from '../../../contract/runtime.js'
import { reasonOf } from '../../../lib/errors.js'
import { lineSplitter } from '../../../lib/line-splitter.js'
import { type Log, silentLog } from '../../../lib/log.js'
import { boundedListener, MAX_ANSWER_MS } from '../../shared/bounded-listener.js'
import { spawnClient } from '../../shared/client-child.js'
import { asObject, asText, type Fields, parseObject } from '../fields.js'
import { CLIENT_ENVIRONMENT, clientArguments } from './client-arguments.js'
import { ClientHooks, HOOK_TIMEOUT_S, REGISTERED_HOOKS } from './client-hooks.js'
import { ClientSession } from './client-session.js'

interface CliOptions {
  /** Absolute path of the user's own `claude`. Null when there is none. */
  binary: string | null
  log?: Log
  answerMs?: number
}

/** Runs the user's own client, controlled over its stdin and stdout. */
export function cliRuntime({ binary, log = silentLog, answerMs = MAX_ANSWER_MS }: CliOptions): Runtime {
  return {
    name: 'cli',
    missing: () => whyMissing(binary),
    start: (sessionOptions, listener) =>
      start(binary ?? 'claude', sessionOptions, boundedListener(listener, log, answerMs), log),
  }
}

function whyMissing(binary: string | null): string | null {
  if (binary === null) return '`claude` was not found on the PATH; run npm install -g @anthropic-ai/claude-code'
  try {
    accessSync(binary, constants.X_OK)
    return null
  } catch {
    return `${binary} is not executable; run npm install -g @anthropic-ai/claude-code`
  }
}

function start(program: string, sessionOptions: SessionOptions, listener: RuntimeListener, log: Log): RunningSession {
  const env = { ...sessionOptions.env, ...CLIENT_ENVIRONMENT }
  const child = spawnClient({
    program,
    args: clientArguments(sessionOptions),
    cwd: sessionOptions.cwd,
    env,
    sessionId: sessionOptions.sessionId,
  })
  const { stdin, stdout } = child.child
  const session = new ClientSession(child, env, log)
  const hooks = new ClientHooks(listener)
  const protocol = new CliProtocol({
    write: (line) => void (stdin.writable && stdin.write(line)),
    message: (value) => session.take(value),
    hook: (input) => hooks.answer(input),
  })
  const split = lineSplitter((line) => {
    session.takeRaw(line)
    protocol.take(line)
  })
  stdout.on('data', split)
  stdout.on('end', () => split())
  session.attach(
    {
      ready: protocol.initialize(sessionOptions.appendSystemPrompt).then(() => {}),
      say: (prompt) => protocol.say(prompt, randomUUID()),
      contextUsage: () => protocol.request({ subtype: 'get_context_usage', detail: 'summary' }),
      applySettings: (settings) => protocol.request({ subtype: 'apply_flag_settings', settings }),
      interrupt: () => protocol.request({ subtype: 'interrupt' }),
      stopTask: (taskId) => protocol.request({ subtype: 'stop_task', task_id: taskId }),
      close: () => stdin.end(),
    },
    Promise.resolve(),
  )
  return session
}

interface ProtocolEnds {
  write(line: string): void
  /** Receives a message of the stream that is neither a request nor a response. */
  message(value: Fields): void
  /** Returns the answer to a hook. Must not throw. */
  hook(input: unknown): Promise<Fields>
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

const NOT_JSON = { type: 'not JSON' }

/**
 * The client's control protocol: one JSON object per line, requests and responses among messages.
 */
export class CliProtocol {
  private readonly waiting = new Map<string, Waiting>()
  private next = 1

  constructor(private readonly ends: ProtocolEnds) {}

  initialize(appendSystemPrompt: string | null): Promise<unknown> {
    const hooks: Record<string, unknown[]> = {}
    for (const { event, matcher } of REGISTERED_HOOKS) {
      const registration = { hookCallbackIds: [event], timeout: HOOK_TIMEOUT_S }
      hooks[event] = [matcher === null ? registration : { matcher, ...registration }]
    }
    return this.request({ subtype: 'initialize', hooks, ...(appendSystemPrompt ? { appendSystemPrompt } : {}) })
  }

  /** Settles when the client responds, and never if it does not. */
  request(request: Fields): Promise<unknown> {
    const id = `baton-${this.next++}`
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
      this.write({ type: 'control_request', request_id: id, request })
    })
  }

  /**
   * Sends a prompt.
   * Priority `later` queues the prompt after the running turn instead of adding it to the turn.
   */
  say(prompt: string, uuid: string): void {
    const message = { role: 'user', content: prompt }
    this.write({ type: 'user', message, parent_tool_use_id: null, priority: 'later', uuid })
  }

  /** Processes one line of the client's output. */
  take(line: string): void {
    const value = parseObject(line)
    if (value?.type === 'control_response') this.replied(asObject(value.response) ?? {})
    else if (value?.type === 'control_request') void this.asked(value)
    // A cancelled request needs no answer, and a late answer to it does no harm.
    else if (value?.type !== 'control_cancel_request' && value?.type !== 'keep_alive')
      this.ends.message(value ?? NOT_JSON)
  }

  private replied(response: Fields): void {
    const id = asText(response.request_id) ?? ''
    const waiting = this.waiting.get(id)
    this.waiting.delete(id)
    if (response.subtype === 'success') waiting?.resolve(response.response ?? null)
    else waiting?.reject(new Error(asText(response.error) ?? 'the client gave no reason'))
  }

  private async asked(value: Fields): Promise<void> {
    const request = asObject(value.request) ?? {}
    const response =
      request.subtype === 'hook_callback'
        ? { subtype: 'success', request_id: value.request_id, response: await this.answer(request.input) }
        : {
            subtype: 'error',
            request_id: value.request_id,
            error: `Baton does not answer requests of the kind ${asText(request.subtype)}`,
          }
    this.write({ type: 'control_response', response })
  }

  private async answer(input: unknown): Promise<Fields> {
    try {
      return await this.ends.hook(input)
    } catch (error) {
      return { systemMessage: reasonOf(error) }
    }
  }

  private write(value: Fields): void {
    this.ends.write(`${JSON.stringify(value)}\n`)
  }
}
