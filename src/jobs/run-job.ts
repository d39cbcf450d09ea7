import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Event } from '../contract/records/event.js'
import type { AttemptRecord, JobRecord, JobRetry } from '../contract/records/job.js'
import type { SessionOptions } from '../contract/runtime.js'
import { adviceOf, reasonOf } from '../lib/errors.js'
import { jobLimitNotices } from '../policy/notice-text.js'
import { askBrief } from './ask-brief.js'
import { type AttemptCallbacks, AttemptHost } from './attempt-host.js'
import { AttemptPrompts } from './attempt-prompts.js'
import { handoffFields, JobRunningTime, lastStartedAttempt, planAttempt, wasStarted } from './attempt-record.js'
import { checkJob } from './checks/run-checks.js'
import { claimJob, takeEndedJob, takeOverToEnd } from './claim-job.js'
import { type JobDependencies, type JobEvent, recordAttempt, recordJob } from './dependencies.js'
import { finishJob, handoffEnd, type JobEnd, runEndHooks, storedEnding } from './finish-job.js'
import { beginFirstAttempt } from './first-session.js'
import { countOutcome, type JobAction, MAX_FAILURES_IN_A_ROW, NO_FAILURES, nextJobAction } from './job.js'
import { JobHookRunner } from './job-hooks.js'
import { JobLog } from './job-log.js'
import type { LiveSession } from './live-session.js'
import { NextClient, nextAttempt } from './next-client.js'
import { detailText, type Outcome, outcomeWithoutAnswer } from './outcome.js'
import { endProcesses } from './processes.js'
import { jobFolder, jobProcessEnvironment, startSession } from './start-session.js'
import { setUpWorkspace } from './workspace/set-up.js'

const CHECK_MS = 500

function retryEvent({ reason, attempt, most, until }: JobRetry): JobEvent {
  return { type: 'job_waiting', data: { until, reason: `${reason}; Baton retries`, attempt, max_attempts: most } }
}

/** Returns the path of a job's log. */
export const jobLogPath = (folder: string): string => join(folder, 'log.jsonl')

/**
 * Runs a job from its stored state until it is over or paused.
 * Every step is stored before it is done, so after a kill the next runner continues.
 */
export async function runJob(deps: JobDependencies, jobId: string): Promise<JobRecord> {
  await claimJob(deps, jobId)
  const run = new JobRun(deps, jobId)
  let over: JobEnd
  try {
    over = run.ending() ?? (await run.runToEnd())
  } catch (error) {
    deps.log('error', 'a job could not be continued', { job: jobId, reason: reasonOf(error) })
    // A session that the user cancelled fails here. That is no error of the job.
    over = run.stopped() ?? { do: 'end', state: 'failed', reason: 'error', detail: adviceOf(error) }
  }
  return run.finish(over)
}

/** Runs the end hooks of a job whose runner died before it ran them. */
export async function runLateEndHooks(deps: JobDependencies, jobId: string): Promise<void> {
  if (takeEndedJob(deps, jobId)) await new JobRun(deps, jobId).runEndHooks()
}

/** Ends a job that no process runs. */
export async function endJob(deps: JobDependencies, jobId: string, over: JobEnd): Promise<JobRecord> {
  takeOverToEnd(deps, jobId)
  const run = new JobRun(deps, jobId)
  return run.finish(run.ending() ?? over)
}

class JobRun {
  private readonly deps: JobDependencies
  private readonly jobId: string
  private readonly folder: string
  private readonly prompts: AttemptPrompts
  private readonly log: JobLog
  /**
   * Aborted when the user pauses or cancels the job. `cancel` is aborted only by a cancellation.
   */
  private readonly stop = new AbortController()
  private readonly cancel = new AbortController()
  private live: LiveSession | null = null
  private readonly nextClient: NextClient
  private readonly hooks: JobHookRunner
  private readonly clock: JobRunningTime
  private readonly hostContext: AttemptCallbacks

