import { randomUUID } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { type Log, silentLog } from '../../lib/log.js'
import { boundedEars, EAR_MS } from './bounded-ears.js'
import { CliProtocol } from './cli-protocol.js'
import { CLIENT_ENVIRONMENT, clientArguments } from './client-arguments.js'
import { spawnClient } from './client-child.js'
import { ClientHooks } from './client-hooks.js'
import { ClientSession } from './client-session.js'
import { lineSplitter } from './line-splitter.js'
import type { Ears, RunningSession, Runtime, SessionWish } from './runtime.js'

export interface CliOptions {
  /** The user's own `claude`, as an absolute path; null: there is none. */
  binary: string | null
  log?: Log
  earMs?: number
}

/** The user's own client, spoken to over its stdin and stdout. */
export function cliRuntime({ binary, log = silentLog, earMs = EAR_MS }: CliOptions): Runtime {
  return {
    name: 'cli',
    missing: () => whyMissing(binary),
    start: (wish, ears) => start(binary ?? 'claude', wish, boundedEars(ears, log, earMs), log),
  }
}

function whyMissing(binary: string | null): string | null {
  if (binary === null) return 'the command `claude` was not found; install Claude Code, or put it on the PATH'
  try {
    accessSync(binary, constants.X_OK)
    return null
  } catch {
    return `${binary} cannot be run; install Claude Code, or put it on the PATH`
  }
}

function start(program: string, wish: SessionWish, ears: Ears, log: Log): RunningSession {
  const env = { ...wish.env, ...CLIENT_ENVIRONMENT }
  const child = spawnClient({ program, args: clientArguments(wish), cwd: wish.cwd, env, sessionId: wish.sessionId })
  const { stdin, stdout } = child.child
  const session = new ClientSession(child, env, log)
  const hooks = new ClientHooks(ears)
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
      ready: protocol.initialize(wish.appendSystemPrompt).then(() => {}),
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
