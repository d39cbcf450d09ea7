import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Event } from '../contract/event.js'
import type { AttemptRecord, JobRecord } from '../contract/job.js'
import { adviceOf, reasonOf } from '../lib/errors.js'
import { askBrief } from './ask-brief.js'
import { AttemptHost, type HostSurroundings } from './attempt-host.js'
import { AttemptPrompts } from './attempt-prompts.js'
import { freshAttempt, handoffFields, lastBegun, wasStarted } from './attempt-record.js'
import { checkJob } from './checks-of-job.js'
import { claim, takeEnded, takeOver } from './claim.js'
import { ClientAhead, nextAttempt } from './client-ahead.js'
import { endingOf, finishJob, type Over, sayEnd as sayEndOf } from './finish-job.js'
import { HooksOfJob } from './hooks-of-job.js'
import { counted, type Next, NO_FAILURES, nextAfter } from './job.js'
import { JobLog } from './job-log.js'
import type { LiveSession } from './live-session.js'
import { detailOf, type Outcome, ofNobody } from './outcome.js'
import { type Happening, type JobParts, record, recordAttempt } from './parts.js'
import { planAttempt } from './plan-attempt.js'
import { endProcesses } from './processes.js'
import type { SessionWish } from './runtimes/runtime.js'
import { environmentOf, folderOf, startSession } from './start-session.js'
import { WorkClock } from './work-clock.js'
import { setUpWorkspace } from './workspace/set-up.js'

const LOOK_MS = 500

/** Where the lines of a job's clients are kept. */
export const logOf = (folder: string): string => join(folder, 'log.jsonl')

/**
 * Carries a job on, from whatever is stored of it, until it is over, paused, or somebody else's. Whatever is done is stored before; a
 * runner that is killed leaves a job that the next one goes on with.
 */
export async function runJob(parts: JobParts, jobId: string): Promise<JobRecord> {
  await claim(parts, jobId)
  const run = new JobRun(parts, jobId)
  let over: Over
  try {
    over = run.ending() ?? (await run.toItsEnd())
  } catch (error) {
    parts.log('error', 'a job could not be carried on', { job: jobId, reason: reasonOf(error) })
    // Whatever was ended over its head fails, and a person wanted that.
    over = run.stopped() ?? { do: 'end', state: 'failed', reason: 'error', detail: adviceOf(error) }
  }
  return run.finish(over)
}

/** The hooks of a job that has ended, where whoever ran it was gone before they had. */
export async function sayEnd(parts: JobParts, jobId: string): Promise<void> {
  if (takeEnded(parts, jobId)) await new JobRun(parts, jobId).sayEnd()
}

/** The end of a job that nobody runs. */
export async function endJob(parts: JobParts, jobId: string, over: Over): Promise<JobRecord> {
  takeOver(parts, jobId)
  const run = new JobRun(parts, jobId)
  return run.finish(run.ending() ?? over)
}

class JobRun {
  readonly #parts: JobParts
  readonly #jobId: string
  readonly #folder: string
  readonly #prompts: AttemptPrompts
  readonly #log: JobLog
  /** A person wants something else; `#cancel`: the end. */
  readonly #stop = new AbortController()
  readonly #cancel = new AbortController()
  #live: LiveSession | null = null
  readonly #ahead: ClientAhead
  readonly #hooks: HooksOfJob
  readonly #clock: WorkClock
  readonly #around: HostSurroundings

