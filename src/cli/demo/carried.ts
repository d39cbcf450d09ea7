import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { House } from '../../house.js'
import { viewJob } from '../../jobs/view-job.js'
import { copies, type LogEntry } from '../../model/log.js'
import type { Model } from '../../model/model.js'
import { COMPLAINT, JOB_DECISION, JOB_PROMPT, PARTS } from './job-script.js'

const WITHOUT_REASON = JOB_DECISION.slice('I decided on '.length, JOB_DECISION.indexOf(','))
const BRIEF = "The shop's report in report.md"

/** What came of the job, with the model's log and the agent's own file as witnesses. null: none was begun. */
export function carried(house: House, model: Model) {
  const job = house.store.jobs().at(-1)
  if (!job) return null
  const view = viewJob(job, house.store.attempts(job.jobId))
  const sessions = view.sessions.map((one) => {
    const requests = requestsOf(model, one.session_id)
    const first = requests[0]
    return {
      ...{ session_id: one.session_id, number: one.number, brief_id: one.brief_id },
      ...{ used_tokens: one.used_tokens, compaction_tokens: one.compaction_tokens, requests: requests.length },
      task_in_first_request: first !== undefined && copies(first, JOB_PROMPT) > 0,
      brief_in_first_request: first !== undefined && copies(first, BRIEF) > 0,
      added_in_first_request: first !== undefined && copies(first, WITHOUT_REASON) > 0,
    }
  })
  const last = requestsOf(model, view.session_id)
  const failed = last.findIndex((entry) => copies(entry, COMPLAINT) > 0)
  return {
    ...{ job_id: view.job_id, agent: view.agent, status: view.status, exit_reason: view.exit_reason, detail: view.detail },
    ...{ handoffs: view.handoffs, compactions: view.compactions, steps: view.steps, spend: view.spend, sessions },
    checks: view.checks.map(({ name, round, ok, exit_code }) => ({ name, round, ok, exit_code })),
    /** The request, of the last session's, that first held what the failed check printed. */
    failure_in_request: failed < 0 ? null : failed + 1,
    parts: partsIn(view.folder),
    ran_ms: view.ran_ms,
  }
}

export type Carried = NonNullable<ReturnType<typeof carried>>

/** What did not happen that should have. */
export function missingInJob(it: Carried | null): string[] {
  if (it === null) return ['no job was begun']
  const [first, ...later] = it.sessions
  const once = Array.from({ length: PARTS }, (_, index) => index + 1).join()
  return [
    it.status === 'completed' ? null : `the job is ${it.status}${it.detail ? `: ${it.detail}` : ''}`,
    it.sessions.length === 3 && it.handoffs === 2
      ? null
      : `the job had ${it.sessions.length} sessions and ${it.handoffs} handoffs`,
    it.compactions === 0 ? null : 'a session of the job was compacted',
    it.parts.join() === once ? null : `the job wrote the parts ${it.parts.join(', ') || 'none'}`,
    first?.task_in_first_request && later.every((one) => one.task_in_first_request && one.brief_in_first_request)
      ? null
      : 'a session of the job did not begin with the task and the brief',
    later[0]?.added_in_first_request ? null : 'what the first brief of the job left out was not added',
    it.checks.some(({ round, ok }) => round === 1 && !ok) ? null : 'no check of the job failed first',
    it.failure_in_request === null ? 'what the check found was not given back to the agent' : null,
    it.checks.length === 4 && it.checks.every(({ round, ok }) => round === 1 || ok) ? null : 'the checks of the job did not pass',
  ].filter((one) => one !== null)
}

const requestsOf = (model: Model, session: string | null): LogEntry[] =>
  model.log().filter((entry) => entry.kind === 'main' && entry.session_id === session)

function partsIn(folder: string): number[] {
  try {
    return [...readFileSync(join(folder, 'report.md'), 'utf8').matchAll(/^## Part (\d+)$/gm)].map(([, number]) => Number(number))
  } catch {
    return []
  }
}
