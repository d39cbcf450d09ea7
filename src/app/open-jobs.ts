import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withoutClientVariables } from '../agents/clients.js'
import { transcriptReaders } from '../agents/readers.js'
import type { Limits, Reading } from '../contract/reading.js'
import type { BriefRecord } from '../contract/records/brief.js'
import type { Event } from '../contract/records/event.js'
import type { AttemptRecord, JobRecord, RuntimeName } from '../contract/records/job.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { ContextUsage, Runtime } from '../contract/runtime.js'
import { BLANK_SIGNAL, type RawSignal, type Signal } from '../contract/signal.js'
import { briefMaterial, readAndStoreFacts } from '../engine/compaction/brief-sources.js'
import { type BriefMaterial, coverageOf, storeGivenBrief, storeMechanicalBrief } from '../engine/handoff/make-brief.js'
import { storeNotices } from '../engine/messages/notify-user.js'
import { takeJobMessages } from '../engine/messages/ready-messages.js'
import type { App } from '../engine/open-engine.js'
import { isEnabled, type PolicyContext, sessionContext } from '../engine/session-context.js'
import { repositoryText } from '../jobs/brief-appendix.js'
import type { BriefWriter, JobDependencies } from '../jobs/dependencies.js'
import type { JobLimits } from '../jobs/job-start-order.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { gitState } from '../lib/git-state.js'
import { scaleTimeout } from '../lib/patience.js'
import { sanitizeName } from '../lib/quote.js'
import type { NoticeContent } from '../policy/notice-text.js'

interface JobContext {
  env: Record<string, string | undefined>
  limits: JobLimits
  runtime(name: RuntimeName, folder: string, agent: string): Promise<Runtime>
  trustWorktree?: JobDependencies['trustWorktree']
  showLine?: JobDependencies['showLine']
  /**
   * The terminal of this process, which `bell` rings, because the clients of jobs have none.
   * Null when this process has no terminal.
   * The terminal is passed in, because on macOS a process must find it: too slow in a transaction.
   */
  terminal: string | null
  /** Receives the events of jobs that run in this process, after the events were stored. */
  tell(events: readonly Event[]): void
}

/**
 * Returns the dependencies of jobs.
 * The engine measures a job's sessions and writes their briefs like those of other sessions.
 */
export function jobsOf(app: App, context: JobContext): JobDependencies {
  const { store, log, engine } = app
  const env = withoutClientVariables(context.env)
  const sessionOf = (sessionId: string): SessionRecord => {
    const record = store.session(sessionId)
    if (record !== null) return record
    throw new BatonError(`The store has no session ${sessionId}.`, 'Run baton doctor.', EXIT.failed)
  }
  const transcriptOf = (sessionId: string): StoredConversation | null => {
    const record = store.session(sessionId)
    return record?.transcriptPath
      ? { agent: record.agent, path: record.transcriptPath }
      : findTranscript(env, sessionId)
  }
  return {
    store,
    log,
    env,
    limits: context.limits,
    now: app.now,
    newId: app.newId,
    newSessionId: randomUUID,
    folderOf: (jobId) => jobFolder(app, jobId),
    runtime: context.runtime,
    briefs: briefsOf(app, sessionOf),
    ...observer(app, env),
    textForNextRequest(sessionId, after) {
      try {
        const { carriers } = engine.deps.agents[store.session(sessionId)?.agent ?? ''] ?? { carriers: [] }
        return takeJobMessages(engine.deps, sessionId, (after === 'batch' ? carriers[0] : carriers.at(-1)) ?? after)
      } catch (error) {
        log('error', 'the messages to a session of a job could not be read', {
          session: sessionId,
          reason: reasonOf(error),
        })
        return null
      }
    },
    returnedCalls(sessionId) {
      const transcript = transcriptOf(sessionId)
      const calls = new Map<string, { ok: boolean; open?: { tool: string; input: string } }>()
      if (transcript === null) return calls
      transcriptReaders[transcript.agent]?.conversation(transcript.path, {
        withoutFiles: true,
        onEntry(entry) {
          if (entry.kind === 'called')
            calls.set(entry.callId, { ok: false, open: { tool: entry.tool, input: JSON.stringify(entry.act) } })
          if (entry.kind === 'returned') {
            const open = entry.interrupted ? calls.get(entry.callId)?.open : undefined
            calls.set(entry.callId, { ok: entry.ok !== false && !entry.interrupted, ...(open ? { open } : {}) })
          }
        },
      })
      return calls
    },
    transcriptHolds(sessionId, text) {
      const transcript = transcriptOf(sessionId)
      if (transcript === null) return false
      return engine.deps.agents[transcript.agent]?.transcriptContains(transcript.path, text) === true
    },
    repository: (folder) => repositoryText(gitState(folder)),
    archiveTranscript(sessionId) {
      try {
        keepTranscript(app, sessionOf(sessionId))
      } catch (error) {
        log('error', 'the transcript of a session could not be archived', {
          session: sessionId,
          reason: reasonOf(error),
        })
      }
    },
    ...(context.trustWorktree ? { trustWorktree: context.trustWorktree } : {}),
    ...(context.showLine ? { showLine: context.showLine } : {}),
    publish: context.tell,
    notify: (job, contents) => notifyOfJob(app, job, contents, context.terminal),
  }
}

