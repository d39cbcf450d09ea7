import { spawn } from 'node:child_process'
import { reasonOf } from '../../lib/errors.js'
import { findProgram } from '../find-program.js'

/** Long enough to learn that it does not work; a browser that stays in the foreground works. */
const PATIENCE_MS = 1_500

type Env = Record<string, string | undefined>

/** Opens an address in the person's browser. null: done, as far as can be told; else why not. */
export async function openBrowser(
  address: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): Promise<string | null> {
  const tried: string[] = []
  for (const [name, ...args] of browsers(address, env, platform)) {
    const program = name!.startsWith('/') ? name! : findProgram(name!, env)
    const trouble = program === null ? 'not found' : await start(program, args, env)
    if (trouble === null) return null
    tried.push(`${name}: ${trouble}`)
  }
  return tried.length > 0 ? tried.join('; ') : 'there is no display'
}

/** What to try, in order. `BROWSER` may name several with colons between, and where the address goes with `%s`. */
export function browsers(address: string, env: Env, platform: NodeJS.Platform): string[][] {
  const own = (env.BROWSER ?? '')
    .split(':')
    .map((line) => line.trim().split(/\s+/))
    .filter(([name]) => name !== '')
    .map((words) => (words.includes('%s') ? words.map((word) => (word === '%s' ? address : word)) : [...words, address]))
  if (own.length > 0) return own
  if (platform === 'darwin') return [['open', address]]
  return env.DISPLAY || env.WAYLAND_DISPLAY ? [['xdg-open', address]] : []
}

function start(program: string, args: readonly string[], env: Env): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, stdio: 'ignore', detached: true })
    const timer = setTimeout(() => resolve(null), PATIENCE_MS)
    const end = (trouble: string | null): void => {
      clearTimeout(timer)
      resolve(trouble)
    }
    child.once('error', (error) => end(reasonOf(error)))
    child.once('exit', (code, signal) => end(code === 0 ? null : `ended with ${code ?? signal}`))
    child.unref()
  })
}
