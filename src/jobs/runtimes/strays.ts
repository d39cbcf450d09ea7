import { readdirSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'

/** Marks a client and all it starts, also what outlives it: a tool has a process group of its own. */
export const SESSION_MARK = 'BATON_RUN_SESSION'

/**
 * Processes that were started in a session's run and still live, its client among them. Only Linux lets us look: elsewhere the list is
 * empty, and what a killed client leaves behind is left.
 */
export function straysOf(sessionId: string): number[] {
  if (platform() !== 'linux') return []
  const mark = `${SESSION_MARK}=${sessionId}`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => environmentOf(name).includes(mark))
    .map(Number)
}

/** Ends them at once. What one of them starts meanwhile is found in the next round. */
export function endStrays(sessionId: string): void {
  for (let round = 0; round < 3; round++) {
    const left = straysOf(sessionId)
    if (left.length === 0) return
    for (const pid of left) signal(pid, 'SIGKILL')
  }
}

/** A negative `pid` is a process group. False: there is none. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    // ended meanwhile, or somebody else's
    return []
  }
}
