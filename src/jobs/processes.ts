import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { codeOf } from '../lib/errors.js'
import { marked } from '../lib/marked-processes.js'
import { commandLine, isAlive, type ProcessIdentity, processInfo } from '../lib/process-info.js'

/**
 * Whatever a job's sessions start carries the job in its environment, and the session. Tools have process groups of their own and
 * outlive a client that is killed: this is how they are found.
 */
const JOB_MARK = 'BATON_JOB_ID'
export const SESSION_MARK = 'BATON_RUN_SESSION'
/** Baton's own, which end by themselves and may be keeping a transcript. */
const OWN = 'hook-engine.cjs'

/** The processes of a job, but for this one and whatever it runs in. */
export function processesOf(jobId: string): ProcessIdentity[] {
  const spared = new Set([...ancestors(process.pid), process.pid])
  return marked(`${JOB_MARK}=${jobId}`)
    .filter((pid) => !spared.has(pid) && !commandLine(pid)?.some((part) => part.endsWith(OWN)))
    .flatMap((pid) => {
      const found = processInfo(pid)
      return found === null ? [] : [{ pid, startedAt: found.startedAt }]
    })
}

/** Ends them: told to, then made to. Resolves when none is left, or to those that are after `withinMs`. */
export async function endProcesses(jobId: string, withinMs = 4_000): Promise<ProcessIdentity[]> {
  const until = Date.now() + withinMs
  const killAt = Date.now() + Math.min(1_500, withinMs / 2)
  for (let told = false; ; told = true) {
    const left = processesOf(jobId)
    if (left.length === 0 || Date.now() >= until) return left
    for (const one of left) if (!told || Date.now() >= killAt) end(one, Date.now() >= killAt ? 'SIGKILL' : 'SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Ends at once what was started in one session and still lives, its client among them. What one of them starts meanwhile is found next. */
export function endStrays(sessionId: string): void {
  for (let round = 0; round < 3; round++) {
    const left = marked(`${SESSION_MARK}=${sessionId}`).filter((pid) => pid !== process.pid)
    if (left.length === 0) return
    for (const pid of left) signal(pid, 'SIGKILL')
  }
}

function end(one: ProcessIdentity, name: NodeJS.Signals): void {
  if (isAlive(one)) signal(one.pid, name)
}

/** A negative `pid` is a process group. False: there is none, or it is not ours. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error
    return false
  }
}

function ancestors(pid: number): number[] {
  const found: number[] = []
  for (let at = parentOf(pid); at > 1 && found.length < 64; at = parentOf(at)) found.push(at)
  return found
}

function parentOf(pid: number): number {
  try {
    if (platform() !== 'linux')
      return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8', timeout: 1_000 }))
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}
