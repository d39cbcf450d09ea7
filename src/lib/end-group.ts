import { codeOf } from './errors.js'

const LOOK_EVERY_MS = 25

/**
 * Ends a process group whole: asked first, killed when some of it is still there after `graceMs`. The leader may be gone already; what
 * it started may not. Resolves when nothing of it is left, or everything was killed.
 */
export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (!signalGroup(leader, 'SIGTERM')) return
  const looks = Math.ceil(graceMs / LOOK_EVERY_MS)
  for (let look = 0; look < looks; look++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    if (!signalGroup(leader, 0)) return
  }
  signalGroup(leader, 'SIGKILL')
}

/** False: nobody of the group is left. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** A negative `pid` is a process group. False: there is none, or it is not ours. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error
    return false
  }
}
