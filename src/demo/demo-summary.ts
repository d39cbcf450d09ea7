import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sessionReaderOf } from '../app/sessions.js'
import { FIRST_RECOVERY, SECOND_RECOVERY, SUMMARY_INSTRUCTIONS } from '../compaction/recovery.js'
import type { Event } from '../contract/records/event.js'
import type { App } from '../engine/open-engine.js'
import { viewCoverage } from '../engine/views/brief-view.js'
import { viewJob } from '../jobs/view-job.js'
import { countOccurrences, type LogEntry } from '../model/log.js'
import type { Model } from '../model/model.js'
import {
  DEMO_MODEL,
  DEMO_REASON,
  DEMO_RULE,
  DEMO_SEAT,
  FAILED_CHECK_OUTPUT,
  JOB_DECISION,
  JOB_PROMPT,
  LAST_ANSWER,
  OFFERS_DECISION,
  REPORT_PARTS,
} from './demo-script.js'
import type { DemoStory } from './story.js'

export interface HandoffSummary {
  handoff: HandoffProof | null
  /** The reason why no handoff was shown. Null when one was. */
  skipped: string | null
}

/** Summarises the demo. The model's request log proves what the agent received. */
export function summarise(
  app: App,
  model: Model,
  story: DemoStory,
  handoff: HandoffSummary,
  job: JobProof | null,
  durationMs: number,
) {
  const session =
    sessionReaderOf(app)
      .recent({ all: true })
      .find(({ session_id: id }) => id === story.sessionId) ?? null
  const record = session && app.find(session.session_id)
  const detail = record ? sessionReaderOf(app).detail(record) : null
  const requests = model.log().filter((entry) => entry.kind === 'main' && entry.session_id === story.sessionId)
  const levels = story.levels.map((level) => ({
    name: level.name,
    cycle: level.cycle,
    used_tokens: level.used,
    told_in_request: toldIn(requests, level),
  }))
  const archives = detail?.archives ?? []
  const losses = detail?.losses ?? []
  const recovered = recoveries(app.store.events(), requests)
  const countReported = (cycle: number): number =>
    levels.filter((level) => level.cycle === cycle && level.told_in_request !== null).length
  const after = requests.findIndex((entry) => entry.cycle === 1) + 1
  const missing = [
    countReported(1) === 4 ? null : 'the agent was not warned of every level of the first cycle',
    countReported(2) > 0 ? null : 'the agent was not warned in the second cycle',
    story.compactions === 1 ? null : 'there was not exactly one compaction',
    wasSummaryInstructed(model) ? null : 'the summariser was not told what must survive',
    archives.some(({ status }) => status === 'kept') ? null : 'the transcript was not archived',
    losses.some(({ lost }) => lost.some(({ text }) => text.includes(DEMO_RULE)))
      ? null
      : 'the loss of the rule was not reported',
    recovered.some(({ step, in_request: at, copies: n }) => step === 1 && at === after && n === 1)
      ? null
      : 'nothing was put back in the request after the compaction',
    backAgain(requests) ? null : 'later requests do not contain the rule',
    ...(handoff.skipped === null ? missingIn(handoff.handoff) : []),
    ...missingInJob(job),
  ].filter((one) => one !== null)
  return {
    ok: missing.length === 0,
    missing,
    client: session?.agent_version ?? null,
    model: DEMO_MODEL,
    session_id: session?.session_id ?? null,
    compaction_tokens: session?.compaction_tokens ?? null,
    exact: session?.exact ?? false,
    requests: requests.length,
    readings: story.readings,
    compactions: story.compactions,
    levels,
    archives,
    losses,
    recovered,
    /** True when every request after the compaction has the user's rule that the summary lacks. */
    rule_back: backAgain(requests),
    ...handoff,
    job,
    duration_ms: durationMs,
  }
}

export type Summary = ReturnType<typeof summarise>

/**
 * Returns the first request that contains the level's message, counted from 1. Null when none does.
 */
function toldIn(requests: readonly LogEntry[], level: DemoStory['levels'][number]): number | null {
  const index = requests.findIndex(
    (entry) => entry.cycle === level.cycle - 1 && countOccurrences(entry, `[baton] Context level "${level.name}"`) > 0,
  )
  return index < 0 ? null : index + 1
}

