import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { RunningSession, Runtime, RuntimeListener, SessionOptions } from '../../../contract/runtime.js'
import { BatonError, reasonOf } from '../../../lib/errors.js'
import { lineSplitter } from '../../../lib/line-splitter.js'
import { type Log, silentLog } from '../../../lib/log.js'
import { UnboundedQueue } from '../../../lib/unbounded-queue.js'
import { boundedListener, MAX_ANSWER_MS } from '../../shared/bounded-listener.js'
import { type ClientChild, spawnClient } from '../../shared/client-child.js'
import { CLIENT_ENVIRONMENT, sessionSettings } from './client-arguments.js'
import { ClientHooks, HOOK_TIMEOUT_S, REGISTERED_HOOKS } from './client-hooks.js'
import { ClientSession } from './client-session.js'

interface SdkRuntimeOptions {
  /** The user's project, whose own SDK is preferred to Baton's. */
  project: string
  /** The client that the SDK starts. Null for the one it includes. */
  binary: string | null
  log?: Log
  answerMs?: number
}

/**
 * Opens the runtime with the Claude Agent SDK, which is loaded only here.
 * Never throws: `missing()` returns what the runtime lacks.
 */
export async function openSdkRuntime({
  project,
  binary,
  log = silentLog,
  answerMs = MAX_ANSWER_MS,
}: SdkRuntimeOptions): Promise<Runtime> {
  const install = `run \`npm install ${SDK_PACKAGE}\`, or use --runtime cli`
  const path = findSdk(project)
  let sdk: Sdk | null = null
  let missing: string | null = path === null ? `the package ${SDK_PACKAGE} is not installed; ${install}` : null
  try {
    if (path !== null) sdk = await loadSdk(path)
  } catch (error) {
    missing = `${path} cannot be loaded (${reasonOf(error)}); ${install}`
  }
  return {
    name: 'sdk',
    missing: () => missing,
    start: (sessionOptions, listener) => {
      if (sdk === null) throw new BatonError(missing!, install)
      return start(sdk, binary, sessionOptions, boundedListener(listener, log, answerMs), log)
    },
  }
}

function start(
  sdk: Sdk,
  binary: string | null,
  sessionOptions: SessionOptions,
  listener: RuntimeListener,
  log: Log,
): RunningSession {
  const env = { ...sessionOptions.env, ...CLIENT_ENVIRONMENT }
  const hooks = new ClientHooks(listener)
  const prompts = new UnboundedQueue<unknown>()
  let started: { child: ClientChild; session: ClientSession } | null = null
  const spawn = (call: SpawnCall): unknown => {
    const child = spawnClient({
      program: call.command,
      args: call.args,
      cwd: sessionOptions.cwd,
      env: call.env,
      sessionId: sessionOptions.sessionId,
    })
    const session = new ClientSession(child, env, log)
    started = { child, session }
    return spawned(child, session)
  }
  const query = sdk.query({
    prompt: prompts,
    options: sdkOptions({ sessionOptions, env, binary, spawn, hook: (input) => hooks.answer(input) }),
  })
  // The SDK must start the client before it returns. A version that does not cannot be used.
  const begun = started as { child: ClientChild; session: ClientSession } | null
  if (begun === null) throw new BatonError('this version of the Agent SDK cannot start a client', 'use --runtime cli')
  const { child, session } = begun
  const read = async (): Promise<void> => {
    try {
      for await (const message of query) session.take(message)
    } catch (error) {
      // The SDK throws at the end of a session whose last turn failed.
      // The result message has already reported that error.
      log('debug', 'the Agent SDK ended with an error', { reason: reasonOf(error) })
    }
    child.child.stdin.end()
  }
  session.attach(
    {
      ready: query.initializationResult().then(() => {}),
      say: (prompt) => {
        const message = { role: 'user', content: prompt }
        prompts.push({ type: 'user', message, parent_tool_use_id: null, priority: 'later', uuid: randomUUID() })
      },
      contextUsage: () => query.getContextUsage({ detail: 'summary' }),
      applySettings: (settings) => query.applyFlagSettings(settings),
      interrupt: () => query.interrupt(),
      stopTask: (taskId) => query.stopTask(taskId),
      close: () => {
        prompts.close()
        // The SDK itself waits for a first result, but a session without a prompt never has one.
        child.child.stdin.end()
      },
    },
    read(),
  )
  return session
}

/**
 * Wraps the child process as the SDK expects it.
 * All output of the child passes through, so that every line can be stored.
 */