  constructor(parts: JobParts, jobId: string) {
    this.#jobId = jobId
    this.#folder = parts.folderOf(jobId)
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    this.#log = new JobLog(logOf(this.#folder), undefined, (error) =>
      parts.log('warn', 'the log of a job cannot be written; the job goes on', { job: jobId, reason: reasonOf(error) }),
    )
    this.#parts = { ...parts, tell: (events) => this.#tell(parts, events) }
    this.#prompts = new AttemptPrompts(this.#parts, jobId, this.#folder, (payload) => this.#hooks.atStart(payload))
    this.#hooks = new HooksOfJob(this.#parts, jobId, this.#keep, { stop: this.#stop.signal, cancel: this.#cancel.signal })
    this.#clock = new WorkClock(this.#parts, jobId)
    this.#around = {
      ranMs: () => this.#clock.ranMs(),
      atLevel: (level, attempt) => this.#hooks.atLevel(level, attempt),
    }
    this.#ahead = new ClientAhead(this.#parts, jobId, this.#prompts.journal, this.#around, this.#keep)
  }

  readonly #keep = (line: string): void => this.#log.add(line)

  #tell(parts: JobParts, events: Event[]): void {
    for (const { type: event, at, data } of events)
      if (event !== 'job_progress') this.#log.add(JSON.stringify({ type: 'baton', at, event, data }))
    parts.tell(events)
  }

  get #job(): JobRecord {
    return this.#parts.store.job(this.#jobId)!
  }

  get #ground() {
    return { cwd: folderOf(this.#job), env: this.#env(), jobId: this.#jobId, signal: this.#stop.signal }
  }

  async toItsEnd(): Promise<Over> {
    // A turn looks by itself; checks, hooks and a client that starts do not.
    const look = setInterval(() => {
      try {
        this.#lookAtWish()
        this.#clock.tick()
      } catch (error) {
        this.#parts.log('warn', 'a job could not be looked at', { job: this.#jobId, reason: reasonOf(error) })
      }
    }, LOOK_MS)
    try {
      return await this.#carry()
    } finally {
      await this.#ahead.drop()
      await this.#hooks.settled()
      clearInterval(look)
    }
  }

  #lookAtWish(): void {
    const { wanted } = this.#job
    if (wanted !== null) this.#stop.abort()
    if (wanted !== 'cancel') return
    this.#cancel.abort()
    this.#live?.kill()
    this.#ahead.kill()
  }

  /** What a killed runner had begun to end. */
  ending(): Over | null {
    return endingOf(this.#job)
  }

  async #carry(): Promise<Over> {
    // Whatever a killed runner left would work on beside the session that goes on.
    await endProcesses(this.#jobId)
    const { spec, workspace } = this.#job
    const wish = { jobId: this.#jobId, agentName: spec.agentName, workItem: spec.workItem, folder: spec.folder }
    record(this.#parts, this.#jobId, {
      workspace: await setUpWorkspace({ ...wish, workspace: spec.workspace, known: workspace }, { env: this.#env() }),
    })
    // A limit lasts, whoever waits for its end.
    const { waitUntil } = this.#job
    if (waitUntil !== null) await this.#waitUntil(waitUntil)
    for (;;) {
      const stopped = this.stopped()
      if (stopped !== null) return stopped
      const next = await this.#timed(() => this.#attempt())
      if (next.do === 'end') return next
      if (next.do === 'resume') await this.#rest(next.after)
      if (next.do === 'wait') await this.#waitUntil(next.until)
    }
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    this.#clock.start()
    try {
      return await work()
    } finally {
      this.#clock.stop()
    }
  }

  /** null: no person wants anything else. */
  stopped(): Over | null {
    const { wanted } = this.#job
    return wanted === null ? null : (nextAfter(this.#job, { how: 'stopped', wanted }, this.#parts.now()) as Over)
  }

  /** One session to its end. Returns what the job does next; a handoff is done here. */
  async #attempt(): Promise<Next> {
    const { store } = this.#parts
    const last = lastBegun(store.attempts(this.#jobId))
    const plan = planAttempt(last, last !== null && this.#prompts.wasHeard(last))
    const hostOf = (attempt: AttemptRecord): AttemptHost =>
      new AttemptHost(this.#parts, attempt, this.#prompts.journal, this.#around)
    const spent = last && hostOf(last).mustStop() // not overdrawn by one more request
    if (spent) return nextAfter(this.#job, spent, this.#parts.now())
    if (plan.do === 'hand-off') {
      const then = await this.#handOver(hostOf(last!), null, { how: 'full' })
      return then === 'as-it-is' ? { do: 'resume', after: 0 } : then
    }
    const isFresh = plan.do !== 'resume'
    const ahead = last === null ? null : await this.#ahead.of(last)
    const again = isFresh && ahead === null && last !== null && wasStarted(last)
    const attempt = ahead?.host.attempt ?? (plan.do === 'begin' ? this.#firstAttempt() : again ? this.#underNewId(last) : last!)
    const host = ahead?.host ?? hostOf(attempt)
    const prompt = isFresh ? await this.#prompts.first(attempt) : this.#prompts.resume(attempt)
    const stopped = this.stopped()
    if (stopped !== null) return stopped
    const live = await this.#open(host, isFresh ? { how: 'fresh' } : { how: 'resume' }, attempt.sessionId, ahead?.live)
    try {
      return await this.#work(host, live, prompt)
    } finally {
      await this.#close(live, host)
      host.journal.close()
    }
  }

  async #work(host: AttemptHost, live: LiveSession, first: string): Promise<Next> {
    const { spec } = this.#job
    const { silenceMs, sessionTimeoutMs: turnMs, backgroundMs = silenceMs } = spec
    const bounds = { silenceMs, turnMs, backgroundMs: Math.min(silenceMs, backgroundMs) }
    host.put({ state: 'prompted', process: live.process })
    await live.ready()
    for (let prompt = first; ; ) {
      const spent = host.mustStop()
      const before = host.attempt.turns
      const ended = spent ?? (await live.turn(prompt, 'work', bounds))
      const outcome = ofNobody(ended, host.attempt.turns - before, prompt, before === 0) ?? ended
      // A client that is killed for a person is no failure.
      const stopped = this.stopped()
      const next = stopped?.state === 'cancelled' ? stopped : nextAfter(this.#job, outcome, this.#parts.now())
      if (next.do === 'check' && outcome.how === 'done') {
        const checked = await this.#check(outcome.text)
        if (typeof checked !== 'string') return this.#leave(host, checked)
        prompt = checked
      } else if (next.do === 'hand-off') {
        const then = await this.#handOver(host, live, outcome)
        if (then !== 'as-it-is') return then
        prompt = '[baton] Go on with the job where you were.'
      } else return this.#leave(host, next, outcome)
    }
  }

  /** What is told of it outlasts the session. */
  #leave(host: AttemptHost, next: Next, outcome?: Outcome): Next {
    const { state, turns } = host.attempt
    // One that may never have heard its prompt cannot be opened again: whether it did is looked for when the job goes on.
    const after = state === 'prompted' && turns === 0 ? 'prompted' : 'over'
    const detail = detailOf(outcome)
    if (next.do === 'end') host.put({ state: after, endedAt: this.#parts.now().toISOString(), process: null })
    else record(this.#parts, this.#jobId, { ...counted(this.#job, outcome), detail }, this.#again(next, detail))
    return next
  }

  /** What is tried again is told, with what went wrong; a limit tells it itself. */
  #again(next: Next, detail: string): Happening[] {
    if (next.do !== 'resume' || next.after === 0) return []
    const until = new Date(this.#parts.now().getTime() + next.after).toISOString()
    return [{ type: 'job_waiting', data: { until, reason: `${detail}${detail === '' ? '' : '; '}it is tried again` } }]
  }

  #check(result: string): Promise<string | Over> {
    const ground = { ...this.#ground, outputs: join(this.#folder, 'checks') }
    return checkJob(this.#parts, this.#jobId, { result, ground, stopped: () => this.stopped() })
  }

  /** `as-it-is`: a hook said that the session goes on. */
  async #handOver(host: AttemptHost, live: LiveSession | null, outcome: Outcome): Promise<Next | 'as-it-is'> {
    const { attempt } = host
    // Who was asked for a brief already has heard what hooks decided, and so have they.
    const isAsked = attempt.state === 'asked'
    if (!isAsked) host.put({ state: 'stopped' })
    const begun = { type: 'handoff_started' as const, data: handoffFields(this.#job, attempt, null) }
    record(this.#parts, this.#jobId, { state: 'handing-off' }, isAsked ? [] : [begun])
    const said = isAsked ? 'handoff' : await this.#hooks.whenFull(attempt)
    // A hook that a person's wish cut off has decided nothing: it is asked again.
    const stopped = this.stopped()
    if (stopped !== null) return stopped
    // What no longer fits cannot go on.
    const decision = said === 'continue' && outcome.how === 'too-long' ? 'handoff' : said
    if (decision === 'continue') {
      host.lets = true
      host.put({ state: 'working' })
      record(this.#parts, this.#jobId, { state: 'running' })
      return 'as-it-is'
    }
    if (decision === 'handoff') host.put({ state: 'asked' })
    const given =
      decision === 'abort'
        ? { brief: this.#parts.briefs.write(attempt.sessionId, 'A hook ended the session.') }
        : await askBrief(this.#parts, {
            ...{ job: this.#job, attempt, live, tooLong: outcome.how === 'too-long', earlier: host.earlierAnswer() },
            ...{ silenceMs: this.#job.spec.silenceMs, mustStop: () => host.mustStop() },
            ...{ untold: (hides) => this.#prompts.untold(attempt, hides) },
            ...{ open: (at) => this.#openAgain(host, at), given: () => this.#ahead.start(attempt) },
          })
    if ('instead' in given) {
      await this.#ahead.drop()
      const next = nextAfter(this.#job, given.instead, this.#parts.now())
      if (next.do !== 'end')
        record(this.#parts, this.#jobId, { ...counted(this.#job, given.instead), detail: detailOf(given.instead) })
      return next
    }
    if (live === null) this.#parts.left(attempt)
    this.#parts.keep(attempt.sessionId)
    const { store } = this.#parts
    const waits = await this.#ahead.fits()
    store.transaction(() => {
      host.put({ state: 'over', endedAt: this.#parts.now().toISOString(), process: null })
      const next = nextAttempt(this.#parts, attempt, { state: 'starting', briefId: given.brief.briefId }, waits)
      const data = {
        ...handoffFields(this.#job, attempt, next.sessionId),
        brief_id: given.brief.briefId,
        coverage: given.brief.coverage?.score ?? null,
      }
      record(
        this.#parts,
        this.#jobId,
        { state: 'running', handoffs: this.#job.handoffs + 1, sessionId: next.sessionId, ...NO_FAILURES },
        [{ type: 'handoff_completed', data, sessionId: attempt.sessionId }],
      )
    })
    return { do: 'resume', after: 0 }
  }

  #firstAttempt(): AttemptRecord {
    const attempt = freshAttempt(this.#parts, this.#jobId, 1, null)
    this.#parts.store.transaction(() => {
      this.#parts.store.putAttempt(attempt)
      record(this.#parts, this.#jobId, { sessionId: attempt.sessionId })
    })
    return attempt
  }

  /** The client may have made something of the first one. */
  #underNewId(attempt: AttemptRecord): AttemptRecord {
    const moved = recordAttempt(this.#parts, attempt, { sessionId: this.#parts.newSessionId(), state: 'starting' })
    record(this.#parts, this.#jobId, { sessionId: moved.sessionId })
    return moved
  }

  #env(): Record<string, string> {
    return environmentOf(this.#parts, this.#job)
  }

  async #close(live: LiveSession, { attempt }: AttemptHost): Promise<void> {
    await live.close()
    if (this.#live === live) this.#live = null
    if (live.sessionId === attempt.sessionId) this.#parts.left(attempt)
  }

  async #open(host: AttemptHost, begin: SessionWish['begin'], sessionId: string, ready?: LiveSession): Promise<LiveSession> {
    const live = ready ?? (await startSession(this.#parts, host, { begin, sessionId }, this.#keep))
    this.#live = live
    if (ready) this.#ahead.taken()
    host.put({ process: live.process })
    if (sessionId === host.attempt.sessionId) this.#parts.began(host.attempt, begin.how === 'fresh' ? 'startup' : 'resume')
    return live
  }

  /** For its brief alone. A copy has an id of its own. */
  async #openAgain(host: AttemptHost, at: string | null): Promise<LiveSession | null> {
    const { sessionId } = host.attempt
    try {
      if (at === null) return await this.#open(host, { how: 'resume' }, sessionId)
      return await this.#open(host, { how: 'fork', from: sessionId, at }, this.#parts.newSessionId())
    } catch (error) {
      this.#parts.log('warn', 'a session could not be opened again', { job: this.#jobId, reason: reasonOf(error) })
      return null
    }
  }

  async #waitUntil(until: string): Promise<void> {
    record(this.#parts, this.#jobId, { state: 'waiting', waitUntil: until }, [
      { type: 'job_waiting', data: { until, reason: this.#job.detail } },
    ])
    await this.#rest(Date.parse(until) - this.#parts.now().getTime())
    if (this.#job.wanted === null)
      record(this.#parts, this.#jobId, { state: 'running', waitUntil: null }, [{ type: 'job_resumed', data: {} }])
  }

  /** Until a person wants something else. */
  async #rest(ms: number): Promise<void> {
    const until = Date.now() + ms
    while (Date.now() < until && this.#job.wanted === null)
      await new Promise((resolve) => setTimeout(resolve, Math.min(500, Math.max(1, until - Date.now()))))
  }

  async finish(over: Over): Promise<JobRecord> {
    return this.#closed(await finishJob(this.#parts, this.#jobId, this.#hooks, over))
  }

  async sayEnd(): Promise<JobRecord> {
    return this.#closed(await sayEndOf(this.#parts, this.#jobId, this.#hooks))
  }

  #closed(job: JobRecord): JobRecord {
    this.#log.close()
    return job
  }
}
