import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'

/** Processes of this user whose environment holds `name=value`. What they start inherits it, whatever group or parent it has. */
export function marked(mark: string): number[] {
  return platform() === 'linux' ? markedInProc(mark) : markedByPs(mark)
}

function markedInProc(mark: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1')
      return environment.split('\0').includes(mark) ? [Number(name)] : []
    } catch {
      // Another user's, or gone meanwhile.
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