/** True when a summary request contains the facts that must survive, exactly once. */
export function wasSummaryInstructed(model: Pick<Model, 'log'>): boolean {
  return model.log().some((entry) => entry.kind === 'compaction' && countOccurrences(entry, SUMMARY_INSTRUCTIONS) === 1)
}

const OPENINGS = {
  1: FIRST_RECOVERY,
  2: SECOND_RECOVERY,
}

/**
 * Lists the restored facts.
 * Each has the first request with it and its highest number of copies in one request.
 */
function recoveries(events: readonly Event[], requests: readonly LogEntry[]) {
  return events.flatMap(({ type, data }) => {
    if (type !== 'recovery_delivered') return []
    const step = data.step === 2 ? 2 : 1
    const index = requests.findIndex((entry) => countOccurrences(entry, OPENINGS[step]) > 0)
    const most = Math.max(0, ...requests.map((entry) => countOccurrences(entry, OPENINGS[step])))
    return [{ step, facts: Number(data.facts), in_request: index < 0 ? null : index + 1, copies: most }]
  })
}

/**
 * True when all requests after the compaction contain the rule.
 * The summary lacks it, so Baton restored it.
 */
function backAgain(requests: readonly LogEntry[]): boolean {
  const after = requests.filter((entry) => entry.cycle === 1)
  return after.length > 0 && after.every((entry) => countOccurrences(entry, DEMO_RULE) > 0)
}

/** The decision without its surrounding words, which an extracted fact may leave out. */
const DECIDED = OFFERS_DECISION.slice('I decided on '.length, OFFERS_DECISION.indexOf(','))

/** Summarises the handoff, with the model's log as proof. Null when none was seen. */
export function summariseHandoff(app: App, model: Model) {
  const done = app.store.handoffs().at(-1)
  const seat = done && app.store.seat(done.seatId)
  if (!done || !seat) return null
  const brief = done.briefId === null ? null : app.store.brief(done.briefId)
  const [old, fresh] = [requestsOf(model, done.sessionId), requestsOf(model, done.newSessionId)]
  const first = fresh[0]
  return {
    seat_id: seat.seatId,
    seat: DEMO_SEAT,
    state: done.state,
    way: done.way,
    old_session_id: done.sessionId,
    new_session_id: done.newSessionId,
    brief_id: done.briefId,
    path: brief?.path ?? null,
    author: brief?.author ?? null,
    /** Coverage of the brief as the agent wrote it, before Baton added the missing facts. */
    coverage: brief?.coverage ? viewCoverage(brief.coverage) : null,
    asked_in_request: indexOf(old, (entry) => countOccurrences(entry, 'A handoff brief') > 0),
    tokens_before: done.usedTokens,
    tokens_after: firstReading(app, done.newSessionId),
    /** True when the fresh session's first request contains the brief. */
    brief_in_first_request: first !== undefined && countOccurrences(first, DEMO_REASON) > 0,
    added_in_first_request: first !== undefined && countOccurrences(first, DECIDED) > 0,
    requests_after: fresh.length,
    worked_on: fresh.some(({ answer }) => answer?.text === LAST_ANSWER),
    duration_ms: Date.parse(done.stateAt) - Date.parse(done.requestedAt),
  }
}

export type HandoffProof = NonNullable<ReturnType<typeof summariseHandoff>>

/** Lists the expected parts of the handoff that did not happen. */
function missingIn(it: HandoffProof | null): string[] {
  if (it === null) return ['no handoff was started']
  return [
    it.asked_in_request === null ? 'the agent was not asked for its brief' : null,
    it.author === 'agent' ? null : 'the brief of the agent was not used',
    lacked(it.coverage) ? null : 'the missing fact of the brief was not found',
    it.state === 'done' ? null : `the handoff is ${it.state}`,
    it.brief_in_first_request ? null : 'the fresh session did not start with the brief',
    it.added_in_first_request ? null : 'the missing fact was not added to the brief',
    it.worked_on ? null : 'the fresh session did not continue by itself',
  ].filter((one) => one !== null)
}

const lacked = (coverage: HandoffProof['coverage']): boolean =>
  coverage?.missing.some(({ text }) => text.includes(DECIDED)) ?? false

