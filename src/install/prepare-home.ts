import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findProgram } from '../lib/find-program.js'
import type { Home } from '../lib/home.js'
import { openHomeFolder } from '../lib/home-safety.js'

/**
 * Creates the folders to which hooks write, readable only by this user, before the first hook runs.
 */
export function prepareHome(home: Home, env: Record<string, string | undefined>): void {
  openHomeFolder(home)
  const run = dirname(home.server)
  for (const folder of [home.root, run, home.spool, home.outbox, home.live])
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  // The launcher waits on this pipe for a few milliseconds without starting a process.
  // Without the pipe the launcher runs `sleep`.
  const tick = join(run, 'tick')
  if (existsSync(tick)) return
  try {
    makePipe(tick, env)
  } catch {
    return
  }
}

/**
 * Creates a named pipe for this user alone.
 * Throws when the system or the file system does not support it.
 */
export function makePipe(path: string, env: Record<string, string | undefined>): void {
  execFileSync(findProgram('mkfifo', env) ?? '/usr/bin/mkfifo', ['-m', '600', path], {
    stdio: 'ignore',
    timeout: 10_000,
  })
}
