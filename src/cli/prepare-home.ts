import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Home } from '../lib/home.js'
import { findProgram } from './find-program.js'

/** The folders hooks write to, made before the first of them runs. All for this user alone. */
export function prepareHome(home: Home, env: Record<string, string | undefined>): void {
  const run = dirname(home.server)
  for (const folder of [home.root, run, home.spool, home.outbox, home.live]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  makeTick(join(run, 'tick'), env)
}

/** A pipe the launcher can wait on for a few milliseconds without starting a process. Without it the launcher sleeps instead. */
function makeTick(path: string, env: Record<string, string | undefined>): void {
  const mkfifo = findProgram('mkfifo', env)
  if (mkfifo === null || existsSync(path)) return
  try {
    execFileSync(mkfifo, ['-m', '600', path], { stdio: 'ignore', timeout: 3_000 })
  } catch {
    return
  }
}