  constructor(deps: JobDependencies, jobId: string) {
    this.jobId = jobId
    this.folder = deps.folderOf(jobId)
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    this.log = new JobLog(jobLogPath(this.folder), undefined, (error) =>
      deps.log('warn', 'the log of a job cannot be written; the job continues', {
        job: jobId,
        reason: reasonOf(error),
      }),
    )
    this.deps = { ...deps, publish: (events) => this.publish(deps, events) }
    this.prompts = new AttemptPrompts(this.deps, jobId, this.folder, (payload) => this.hooks.runStartHooks(payload))
    this.hooks = new JobHookRunner(this.deps, jobId, this.addLogLine, {
      stop: this.stop.signal,
      cancel: this.cancel.signal,
    })
    this.clock = new JobRunningTime(this.deps, jobId)
    this.hostContext = {
      ranMs: () => this.clock.ranMs(),
      runLevelHooks: (level, attempt) => this.hooks.runLevelHooks(level, attempt),
    }
    this.nextClient = new NextClient(this.deps, jobId, this.prompts.journal, this.hostContext, this.addLogLine)
  }

  /** Second of the last time line in the log, because clients write no times into their lines. */
  private lastLoggedSecond = ''

  private readonly addLogLine = (line: string): void => {
    const at = this.deps.now().toISOString()
    if (at.slice(0, 19) !== this.lastLoggedSecond) this.log.add(JSON.stringify({ type: 'baton', at, event: 'time' }))
    this.lastLoggedSecond = at.slice(0, 19)
    this.log.add(line)
    this.deps.showLine?.(this.jobId, line)
  }

  private publish(deps: JobDependencies, events: Event[]): void {
    for (const { type: event, at, data } of events)
      if (event !== 'job_progress') this.log.add(JSON.stringify({ type: 'baton', at, event, data }))
    deps.publish(events)
  }

  private get job(): JobRecord {
    return this.deps.store.job(this.jobId)!
  }

  private get processContext() {
    return { cwd: jobFolder(this.job), env: this.env(), jobId: this.jobId, signal: this.stop.signal }
  }

  async runToEnd(): Promise<JobEnd> {
    // Turns check for the user's pause or cancellation themselves.
    // Checks, hooks and a starting client do not.
    const look = setInterval(() => {
      try {
        this.readWantedState()
        this.clock.tick()
      } catch (error) {
        this.deps.log('warn', 'a job could not be checked', { job: this.jobId, reason: reasonOf(error) })
      }
    }, CHECK_MS)
    try {
      return await this.runSessions()
    } finally {
      await this.nextClient.discard()
      await this.hooks.waitForLevelHooks()
      clearInterval(look)
    }
  }

  private readWantedState(): void {
    const { wanted } = this.job
    if (wanted !== null) this.stop.abort()
    if (wanted !== 'cancel') return
    this.cancel.abort()
    this.live?.kill()
    this.nextClient.kill()
  }

  /** Returns how a killed runner had begun to end the job. Null when it had not begun that. */
  ending(): JobEnd | null {
    return storedEnding(this.job)
  }

  private async runSessions(): Promise<JobEnd> {
    // Processes left by a killed runner would work in parallel to the resumed session.
    await endProcesses(this.jobId)
    const { spec, workspace } = this.job
    const request = { jobId: this.jobId, agentName: spec.agentName, workItem: spec.workItem, folder: spec.folder }
    const ready = await setUpWorkspace({ ...request, workspace: spec.workspace, known: workspace }, { env: this.env() })
    if (workspace === null && ready.worktree !== null) this.deps.trustWorktree?.(spec.folder, ready.folder)
    recordJob(this.deps, this.jobId, { workspace: ready })
    // A usage limit lasts, whichever process waits for its end.
    const { waitUntil } = this.job
    if (waitUntil !== null) await this.waitUntil(waitUntil)
    for (;;) {
      const stopped = this.stopped()
      if (stopped !== null) return stopped
      const next = await this.timed(() => this.attempt())
      if (next.do === 'end') return next
      if (next.do === 'resume') await this.sleep(next.after)
      if (next.do === 'wait') await this.waitUntil(next.until)
    }
  }

