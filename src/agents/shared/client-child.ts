import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { signalProcess } from '../../lib/end-group.js'
import { BatonError } from '../../lib/errors.js'
import { processesMarkedWith } from '../../lib/marked-processes.js'
import { type ProcessIdentity, processInfo } from '../../lib/process-info.js'

interface ClientExit {
  code: number | null
  signal: string | null
  trouble: string | null
}

export interface ClientChild {
  process: ProcessIdentity
  child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Resolves when the client has ended and its output is read, within `DRAIN_MS` of the end. */
  gone: Promise<ClientExit>
  isGone(): boolean
  /** Sends SIGTERM to the client's group. The client then ends its tools itself. */
  terminate(): void
  /** Kills the client, its group and all processes of the session, even after the client's exit. */
  kill(): void
}

interface SpawnOptions {
  program: string
  args: string[]
  cwd: string
  env: Record<string, string | undefined>
  sessionId: string
}

/**
 * Environment variable of every process of a session.
 * Tools have process groups of their own, so the group alone does not find them.
 */
const SESSION_MARK = 'BATON_RUN_SESSION'
const KEPT_STDERR = 8 * 1024
/** Time to read the rest of the output. A grandchild may keep it open after the client's exit. */
const DRAIN_MS = 500

/**
 * Shell program that ends the client when Baton was killed.
 * Without Baton the client gets no answers: it keeps calling the model while every tool is refused.
 * When the client ends, Baton writes a line to this program's input.
 * When the input ends without a line, Baton has been killed.
 */
const GUARD = 'read _ && exit 0; kill -s TERM -- "-$1"; sleep 3; kill -s KILL -- "-$1"'

/** Starts the guard process and returns a function that releases it. */
function guard(pid: number): () => void {
  const { PATH } = process.env
  const child = spawn('/bin/sh', ['-c', GUARD, 'baton-guard', String(pid)], {
    cwd: '/',
    env: PATH ? { PATH } : {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  child.unref()
  return () => void child.stdin?.end('\n')
}

/** Starts the client in a process group of its own. Throws BatonError when it cannot be started. */
export function spawnClient({ program, args, cwd, env, sessionId }: SpawnOptions): ClientChild {
  if (!existsSync(cwd)) throw new BatonError(`the working folder ${cwd} does not exist`, 'give a folder that exists')
  const child = spawn(program, args, {
    cwd,
    env: { ...env, [SESSION_MARK]: sessionId },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // Node reports a failed start with the event `error`, after this function has returned.
  // An error of a started client is kept and reported together with its exit.
  let failure: Error | null = null
  child.on('error', (error) => {
    failure = error
  })
  const { pid } = child
  if (pid === undefined)
    throw new BatonError(`${program} cannot be started`, 'check that the file exists and is executable')
  const release = guard(pid)
  // The client may end while Baton still writes to it. The client's exit is reported separately.
  child.stdin.on('error', () => {})

  let stderr = Buffer.alloc(0)
  child.stderr.on('data', (piece: Buffer) => {
    stderr = Buffer.concat([stderr, piece]).subarray(-KEPT_STDERR)
  })
  let over = false
  const gone = new Promise<ClientExit>((resolve) => {
    child.once('exit', (code, signalName) => {
      over = true
      release()
      const report = (): void => {
        clearTimeout(timer)
        const said = [failure?.message ?? '', stderr.toString('utf8').trim()].filter(Boolean).join('\n')
        const trouble = code === 0 ? null : said || null
        resolve({ code, signal: signalName, trouble })
      }
      const timer = setTimeout(report, DRAIN_MS)
      child.once('close', report)
    })
  })
  return {
    process: { pid, startedAt: processInfo(pid)?.startedAt ?? '' },
    child,
    gone,
    isGone: () => over,
    terminate: () => {
      if (!over) signalProcess(-pid, 'SIGTERM')
    },
    kill: () => {
      // After its end, the client's pid may belong to another process.
      if (!over) signalProcess(-pid, 'SIGKILL')
      endStrays(sessionId)
    },
  }
}

/**
 * Kills every process of one session that still runs, including its client.
 * Repeats up to three times, because a process may start another one meanwhile.
 */
function endStrays(sessionId: string): void {
  for (let round = 0; round < 3; round++) {
    const running = processesMarkedWith(`${SESSION_MARK}=${sessionId}`).filter((pid) => pid !== process.pid)
    if (running.length === 0) return
    for (const pid of running) signalProcess(pid, 'SIGKILL')
  }
}
