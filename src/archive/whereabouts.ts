import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Among which processes a pid of this one means something: a container shares its host's files and not its pids. Without the boot, so
 * that what a machine left when it went down counts for nothing once it is up again.
 */
export function whereabouts(): string {
  return `${hostname()} ${pidNamespace()}`.trim()
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