  private async timed<T>(work: () => Promise<T>): Promise<T> {
    this.clock.start()
    try {
      return await work()
    } finally {
      this.clock.stop()
    }
  }

  /** Returns how the job ends when the user pauses or cancels it. Null otherwise. */
  stopped(): JobEnd | null {
    const { wanted } = this.job
    return wanted === null ? null : (nextJobAction(this.job, { how: 'stopped', wanted }, this.deps.now()) as JobEnd)
  }

  /** Runs one session to its end, including a handoff. Returns what the job does next. */
  private async attempt(): Promise<JobAction> {
    const { store } = this.deps
    const last = lastStartedAttempt(store.attempts(this.jobId))
    const plan = planAttempt(last, last !== null && this.prompts.wasReceived(last))
    const hostOf = (attempt: AttemptRecord): AttemptHost =>
      new AttemptHost(this.deps, attempt, this.prompts.journal, this.hostContext)
    const spent = last && hostOf(last).mustStop() // before one more request exceeds the budget
    if (spent) return nextJobAction(this.job, spent, this.deps.now())
    if (plan.do === 'hand-off') {
      const then = await this.handOver(hostOf(last!), null, { how: 'full' })
      return then === 'as-is' ? { do: 'resume', after: 0 } : then
    }
    const isFresh = plan.do !== 'resume'
    const ahead = last === null ? null : await this.nextClient.clientFor(last)
    const again = isFresh && ahead === null && last !== null && wasStarted(last) && last.start !== 'resume'
    const attempt =
      ahead?.host.attempt ??
      (plan.do === 'begin' ? beginFirstAttempt(this.deps, this.jobId) : again ? this.moveToNewId(last) : last!)
    const host = ahead?.host ?? hostOf(attempt)
    const prompt = isFresh ? await this.prompts.firstPrompt(attempt) : this.prompts.resume(attempt)
    const stopped = this.stopped()
    if (stopped !== null) return stopped
    const how = isFresh && attempt.start !== 'resume' ? 'fresh' : 'resume'
    const live = await this.open(host, { how }, attempt.sessionId, ahead?.live)
    try {
      return await this.work(host, live, prompt)
    } finally {
      await this.close(live, host)
      host.journal.close()
    }
  }

  private async work(host: AttemptHost, live: LiveSession, first: string): Promise<JobAction> {
    const { spec } = this.job
    const { silenceMs, backgroundMs = silenceMs } = spec
    const bounds = { silenceMs, turnMs: null, backgroundMs: Math.min(silenceMs, backgroundMs) }
    host.put({ state: 'prompted', process: live.process })
    await live.ready()
    for (let prompt = first; ; ) {
      const spent = host.mustStop() ?? (host.isTooOld() ? ({ how: 'too-old' } as const) : null)
      const before = host.attempt.turns
      const isFirst = before === 0 && host.attempt.start !== 'resume'
      const ended = spent ?? (await live.turn(prompt, 'work', bounds))
      const outcome = outcomeWithoutAnswer(ended, host.attempt.turns - before, prompt, isFirst) ?? ended
      // A client killed by a cancellation is not a failure.
      const stopped = this.stopped()
      const next = stopped?.state === 'cancelled' ? stopped : nextJobAction(this.job, outcome, this.deps.now())
      if (next.do === 'check' && outcome.how === 'done') {
        const checked = await this.check(outcome.text)
        if (typeof checked !== 'string') return this.recordLeaving(host, checked)
        prompt = checked
      } else if (next.do === 'hand-off') {
        const then = await this.handOver(host, live, outcome)
        if (then !== 'as-is') return then
        prompt = '[baton] Continue the job where you stopped.'
      } else return this.recordLeaving(host, next, outcome)
    }
  }

  /** Stores how the session was left. */
  private recordLeaving(host: AttemptHost, next: JobAction, outcome?: Outcome): JobAction {
    const { state, turns } = host.attempt
    // A session that may never have received its prompt cannot be reopened.
    // Whether it did is checked on resume.
    const after = state === 'prompted' && turns === 0 ? 'prompted' : 'over'
    const detail = detailText(outcome)
    if (next.do === 'end') host.put({ state: after, endedAt: this.deps.now().toISOString(), process: null })
    else {
      const row = countOutcome(this.job, outcome)
      const retry = this.retryOf(next, detail, row.failures ?? this.job.failures)
      recordJob(this.deps, this.jobId, { ...row, detail, retry }, retry === null ? [] : [retryEvent(retry)])
    }
    return next
  }

