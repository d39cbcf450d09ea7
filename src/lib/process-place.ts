import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { platform } from 'node:os'
import { basename, isAbsolute } from 'node:path'
import { commandLine } from './process-info.js'

/**
 * Returns the program of a process, and its script if that program is an interpreter.
 * With these, another process of the same kind can be started.
 * Null when they cannot be read, or the file was replaced since.
 */
export function executableAndArguments(pid: number): string[] | null {
  const program = executableOf(pid)
  if (program === null || !existsSync(program)) return null
  if (!/^(node|bun|deno)/.test(basename(program))) return [program]
  const script = commandLine(pid)?.[1]
  return script !== undefined && isAbsolute(script) && existsSync(script) ? [program, script] : null
}

function executableOf(pid: number): string | null {
  try {
    if (platform() === 'linux') return readlinkSync(`/proc/${pid}/exe`)
    const told = execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8', timeout: 1_000 }).trim()
    return isAbsolute(told) ? told : null
  } catch {
    return null
  }
}

/** Returns the environment that a process was started with. Null when it cannot be read. */
export function environmentOfProcess(pid: number): Record<string, string> | null {
  if (platform() !== 'linux') return null
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    const entries = pairs.flatMap((pair) => {
      const at = pair.indexOf('=')
      return at > 0 ? [[pair.slice(0, at), pair.slice(at + 1)] as const] : []
    })
    return Object.fromEntries(entries)
  } catch {
    return null
  }
}
