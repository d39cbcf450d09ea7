import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'

export function health(parts: ServerParts): Handlers<'health'> {
  return {
    health: () => ({ ok: true, version: parts.version, pid: process.pid, uptime_seconds: Math.round(process.uptime()) }),
  }
}
