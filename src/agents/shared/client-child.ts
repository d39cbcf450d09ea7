import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { signal } from '../../lib/end-group.js'
import { BatonError } from '../../lib/errors.js'
import { processesMarkedWith } from '../../lib/marked-processes.js'
import { type ProcessIdentity, processInfo } from '../../lib/process-info.js'

export interface ClientExit {
  code: number | null
  signal: string | null
  trouble: string | null
}

export interface ClientChild {
  process: ProcessIdentity
  child: ChildProcessByStdio<Writable, Readable, Readable>
  /** It has ended and all it wrote was read. */
  gone: Promise<ClientExit>
  isGone(): boolean
  /** Asks the client to end, as Ctrl-C in `kill` does: it ends its tools itself. */
  terminate(): void
  /** Ends the client, its group and whatever was started in it. Also what is left of them when the client is gone already. */
  kill(): void
}

export interface SpawnOptions {
  program: string
  args: string[]
  cwd: string
  env: Record<string, string | undefined>
  sessionId: string
}

/** Every process of a session carries it in its environment: tools have groups of their own. */
const SESSION_MARK = 'BATON_RUN_SESSION'
const KEPT_STDERR = 8 * 1024
/** A grandchild may hold the client's output open after its end. */
const DRAIN_MS = 500

/**
 * A client whose Baton was killed is left with nobody to answer it: it goes on asking the model while every tool is refused. A shell waits
 * beside it that is told when the client has ended; if its input ends before, Baton is gone, and the client is ended as Ctrl-C ends it.
 */
const GUARD = 'read _ && exit 0; kill -s TERM -- "-$1"; sleep 3; kill -s KILL -- "-$1"'

/** Returns what lets it go. */
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

/** The client in a process group of its own. Throws BatonError when it cannot be started. */
export function spawnClient({ program, args, cwd, env, sessionId }: SpawnOptions): ClientChild {
  if (!existsSync(cwd)) throw new BatonError(`there is no folder ${cwd} to work in`, 'give a folder that exists')
  const child = spawn(program, args, {
    cwd,
    env: { ...env, [SESSION_MARK]: sessionId },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // why it failed comes later, and is told with the exit where there is a process
  let failure: Error | null = null
  child.on('error', (error) => {
    failure = error
  })
  const { pid } = child
  if (pid === undefined) throw new BatonError(`${program} cannot be started`, 'check that it is there and may be run')
  const release = guard(pid)
  // the client may be gone while we still write to it: its exit says so
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
      const tell = (): void => {
        clearTimeout(timer)
        const said = [failure?.message ?? '', stderr.toString('utf8').trim()].filter(Boolean).join('\n')
        const trouble = code === 0 ? null : said || null
        resolve({ code, signal: signalName, trouble })
      }
      const timer = setTimeout(tell, DRAIN_MS)
      child.once('close', tell)
    })
  })
  return {
    process: { pid, startedAt: processInfo(pid)?.startedAt ?? '' },
    child,
    gone,
    isGone: () => over,
    terminate: () => {
      if (!over) signal(-pid, 'SIGTERM')
    },
    kill: () => {
      // its pid may be somebody else's once it is gone
      if (!over) signal(-pid, 'SIGKILL')
      endStrays(sessionId)
    },
  }
}

/** Ends at once what was started in one session and still lives, its client among them. What one of them starts meanwhile is found next. */
function endStrays(sessionId: string): void {
  for (let round = 0; round < 3; round++) {
    const left = processesMarkedWith(`${SESSION_MARK}=${sessionId}`).filter((pid) => pid !== process.pid)
    if (left.length === 0) return
    for (const pid of left) signal(pid, 'SIGKILL')
  }
}