interface StoredConversation {
  agent: string
  path: string
}

/**
 * Finds a session's transcript that the store does not know. Null when there is none.
 * Such a transcript exists when the runner was killed between the prompt and the first event.
 */
function findTranscript(env: Record<string, string>, sessionId: string): StoredConversation | null {
  for (const [agent, reader] of Object.entries(transcriptReaders)) {
    const stored = reader.storedTranscripts(env, null).find((transcript) => transcript.sessionId === sessionId)
    if (stored) return { agent, path: stored.path }
  }
  return null
}

/** Stores notices about a job for the targets of the folder in which it was requested. */
function notifyOfJob(
  { store, engine, now, policyOf }: App,
  { jobId, seatId, sessionId, spec }: JobRecord,
  contents: readonly NoticeContent[],
  terminal: string | null,
): void {
  const subject = { agent: spec.agent, project: spec.folder, model: spec.model, seat: seatId }
  const { policy } = policyOf(subject)
  if (policy.notify.length === 0) return
  if (!isEnabled(store, { sessionId: sessionId ?? '', project: spec.folder }, policy.enabled)) return
  // Never use the prompt: no conversation text leaves this machine.
  const name = sanitizeName(spec.workItem ?? spec.agentName ?? jobId)
  const origin = { name, subject, sessionId, seatId, jobId, terminal, at: now().toISOString() }
  storeNotices(engine.deps, origin, policy.notify, contents)
}

/** Returns the folder with a job's own files. */
export function jobFolder({ home }: Pick<App, 'home'>, jobId: string): string {
  return join(home.jobs, jobId)
}

function briefsOf({ engine, store, policyOf }: App, sessionOf: (id: string) => SessionRecord): BriefWriter {
  const { deps } = engine
  const policyHere = ({ agent, project, model, seatId }: SessionRecord) =>
    policyOf({ agent, project, model, seat: seatId }).policy
  /**
   * Runs `work` in a transaction.
   * Facts are read before the store is locked, because that can take long.
   */
  const at = <T>(sessionId: string, work: (context: PolicyContext, material: BriefMaterial) => T): T => {
    const record = sessionOf(sessionId)
    const read = readAndStoreFacts(deps, record)
    const material = briefMaterial({ deps, record, read })
    return store.transaction(() =>
      work(sessionContext(deps, deps.agents[record.agent]!, sessionOf(sessionId)), material),
    )
  }
  return {
    minScore: (sessionId) => policyHere(sessionOf(sessionId)).handoff.bar,
    coverage: (sessionId, text) => at(sessionId, (context, material) => coverageOf(context, material, text)),
    storeAgentBrief: (sessionId, body, reason): BriefRecord =>
      at(sessionId, (context, material) => storeGivenBrief(context, material, { body, author: 'agent', reason })),
    writeByCode: (sessionId, reason, appendix): BriefRecord =>
      at(sessionId, (context, material) =>
        storeMechanicalBrief(context, material, { reason, lastAnswer: null, appendix }),
      ),
    read: (brief) => deps.sources().keeper.read(brief),
  }
}

function keepTranscript(app: App, record: SessionRecord): void {
  const { sessionId, agent, project, model, seatId, transcriptPath: transcript } = record
  const { archive } = app.policyOf({ agent, project, model, seat: seatId }).policy
  if (!archive.enabled || !archive.at.includes('handoff')) return
  app.store.transaction(() => app.planArchive({ sessionId, agent, project, trigger: 'handoff', transcript }))
  app.engine.deps.leaveWork()
}

/** Maximum wait until the transcript holds the token count before a compaction. */
const BEFORE_COMPACTION_MS = 700
const STEP_MS = 20

type Observer = Pick<JobDependencies, 'sessionStarted' | 'answerHook' | 'recordUsage' | 'sessionEnded'>

/**
 * Measures the sessions of jobs by the same events as other sessions.
 * The job's runner reports these events, so no hook must be installed.
 */
