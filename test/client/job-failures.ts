import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { JobView } from '../../src/contract/api/jobs.js'
import type { ScriptInput } from '../../src/model/script.js'
import { trustProject } from '../harness/trust.js'
import { type JobStage, jobStage } from './job-stage.js'

/**
 * A job among several on the same machine. Its name is its task, by which the model picks its
 * script.
 */
export interface Case {
  name: string
  /** The model's script for the job's conversation. */
  script: Omit<ScriptInput, 'conversations' | 'subagents' | 'side'>
  /** Keys of the job's agent in `baton.yaml`. */
  agent?: Record<string, unknown>
  flags?: string[]
  env?: Record<string, string>
}

export interface Ran {
  code: number | null
  job: JobView
}

export const MODEL = ['--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions']
const AT_ONCE = 2

/** Runs all jobs to their end, two at a time. */
export async function runCases(
  cases: readonly Case[],
  more: Partial<ScriptInput> = {},
): Promise<{ it: JobStage; ran: Record<string, Ran> }> {
  const it = await caseStage(cases, more)
  const ran: Record<string, Ran> = {}
  const waiting = [...cases]
  const work = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) ran[one.name] = await runCase(it, one)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { it, ran }
}

export async function caseStage(cases: readonly Case[], more: Partial<ScriptInput> = {}): Promise<JobStage> {
  const conversations = cases.map(({ name, script }) => ({ ...script, name, when: { seen: `task ${name}.` } }))
  const it = await jobStage({
    ...more,
    conversations: [...(more.conversations ?? []), ...conversations],
  } as ScriptInput)
  const agents = Object.fromEntries(
    cases.map(({ name, agent }) => [name, { prompt: `Do the task ${name}.`, ...agent }]),
  )
  writeFileSync(path.join(it.home.project, 'baton.yaml'), JSON.stringify({ agents }))
  trustProject(it.home.env, it.home.project)
  return it
}

export async function runCase(it: JobStage, { name, flags = [], env = {} }: Case): Promise<Ran> {
  return toRan(await it.start(['run', name, ...MODEL, ...flags, '--json'], env).done)
}

export async function resumeCase(it: JobStage, { job_id }: JobView, ...flags: string[]): Promise<Ran> {
  return toRan(await it.baton('jobs', 'resume', job_id, ...flags, '--json'))
}

function toRan({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): Ran {
  try {
    return { code, job: JSON.parse(stdout) as JobView }
  } catch {
    throw new Error(`it ended with ${code}: ${stdout}${stderr}`)
  }
}

/** Summarises a job's outcome in the fields that tests compare. */
export const endOf = ({ code, job }: Ran) => ({
  code,
  status: job.status,
  exit_reason: job.exit_reason,
  sessions: job.sessions.length,
  handoffs: job.handoffs,
})
export const DONE = { code: 0, status: 'completed', exit_reason: 'success' }
export const failedAs = (exit_reason: string) => ({ code: 1, status: 'failed', exit_reason })
