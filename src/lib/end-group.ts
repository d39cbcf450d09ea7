import { errorCodeOf } from './errors.js'

const POLL_EVERY_MS = 25

/**
 * Ends a whole process group: SIGTERM first, SIGKILL after `graceMs` if any process remains.
 * The group's leader may have ended already while its children still run.
 * Resolves when the group is empty or was killed.
 */
export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (!signalGroup(leader, 'SIGTERM')) return
  const polls = Math.ceil(graceMs / POLL_EVERY_MS)
  for (let poll = 0; poll < polls; poll++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
    if (!signalGroup(leader, 0)) return
  }
  signalGroup(leader, 'SIGKILL')
}

/** Signals a process group. Returns false when the group has no process left. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal)
    return true
  } catch (error) {
    return errorCodeOf(error) === 'EPERM'
  }
}

/**
 * Signals a process, or a process group when `pid` is negative.
 * Returns false when the process does not exist or belongs to another user.
 */
export function signalProcess(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if (errorCodeOf(error) !== 'ESRCH' && errorCodeOf(error) !== 'EPERM') throw error
    return false
  }
}
