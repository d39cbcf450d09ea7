import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'

/**
 * Returns the device of a process's controlling terminal, such as `/dev/pts/3`.
 * Null when the process has no terminal or has ended.
 */
export function terminalOf(pid: number): string | null {
  try {
    return platform() === 'linux' ? fromStat(readFileSync(`/proc/${pid}/stat`, 'utf8')) : fromPs(pid)
  } catch {
    return null
  }
}

/** Parses the device number: the fifth field behind the name, which may contain any character. */
function fromStat(stat: string): string | null {
  const number = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4])
  const [major, minor] = [(number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00)]
  // Linux gives pseudo terminals the major numbers 136 to 143, with 256 terminals each.
  if (major >= 136 && major <= 143) return `/dev/pts/${(major - 136) * 256 + minor}`
  return major === 4 && minor < 64 ? `/dev/tty${minor}` : null
}

function fromPs(pid: number): string | null {
  const name = execFileSync('ps', ['-o', 'tty=', '-p', String(pid)], {
    encoding: 'utf8',
    timeout: 1_000,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
  return /^ttys?\w+$/.test(name) ? `/dev/${name}` : null
}