function firstReading(app: App, sessionId: string | null): number | null {
  const events = sessionId === null ? [] : app.store.events({ sessionId })
  const used = events.find(({ type }) => type === 'reading')?.data.used_tokens
  return typeof used === 'number' ? used : null
}

function requestsOf(model: Model, session: string | null): LogEntry[] {
  return session === null ? [] : model.log().filter((entry) => entry.kind === 'main' && entry.session_id === session)
}

function indexOf(entries: readonly LogEntry[], fits: (entry: LogEntry) => boolean): number | null {
  const index = entries.findIndex(fits)
  return index < 0 ? null : index + 1
}

const WITHOUT_REASON = JOB_DECISION.slice('I decided on '.length, JOB_DECISION.indexOf(','))
const BRIEF = "The shop's report in report.md"

/**
 * Summarises the job, with the model's log and the agent's file as proof.
 * Null when none was started.
 */
export function summariseJob(app: App, model: Model) {
  const job = app.store.jobs().at(-1)
  if (!job) return null
  const view = viewJob(job, app.store.attempts(job.jobId))
  const sessions = view.sessions.map((one) => {
    const requests = requestsOf(model, one.session_id)
    const first = requests[0]
    return {
      session_id: one.session_id,
      number: one.number,
      brief_id: one.brief_id,
      used_tokens: one.used_tokens,
      compaction_tokens: one.compaction_tokens,
      requests: requests.length,
      task_in_first_request: first !== undefined && countOccurrences(first, JOB_PROMPT) > 0,
      brief_in_first_request: first !== undefined && countOccurrences(first, BRIEF) > 0,
      added_in_first_request: first !== undefined && countOccurrences(first, WITHOUT_REASON) > 0,
    }
  })
  const last = requestsOf(model, view.session_id)
  const failed = last.findIndex((entry) => countOccurrences(entry, FAILED_CHECK_OUTPUT) > 0)
  return {
    job_id: view.job_id,
    agent: view.agent,
    status: view.status,
    exit_reason: view.exit_reason,
    detail: view.detail,
    handoffs: view.handoffs,
    compactions: view.compactions,
    steps: view.steps,
    spend: view.spend,
    sessions,
    checks: view.checks.map(({ name, round, ok, exit_code }) => ({ name, round, ok, exit_code })),
    /**
     * The first request of the last session that contains the failed check's output, counted from
     * 1.
     */
    failure_in_request: failed < 0 ? null : failed + 1,
    parts: partsIn(view.folder),
    ran_ms: view.ran_ms,
  }
}

export type JobProof = NonNullable<ReturnType<typeof summariseJob>>

/** Lists the expected parts of the job that did not happen. */
function missingInJob(it: JobProof | null): string[] {
  if (it === null) return ['no job was started']
  const [first, ...later] = it.sessions
  const once = Array.from({ length: REPORT_PARTS }, (_, index) => index + 1).join()
  return [
    it.status === 'completed' ? null : `the job is ${it.status}${it.detail ? `: ${it.detail}` : ''}`,
    it.sessions.length === 3 && it.handoffs === 2
      ? null
      : `the job had ${it.sessions.length} sessions and ${it.handoffs} handoffs`,
    it.compactions === 0 ? null : 'a session of the job was compacted',
    it.parts.join() === once ? null : `the job wrote the parts ${it.parts.join(', ') || 'none'}`,
    first?.task_in_first_request && later.every((one) => one.task_in_first_request && one.brief_in_first_request)
      ? null
      : 'a session of the job did not start with the task and the brief',
    later[0]?.added_in_first_request ? null : 'the missing fact was not added to the first brief of the job',
    it.checks.some(({ round, ok }) => round === 1 && !ok) ? null : 'no check of the job failed in the first round',
    it.failure_in_request === null ? 'the agent was not told which check failed' : null,
    it.checks.length === 4 && it.checks.every(({ round, ok }) => round === 1 || ok)
      ? null
      : 'the checks of the job did not pass',
  ].filter((one) => one !== null)
}

function partsIn(folder: string): number[] {
  try {
    return [...readFileSync(join(folder, 'report.md'), 'utf8').matchAll(/^## Part (\d+)$/gm)].map(([, number]) =>
      Number(number),
    )
  } catch {
    return []
  }
}