function observer({ store, engine, log, now }: App, env: Record<string, string>): Observer {
  /**
   * The context window that each client reported, more exact than one derived from a name.
   */
  const limits = new Map<string, Limits>()
  const { agents } = engine.deps

  /** Runs `work` and logs an error. Null when `work` failed. */
  const guarded = <T>(what: string, attempt: AttemptRecord, work: () => T): T | null => {
    try {
      return work()
    } catch (error) {
      log('error', `${what} of a job could not be processed`, { session: attempt.sessionId, reason: reasonOf(error) })
      return null
    }
  }
  const environmentOf = (attempt: AttemptRecord): Record<string, string> => {
    const job = store.job(attempt.jobId)!
    const agent = agents[job.spec.agent]
    const client = { ...env, ...job.spec.env }
    const passed = (agent?.environment ?? []).flatMap((name) => (client[name] ? [[name, client[name]] as const] : []))
    return {
      ...Object.fromEntries(passed),
      BATON_JOB_ID: job.jobId,
      BATON_SEAT: job.seatId,
      ...agent?.jobEnvironment(attempt.process),
    }
  }
  const take = (signal: Signal, attempt: AttemptRecord): string => {
    const reported = limits.get(attempt.sessionId) ?? null
    return engine.takeSignal(
      { ...signal, limits: reported },
      { deliver: 'keep', byRunner: true },
      environmentOf(attempt),
    ).answer
  }
  /** Builds a signal for events that the client's hooks do not send in a stream-json session. */
  const blank = (attempt: AttemptRecord, event: 'start' | 'end' | null): Signal => {
    const { spec, workspace, seatId, jobId, parentSeatId } = store.job(attempt.jobId)!
    const cwd = workspace?.folder ?? spec.folder
    return {
      ...BLANK_SIGNAL,
      agent: spec.agent,
      event: event === null ? 'usage' : (agents[spec.agent]?.jobEvents[event] ?? event),
      at: now().getTime(),
      sessionId: attempt.sessionId,
      cwd,
      project: cwd,
      pid: attempt.process?.pid ?? null,
      attended: false,
      seat: seatId,
      parentSeat: parentSeatId,
      jobId,
      model: spec.model,
      costUsd: attempt.costUsd,
      transcriptPath: store.session(attempt.sessionId)?.transcriptPath ?? null,
    }
  }

  return {
    sessionStarted: (attempt, source) =>
      guarded('the start', attempt, () => {
        take({ ...blank(attempt, 'start'), kind: 'session-start', start: { source } }, attempt)
        countHandoffs(attempt)
      }),
    async answerHook(event, payload, attempt) {
      const { agent } = store.job(attempt.jobId)!.spec
      const raw: RawSignal = {
        agent,
        kind: event,
        body: JSON.stringify(payload),
        env: environmentOf(attempt),
        at: now().getTime(),
      }
      const signal = guarded('a signal', attempt, () => agents[agent]?.open(raw) ?? null) ?? null
      if (signal === null) return ''
      const end = Date.now() + scaleTimeout(BEFORE_COMPACTION_MS)
      const isCompaction = signal.kind === 'compact-start' || signal.kind === 'compact-end'
      if (isCompaction) while (Date.now() < end && !engine.settled(raw)) await sleep(STEP_MS)
      return guarded('a signal', attempt, () => take(signal, attempt)) ?? ''
    },
    recordUsage(usage, attempt) {
      limits.set(attempt.sessionId, limitsOf(usage))
      // If there is a transcript, the usage and its time are read from there.
      if (usage.used > 0 && store.session(attempt.sessionId)?.transcriptPath === null)
        guarded('a figure', attempt, () => take({ ...blank(attempt, null), reading: readingOf(usage) }, attempt))
    },
    sessionEnded: (attempt) =>
      guarded('the end', attempt, () => {
        take({ ...blank(attempt, 'end'), kind: 'session-end', end: { reason: 'other' } }, attempt)
        limits.delete(attempt.sessionId)
      }),
  }

  function countHandoffs({ sessionId, jobId, briefId }: AttemptRecord): void {
    store.transaction(() => {
      const record = store.session(sessionId)
      const { handoffs } = store.job(jobId)!
      const brief = briefId === null ? null : store.brief(briefId)
      if (record && brief) store.putSession({ ...record, handoffs, lastHandoffPath: brief.path })
    })
  }
}

function readingOf({ used, model }: ContextUsage): Reading {
  return { used, usage: null, exact: true, model, source: 'query', answerId: null, stamp: null }
}

function limitsOf({ window, point, proactive }: ContextUsage): Limits {
  return { window, point, mode: proactive ? 'proactive' : 'reactive', exact: true, reason: 'the client said so' }
}
