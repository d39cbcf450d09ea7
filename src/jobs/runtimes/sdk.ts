import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { BatonError, reasonOf } from '../../lib/errors.js'
import { type Log, silentLog } from '../../lib/log.js'
import { boundedEars, EAR_MS } from './bounded-ears.js'
import { CLIENT_ENVIRONMENT } from './client-arguments.js'
import { type ClientChild, spawnClient } from './client-child.js'
import { ClientHooks } from './client-hooks.js'
import { ClientSession } from './client-session.js'
import { lineSplitter } from './line-splitter.js'
import type { Ears, RunningSession, Runtime, SessionWish } from './runtime.js'
import { type SpawnCall, sdkOptions } from './sdk-options.js'
import { findSdk, loadSdk, SDK_PACKAGE, type Sdk } from './sdk-package.js'
import { Unread } from './unread.js'

export interface SdkRuntimeOptions {
  /** The user's project: its own SDK is taken before Baton's. */
  project: string
  /** The client the SDK starts; null: the one it brings with it. */
  binary: string | null
  log?: Log
  earMs?: number
}

/** The Claude Agent SDK, loaded here and only here. It never throws: what is missing is said by `missing()`. */
export async function openSdkRuntime({ project, binary, log = silentLog, earMs = EAR_MS }: SdkRuntimeOptions): Promise<Runtime> {
  const install = `install it with \`npm install ${SDK_PACKAGE}\`, or use the runtime cli`
  const path = findSdk(project)
  let sdk: Sdk | null = null
  let missing: string | null = path === null ? `the package ${SDK_PACKAGE} is not there; ${install}` : null
  try {
    if (path !== null) sdk = await loadSdk(path)
  } catch (error) {
    missing = `${path} cannot be loaded (${reasonOf(error)}); ${install}`
  }
  return {
    name: 'sdk',
    missing: () => missing,
    start: (wish, ears) => {
      if (sdk === null) throw new BatonError(missing!, install)
      return start(sdk, binary, wish, boundedEars(ears, log, earMs), log)
    },
  }
}

function start(sdk: Sdk, binary: string | null, wish: SessionWish, ears: Ears, log: Log): RunningSession {
  const env = { ...wish.env, ...CLIENT_ENVIRONMENT }
  const hooks = new ClientHooks(ears)
  const prompts = new Unread<unknown>()
  let started: { child: ClientChild; session: ClientSession } | null = null
  const spawn = (call: SpawnCall): unknown => {
    const child = spawnClient({ program: call.command, args: call.args, cwd: wish.cwd, env: call.env, sessionId: wish.sessionId })
    const session = new ClientSession(child, env, log)
    started = { child, session }
    return spawned(child, session)
  }
  const query = sdk.query({
    prompt: prompts,
    options: sdkOptions({ wish, env, binary, spawn, hook: (input) => hooks.answer(input) }),
  })
  // the SDK starts the client before it returns; a later version that does not is one we cannot use
  const begun = started as { child: ClientChild; session: ClientSession } | null
  if (begun === null) throw new BatonError('this version of the Agent SDK starts no client', 'use the runtime cli')
  const { child, session } = begun
  const read = async (): Promise<void> => {
    try {
      for await (const message of query) session.take(message)
    } catch (error) {
      // it throws at the end of a session whose last turn failed, which its result has said already
      log('debug', 'the Agent SDK ended with an error', { reason: reasonOf(error) })
    }
    child.child.stdin.end()
  }
  session.attach(
    {
      ready: query.initializationResult().then(() => {}),
      say: (prompt) => {
        const message = { role: 'user', content: prompt }
        prompts.tell({ type: 'user', message, parent_tool_use_id: null, priority: 'later', uuid: randomUUID() })
      },
      contextUsage: () => query.getContextUsage({ detail: 'summary' }),
      applySettings: (settings) => query.applyFlagSettings(settings),
      interrupt: () => query.interrupt(),
      stopTask: (taskId) => query.stopTask(taskId),
      close: () => {
        prompts.close()
        // the SDK itself waits for a first result, which a session without a prompt never has
        child.child.stdin.end()
      },
    },
    read(),
  )
  return session
}

/** The child as the SDK wants it. All it writes passes by, so that every line can be kept. */
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
