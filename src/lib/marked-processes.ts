import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'

/**
 * Returns the processes of this user whose environment contains `name=value`.
 * Child processes inherit the variable, whatever their group or parent.
 */
export function processesMarkedWith(mark: string): number[] {
  return platform() === 'linux' ? markedInProc(mark) : markedByPs(mark)
}

function markedInProc(mark: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1')
      return environment.split('\0').includes(mark) ? [Number(name)] : []
    } catch {
      // The process belongs to another user or has ended.
      return []
    }
  })
}

function markedByPs(mark: string): number[] {
  const lines = execFileSync('ps', ['-A', '-E', '-o', 'pid=,command='], {
    encoding: 'utf8',
    timeout: 5_000,
    maxBuffer: 64 << 20,
  })
  return lines.split('\n').flatMap((line) => (line.split(/\s+/).includes(mark) ? [Number.parseInt(line, 10)] : []))
}
