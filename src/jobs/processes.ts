import { signalProcess } from '../lib/end-group.js'
import { processesMarkedWith } from '../lib/marked-processes.js'
import { ancestorsOf, commandLine, isAlive, type ProcessIdentity, processInfo } from '../lib/process-info.js'

/**
 * Environment variable that marks every process of a job.
 * Tools run in process groups of their own and survive a killed client.
 * Their environment still contains the variable, so Baton finds them by it.
 */
const JOB_MARK = 'BATON_JOB_ID'
/** Baton's own engine, which ends by itself and may be archiving a transcript. */
const ENGINE_FILE = 'hook-engine.cjs'

/** Returns the processes of a job, except this one and its ancestors. */
export function processesOf(jobId: string): ProcessIdentity[] {
  const spared = new Set([...ancestorsOf(process.pid), process.pid])
  return processesMarkedWith(`${JOB_MARK}=${jobId}`)
    .filter((pid) => !spared.has(pid) && !commandLine(pid)?.some((part) => part.endsWith(ENGINE_FILE)))
    .flatMap((pid) => {
      const found = processInfo(pid)
      return found === null ? [] : [{ pid, startedAt: found.startedAt }]
    })
}

/**
 * Ends the processes of a job with SIGTERM, then SIGKILL.
 * Resolves with the processes that are left after `withinMs`, normally none.
 */
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
  if (isAlive(one)) signalProcess(one.pid, name)
}