  /**
   * Returns the retry after a delay. Null when there is none.
   * A usage limit is reported by the event `job_waiting` itself.
   */
  private retryOf(next: JobAction, detail: string, failures: number): JobRetry | null {
    if (next.do !== 'resume' || next.after === 0) return null
    const until = new Date(this.deps.now().getTime() + next.after).toISOString()
    // The first failure was attempt 1, so the next attempt is one more.
    return { reason: detail || 'the session failed', attempt: failures + 1, most: MAX_FAILURES_IN_A_ROW, until }
  }

  private check(result: string): Promise<string | JobEnd> {
    const context = { ...this.processContext, outputs: join(this.folder, 'checks') }
    return checkJob(this.deps, this.jobId, { result, context, stopped: () => this.stopped() })
  }

  /** Hands the session off. Returns `as-is` when a hook lets the session continue. */
  private async handOver(host: AttemptHost, live: LiveSession | null, outcome: Outcome): Promise<JobAction | 'as-is'> {
    const { attempt } = host
    // If the brief was requested already, the hooks have decided before.
    const isAsked = attempt.state === 'asked'
    const begun = { type: 'handoff_started' as const, data: handoffFields(this.job, attempt, null) }
    this.deps.store.transaction(() => {
      host.put({ state: isAsked ? 'asked' : 'stopped', handoffOpen: true })
      recordJob(this.deps, this.jobId, { state: 'handing-off' }, attempt.handoffOpen ? [] : [begun])
    })
    // Hooks decide about a full context, not about the duration of a session.
    const said = isAsked || outcome.how === 'too-old' ? 'handoff' : await this.hooks.decideWhenFull(attempt)
    // A hook interrupted by the user has decided nothing and runs again later.
    const stopped = this.stopped()
    if (stopped !== null) return stopped
    // A session whose context no longer fits cannot continue.
    const decision = said === 'continue' && outcome.how === 'too-long' ? 'handoff' : said
    if (decision === 'continue') {
      host.runsWhenFull = true
      const reason = 'a hook on_context_threshold answered continue'
      this.deps.store.transaction(() => {
        host.put({ state: 'working', handoffOpen: false })
        recordJob(this.deps, this.jobId, { state: 'running' }, [handoffEnd('cancelled', this.job, attempt, reason)])
      })
      return 'as-is'
    }
    if (decision === 'handoff') host.put({ state: 'asked' })
    const given =
      decision === 'abort'
        ? { brief: this.prompts.writeBrief(attempt, 'A hook ended the session.') }
        : await askBrief(this.deps, {
            job: this.job,
            attempt,
            live,
            tooLong: outcome.how === 'too-long',
            earlier: host.earlierAnswer(),
            mustStop: () => host.mustStop(),
            describeUnreportedCalls: (hides) => this.prompts.describeUnreportedCalls(attempt, hides),
            reason: outcome.how === 'too-old' ? 'the session reached session.max_duration' : undefined,
            writeByCode: (reason) => this.prompts.writeBrief(attempt, reason),
            open: (at) => this.openAgain(host, at),
            onBriefGiven: () => this.nextClient.start(attempt),
            addLogLine: this.addLogLine,
          })
    if ('instead' in given) {
      await this.nextClient.discard()
      const next = nextJobAction(this.job, given.instead, this.deps.now())
      if (next.do !== 'end')
        recordJob(this.deps, this.jobId, {
          ...countOutcome(this.job, given.instead),
          detail: detailText(given.instead),
        })
      return next
    }
    if (live === null) this.deps.sessionEnded(attempt)
    this.deps.archiveTranscript(attempt.sessionId)
    const { store } = this.deps
    const waits = await this.nextClient.usableAttempt()
    store.transaction(() => {
      host.put({ state: 'over', endedAt: this.deps.now().toISOString(), process: null, handoffOpen: false })
      const next = nextAttempt(this.deps, attempt, { state: 'starting', briefId: given.brief.briefId }, waits)
      const data = {
        ...handoffFields(this.job, attempt, next.sessionId),
        brief_id: given.brief.briefId,
        coverage: given.brief.coverage?.score ?? null,
      }
      recordJob(
        this.deps,
        this.jobId,
        { state: 'running', handoffs: this.job.handoffs + 1, sessionId: next.sessionId, ...NO_FAILURES },
        [{ type: 'handoff_completed', data, sessionId: attempt.sessionId }],
      )
    })
    return { do: 'resume', after: 0 }
  }

