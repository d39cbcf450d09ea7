import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'

/** Where a process stands among others and on its terminal. */
export interface ProcessPlace {
  parent: number
  /** False: stopped, or another process has the keyboard of its terminal. */
  inFront: boolean
}

const MOST_ANCESTORS = 64

/** null: no such process. */
export function placeOf(pid: number): ProcessPlace | null {
  try {
    return platform() === 'linux' ? fromStat(readFileSync(`/proc/${pid}/stat`, 'utf8')) : fromPs(pid)
  } catch {
    return null
  }
}

/** Whether `ancestor` is the process itself or one it descends from. */
export function descends(pid: number, ancestor: number): boolean {
  let at = pid
  for (let i = 0; i < MOST_ANCESTORS && at > 1; i++) {
    if (at === ancestor) return true
    at = placeOf(at)?.parent ?? 0
  }
  return false
}

/** A variable of the environment a process was started with; null: not set, or not to be seen. */
export function startedWith(pid: number, name: string): string | null {
  try {
    const entries =
      platform() === 'linux' ? readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0') : ps(pid, 'command=', '-E').split(' ')
    return entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1) || null
  } catch {
    return null
  }
}

function fromStat(stat: string): ProcessPlace {
  // the name in brackets may hold anything
  const [state, parent, group, , , front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(parent), inFront: state !== 'T' && state !== 'Z' && group === front }
}

function fromPs(pid: number): ProcessPlace {
  const [state, parent, group, front] = ps(pid, 'stat=,ppid=,pgid=,tpgid=').trim().split(/\s+/)
  return { parent: Number(parent), inFront: !/^[TZ]/.test(state ?? 'Z') && group === front }
}

function ps(pid: number, columns: string, ...more: string[]): string {
  const args = [...more, '-ww', '-o', columns, '-p', String(pid)]
  return execFileSync('ps', args, { encoding: 'utf8', timeout: 1000, stdio: ['ignore', 'pipe', 'ignore'] })
}