function spawned(child: ClientChild, session: ClientSession): unknown {
  const inner = child.child
  const stdout = new PassThrough()
  const split = lineSplitter((line) => session.takeRaw(line))
  inner.stdout.on('data', (piece: Buffer) => {
    split(piece)
    stdout.write(piece)
  })
  inner.stdout.on('end', () => {
    split()
    stdout.end()
  })
  return {
    stdin: inner.stdin,
    stdout,
    get killed() {
      return inner.killed
    },
    get exitCode() {
      return inner.exitCode
    },
    get signalCode() {
      return inner.signalCode
    },
    kill: (name: NodeJS.Signals) => inner.kill(name),
    on: inner.on.bind(inner),
    once: inner.once.bind(inner),
    off: inner.off.bind(inner),
  }
}

/** The command line that the SDK wants to start. */
interface SpawnCall {
  command: string
  args: string[]
  env: Record<string, string | undefined>
}

interface OptionsInput {
  sessionOptions: SessionOptions
  env: Record<string, string>
  binary: string | null
  spawn(call: SpawnCall): unknown
  hook(input: unknown): Promise<unknown>
}

/**
 * Returns the options of `query()` for the same session that the runtime `cli` starts by arguments.
 */
export function sdkOptions({ sessionOptions, env, binary, spawn, hook }: OptionsInput): Record<string, unknown> {
  const settings = sessionSettings(sessionOptions)
  const append = sessionOptions.appendSystemPrompt
  return {
    ...beginning(sessionOptions),
    cwd: sessionOptions.cwd,
    env,
    ...(binary === null ? {} : { pathToClaudeCodeExecutable: binary }),
    spawnClaudeCodeProcess: spawn,
    includePartialMessages: true,
    systemPrompt: { type: 'preset', preset: 'claude_code', ...(append ? { append } : {}) },
    settingSources: ['user', 'project', 'local'],
    hooks: Object.fromEntries(
      REGISTERED_HOOKS.map(({ event, matcher }) => [
        event,
        [{ ...(matcher === null ? {} : { matcher }), timeout: HOOK_TIMEOUT_S, hooks: [hook] }],
      ]),
    ),
    ...(sessionOptions.model === null ? {} : { model: sessionOptions.model }),
    ...(sessionOptions.permissionMode === null ? {} : { permissionMode: sessionOptions.permissionMode }),
    ...(sessionOptions.permissionMode === 'bypassPermissions' ? { allowDangerouslySkipPermissions: true } : {}),
    ...(sessionOptions.allowedTools === null ? {} : { allowedTools: sessionOptions.allowedTools }),
    ...(sessionOptions.disallowedTools === null ? {} : { disallowedTools: sessionOptions.disallowedTools }),
    ...(sessionOptions.maxTurns === null ? {} : { maxTurns: sessionOptions.maxTurns }),
    ...(sessionOptions.maxBudgetUsd === null ? {} : { maxBudgetUsd: sessionOptions.maxBudgetUsd }),
    ...(settings === null ? {} : { settings }),
  }
}

function beginning({ begin, sessionId }: SessionOptions): Record<string, unknown> {
  if (begin.how === 'fresh') return { sessionId }
  if (begin.how === 'resume') return { resume: sessionId }
  return {
    resume: begin.from,
    forkSession: true,
    sessionId,
    ...(begin.at === null ? {} : { resumeSessionAt: begin.at }),
  }
}

const SDK_PACKAGE = '@anthropic-ai/claude-agent-sdk'

/** The part of the SDK that this runtime uses. */
interface Sdk {
  query(call: { prompt: AsyncIterable<unknown>; options: Record<string, unknown> }): SdkQuery
}

interface SdkQuery extends AsyncIterable<unknown> {
  initializationResult(): Promise<unknown>
  getContextUsage(sessionOptions: { detail: 'summary' }): Promise<unknown>
  applyFlagSettings(settings: Record<string, unknown>): Promise<unknown>
  interrupt(): Promise<unknown>
  stopTask(taskId: string): Promise<unknown>
}

/** Returns the path of the SDK: in the user's project, else beside Baton. Null when in neither. */
export function findSdk(project: string): string | null {
  for (const from of [join(project, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve(SDK_PACKAGE)
    } catch {
      // The SDK is not installed in this folder.
    }
  }
  return null
}

/** Loads the SDK. An error while loading is passed on unchanged. */
async function loadSdk(path: string): Promise<Sdk> {
  return (await import(pathToFileURL(path).href)) as Sdk
}