  /**
   * Moves an attempt (session of a job) to a new session id. A client may have used the first id.
   */
  private moveToNewId(attempt: AttemptRecord): AttemptRecord {
    const moved = recordAttempt(this.deps, attempt, { sessionId: this.deps.newSessionId(), state: 'starting' })
    recordJob(this.deps, this.jobId, { sessionId: moved.sessionId })
    return moved
  }

  private env(): Record<string, string> {
    return jobProcessEnvironment(this.deps, this.job)
  }

  private async close(live: LiveSession, { attempt }: AttemptHost): Promise<void> {
    await live.close()
    if (this.live === live) this.live = null
    if (live.sessionId === attempt.sessionId) this.deps.sessionEnded(attempt)
  }

  private async open(
    host: AttemptHost,
    begin: SessionOptions['begin'],
    sessionId: string,
    ready?: LiveSession,
  ): Promise<LiveSession> {
    const live = ready ?? (await startSession(this.deps, host, { begin, sessionId }, this.addLogLine))
    this.live = live
    if (ready) this.nextClient.markUsed()
    host.put({ process: live.process })
    if (sessionId === host.attempt.sessionId)
      this.deps.sessionStarted(host.attempt, begin.how === 'fresh' ? 'startup' : 'resume')
    return live
  }

  /** Reopens a session for its brief alone. A copy of the session gets an id of its own. */
  private async openAgain(host: AttemptHost, at: string | null): Promise<LiveSession | null> {
    const { sessionId } = host.attempt
    try {
      if (at === null) return await this.open(host, { how: 'resume' }, sessionId)
      return await this.open(host, { how: 'fork', from: sessionId, at }, this.deps.newSessionId())
    } catch (error) {
      this.deps.log('warn', 'a session could not be reopened', { job: this.jobId, reason: reasonOf(error) })
      return null
    }
  }

  private async waitUntil(until: string): Promise<void> {
    // A usage limit that lasts longer than expected is waited for repeatedly but reported once.
    const isFirst = (this.job.waits ?? 0) <= 1
    recordJob(
      this.deps,
      this.jobId,
      { state: 'waiting', waitUntil: until },
      [{ type: 'job_waiting', data: { until, reason: this.job.detail } }],
      isFirst ? jobLimitNotices(this.jobId, until, this.deps.now().toISOString()) : [],
    )
    await this.sleep(Date.parse(until) - this.deps.now().getTime())
    if (this.job.wanted === null)
      recordJob(this.deps, this.jobId, { state: 'running', waitUntil: null }, [{ type: 'job_resumed', data: {} }])
  }

  /** Sleeps until the time is over or the user pauses or cancels the job. */
  private async sleep(ms: number): Promise<void> {
    const until = Date.now() + ms
    while (Date.now() < until && this.job.wanted === null)
      await new Promise((resolve) => setTimeout(resolve, Math.min(500, Math.max(1, until - Date.now()))))
  }

  async finish(over: JobEnd): Promise<JobRecord> {
    return this.closeLog(await finishJob(this.deps, this.jobId, this.hooks, over))
  }

  async runEndHooks(): Promise<JobRecord> {
    return this.closeLog(await runEndHooks(this.deps, this.jobId, this.hooks))
  }

  private closeLog(job: JobRecord): JobRecord {
    this.log.close()
    return job
  }
}
