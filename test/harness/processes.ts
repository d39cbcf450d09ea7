import { readdirSync, readFileSync } from 'node:fs'
import { until } from './wait.js'

export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false
  }
}

/**
 * Sends SIGTERM to the process (and its group, where it leads one), and SIGKILL if it ignores that.
 */
export async function end(pid: number, graceMs = 2000): Promise<void> {
  send(pid, 'SIGTERM')
  const patience = Date.now() + graceMs
  await until(`process ${pid} ends`, () => {
    if (Date.now() > patience) send(pid, 'SIGKILL')
    return !alive(pid)
  })
}

function send(pid: number, signal: NodeJS.Signals): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, signal)
    } catch {
      // The process is not a group leader, or has already exited.
    }
  }
}

function isZombie(pid: number): boolean {
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** The command line of a process, its arguments ended by NUL; '' if there is no such process. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Returns processes whose environment has `entry` (`NAME=value`), including orphans of a home. */
export function withEnvironment(entry: string): number[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  return names
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(entry)
      } catch {
        return false
      }
    })
    .map(Number)
}
