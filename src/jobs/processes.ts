import { signal } from '../lib/end-group.js'
import { processesMarkedWith } from '../lib/marked-processes.js'
import { ancestorsOf, commandLine, isAlive, type ProcessIdentity, processInfo } from '../lib/process-info.js'

/**
 * Whatever a job's sessions start carries the job in its environment, and the session. Tools have process groups of their own and
 * outlive a client that is killed: this is how they are found.
 */
const JOB_MARK = 'BATON_JOB_ID'
/** Baton's own, which end by themselves and may be keeping a transcript. */
const OWN = 'hook-engine.cjs'

/** The processes of a job, but for this one and whatever it runs in. */
export function processesOf(jobId: string): ProcessIdentity[] {
  const spared = new Set([...ancestorsOf(process.pid), process.pid])
  return processesMarkedWith(`${JOB_MARK}=${jobId}`)
    .filter((pid) => !spared.has(pid) && !commandLine(pid)?.some((part) => part.endsWith(OWN)))
    .flatMap((pid) => {
      const found = processInfo(pid)
      return found === null ? [] : [{ pid, startedAt: found.startedAt }]
    })
}

/** Ends them: told to, then made to. Resolves when none is left, or to those that are after `withinMs`. */
export async function endProcesses(jobId: string, withinMs = 4_000): Promise<ProcessIdentity[]> {
  const until = Date.now() + withinMs
  const killAt = Date.now() + Math.min(1_500, withinMs / 2)
  for (let told = false; ; told = true) {
    const left = processesOf(jobId)
    if (left.length === 0 || Date.now() >= until) return left
    for (const one of left) if (!told || Date.now() >= killAt) end(one, Date.now() >= killAt ? 'SIGKILL' : 'SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function end(one: ProcessIdentity, name: NodeJS.Signals): void {
  if (isAlive(one)) signal(one.pid, name)
}
