import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AttemptRecord, JobRecord } from '../contract/job.js'
import { BatonError, codeOf, EXIT, reasonOf } from '../lib/errors.js'
import { isAlive, processInfo } from '../lib/process-info.js'
import { askBrief } from './ask-brief.js'
import { AttemptHost } from './attempt-host.js'
import { failedText } from './checks/failed-text.js'
import { runChecks } from './checks/run-checks.js'
import { contextOf, decisionOf } from './hooks/answers.js'
import { hooksFor } from './hooks/applies.js'
import { endEvent, endPayload, type HookPayload, sessionStartPayload, thresholdPayload } from './hooks/payloads.js'
import { runHooks } from './hooks/run-hooks.js'
import { isOver, type Next, nextAfter, whyNotResumed } from './job.js'
import { notTold, readJournal } from './journal.js'
import { LiveSession } from './live-session.js'
import type { Outcome } from './outcome.js'
import { type JobParts, record, recordAttempt } from './parts.js'
import { planAttempt } from './plan-attempt.js'
import { endProcesses } from './processes.js'
import { freshPrompt, resumePrompt } from './prompts.js'
import type { SessionWish } from './runtimes/runtime.js'
import { setUpWorkspace } from './workspace/set-up.js'
import { tearDownWorkspace } from './workspace/tear-down.js'

type Over = Extract<Next, { do: 'end' }>

/**
 * Carries a job on, from whatever is stored of it, until it is over, paused, or somebody else's. Whatever is done is stored before; a
 * runner that is killed leaves a job that the next one goes on with.
 */
export async function runJob(parts: JobParts, jobId: string): Promise<JobRecord> {
  claim(parts, jobId)
  const run = new JobRun(parts, jobId)
  let over: Over
  try {
    over = await run.toItsEnd()
  } catch (error) {
    parts.log('error', 'a job could not be carried on', { job: jobId, reason: reasonOf(error) })
    over = { do: 'end', state: 'failed', reason: 'error', detail: reasonOf(error) }
  }
  return run.finish(over)
}

/** One process at a time. */
function claim(parts: JobParts, jobId: string): void {
  const self = processInfo(process.pid)!
  parts.store.transaction(() => {
    const job = parts.store.job(jobId)
    if (job === null) throw new BatonError(`There is no job ${jobId}.`, 'baton jobs list shows them.', EXIT.notFound)
    const why = whyNotResumed(job)
    if (why !== null) throw new BatonError(`Job ${jobId} cannot go on: ${why}.`, 'baton run begins another.', EXIT.refused)
    if (job.runner && isAlive(job.runner) && job.runner.pid !== self.pid)
      throw new BatonError(
        `Job ${jobId} is run by process ${job.runner.pid} already.`,
        'baton jobs logs --follow shows it.',
        EXIT.refused,
      )
    const runner = { pid: self.pid, startedAt: self.startedAt }
    parts.store.putJob({ ...job, runner })
  })
  const first = parts.store.job(jobId)!.startedAt === null
  const at = parts.now().toISOString()
  const fresh = first ? { startedAt: at } : {}
  record(
    parts,
    jobId,
    { ...fresh, state: 'running', wanted: null, exitReason: null, endedAt: null, detail: '', waitUntil: null },
    [{ type: first ? 'job_started' : 'job_resumed', data: {} }],
  )
}

class JobRun {
  readonly #parts: JobParts
  readonly #jobId: string
  readonly #folder: string

  constructor(parts: JobParts, jobId: string) {
    this.#parts = parts
    this.#jobId = jobId
    this.#folder = parts.folderOf(jobId)
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  get #job(): JobRecord {
    return this.#parts.store.job(this.#jobId)!
  }

  get #ground() {
    return { cwd: this.#job.workspace?.folder ?? this.#job.spec.folder, env: this.#env(), jobId: this.#jobId }
  }

  async toItsEnd(): Promise<Over> {
    // Whatever a killed runner left would work on beside the session that goes on.
    await endProcesses(this.#jobId)
    const { spec, workspace } = this.#job
    const wish = { jobId: this.#jobId, agentName: spec.agentName, workItem: spec.workItem, folder: spec.folder }
    record(this.#parts, this.#jobId, {
      workspace: await setUpWorkspace({ ...wish, workspace: spec.workspace, known: workspace }, { env: this.#env() }),
    })
    for (;;) {
      const { wanted } = this.#job
      if (wanted !== null) return nextAfter(this.#job, { how: 'stopped', wanted }, this.#parts.now()) as Over
      const next = await this.#attempt()
      if (next.do === 'end') return next
      if (next.do === 'resume') await this.#rest(next.after)
      if (next.do === 'wait') await this.#waitUntil(next.until)
    }
  }

  /** One session to its end. Returns what the job does next; a handoff is done here. */
  async #attempt(): Promise<Next> {
    const { store } = this.#parts
    const last = store.attempts(this.#jobId).at(-1) ?? null
    const plan = planAttempt(last, last !== null && this.#wasHeard(last))
    if (plan.do === 'hand-off') return this.#handOver(new AttemptHost(this.#parts, last!, this.#journal), null, { how: 'full' })
    const isFresh = plan.do !== 'resume'
    const attempt = plan.do === 'begin' ? this.#newAttempt(1, null) : isFresh ? this.#underNewId(last!) : last!
    const host = new AttemptHost(this.#parts, attempt, this.#journal)
    const prompt = isFresh ? await this.#firstPrompt(attempt) : this.#resumePrompt(attempt)
    const begun = Date.now()
    const live = await this.#open(host, isFresh ? { how: 'fresh' } : { how: 'resume' }, attempt.sessionId)
    try {
      return await this.#work(host, live, prompt)
    } finally {
      await live.close()
      host.journal.close()
      record(this.#parts, this.#jobId, { ranMs: this.#job.ranMs + Date.now() - begun })
    }
  }

  async #work(host: AttemptHost, live: LiveSession, first: string): Promise<Next> {
    const { spec } = this.#job
    const bounds = { silenceMs: spec.silenceMs, turnMs: spec.sessionTimeoutMs }
    const usage = await live.usage()
    host.put({ state: 'prompted', process: live.process, ...(usage && { windowTokens: usage.window, pointTokens: usage.point }) })
    for (let prompt = first; ; ) {
      const outcome = await live.turn(prompt, 'work', bounds)
      const next = nextAfter(this.#job, outcome, this.#parts.now())
      if (next.do === 'check' && outcome.how === 'done') {
        const checked = await this.#check(outcome.text)
        if (typeof checked !== 'string') return this.#leave(host, checked)
        prompt = checked
      } else if (next.do === 'hand-off') {
        const then = await this.#handOver(host, live, outcome)
        if (then.do !== 'resume' || !host.lets) return then
        prompt = '[baton] Go on with the job where you were.'
      } else return this.#leave(host, next, outcome)
    }
  }

  /** What is told of it outlasts the session. */
  #leave(host: AttemptHost, next: Next, outcome?: Outcome): Next {
    if (next.do === 'end') host.put({ state: 'over', endedAt: this.#parts.now().toISOString(), process: null })
    else record(this.#parts, this.#jobId, { failures: this.#job.failures + 1, detail: detailOf(outcome) })
    return next
  }

  /** The prompt that goes back to the agent, or how the job ends. */
  async #check(result: string): Promise<string | Over> {
    const { spec, checkRound } = this.#job
    const round = checkRound + 1
    record(this.#parts, this.#jobId, { checkRound: round, result })
    const checks = await runChecks(spec.checks, { ...this.#ground, round, outputs: join(this.#folder, 'checks') })
    record(this.#parts, this.#jobId, { checks: [...this.#job.checks.filter((one) => one.round !== round), ...checks] })
    const bad = checks.filter(({ ok }) => !ok)
    if (bad.length === 0) return { do: 'end', state: 'completed', reason: 'success', detail: '' }
    const names = bad.map(({ name }) => name).join(', ')
    if (round > spec.checkRounds)
      return { do: 'end', state: 'failed', reason: 'error', detail: `after ${round} rounds these checks do not pass: ${names}` }
    return failedText(checks)
  }

  /** `resume` with `lets`: the session goes on as it is. */
  async #handOver(host: AttemptHost, live: LiveSession | null, outcome: Outcome): Promise<Next> {
    const { attempt } = host
    host.put({ state: 'stopped' })
    record(this.#parts, this.#jobId, { state: 'handing-off' }, [
      { type: 'handoff_started', data: this.#handoffFields(attempt, null) },
    ])
    const decision = await this.#decide(attempt, outcome)
    if (decision === 'continue') {
      host.lets = true
      host.put({ state: 'working' })
      record(this.#parts, this.#jobId, { state: 'running' })
      return { do: 'resume', after: 0 }
    }
    host.put({ state: 'asked' })
    const brief =
      decision === 'abort'
        ? this.#parts.briefs.write(attempt.sessionId, 'A hook ended the session.')
        : await askBrief(this.#parts, {
            ...{ job: this.#job, attempt, live, tooLong: outcome.how === 'too-long', earlier: host.earlierAnswer() },
            silenceMs: this.#job.spec.silenceMs,
            open: (at) => this.#openAgain(host, at),
          })
    const { wanted } = this.#job
    if (brief === null) return nextAfter(this.#job, { how: 'stopped', wanted: wanted ?? 'pause' }, this.#parts.now())
    this.#parts.keep(attempt.sessionId)
    const { store } = this.#parts
    store.transaction(() => {
      host.put({ state: 'over', endedAt: this.#parts.now().toISOString(), process: null, briefId: attempt.briefId })
      const next = this.#newAttempt(attempt.number + 1, brief.briefId)
      const data = {
        ...this.#handoffFields(attempt, next.sessionId),
        brief_id: brief.briefId,
        coverage: brief.coverage?.score ?? null,
      }
      record(
        this.#parts,
        this.#jobId,
        { state: 'running', handoffs: this.#job.handoffs + 1, sessionId: next.sessionId, failures: 0 },
        [{ type: 'handoff_completed', data, sessionId: attempt.sessionId }],
      )
    })
    return { do: 'resume', after: 0 }
  }

  async #decide(attempt: AttemptRecord, outcome: Outcome): Promise<'abort' | 'handoff' | 'continue'> {
    const hooks = hooksFor(this.#job.spec.hooks, 'context_threshold')
    if (hooks.length === 0) return 'handoff'
    const { usedTokens, windowTokens: window, pointTokens: point } = attempt
    const model = this.#job.spec.model
    const payload = thresholdPayload(this.#job, attempt.sessionId, { used: usedTokens ?? 0, window, point, model })
    const { decision, reason } = decisionOf(await runHooks(hooks, 'context_threshold', payload, this.#ground))
    this.#parts.log('info', 'hooks decided about a full session', { job: this.#jobId, decision, reason })
    // What no longer fits cannot go on.
    return decision === 'continue' && outcome.how === 'too-long' ? 'handoff' : decision
  }

  #handoffFields(attempt: AttemptRecord, newSessionId: string | null): Record<string, unknown> {
    const { usedTokens, windowTokens } = attempt
    return {
      ...{ agentName: this.#job.spec.agentName, jobId: this.#jobId, oldSessionId: attempt.sessionId, newSessionId },
      usagePercent: usedTokens === null || windowTokens === null ? null : usedTokens / windowTokens,
      ...{ inputTokens: usedTokens, contextWindow: windowTokens, handoffNumber: this.#job.handoffs + 1 },
    }
  }

  get #journal(): string {
    return join(this.#folder, 'journal.jsonl')
  }

  #wasHeard(attempt: AttemptRecord): boolean {
    if (readJournal(this.#journal).some(({ sessionId }) => sessionId === attempt.sessionId)) return true
    const prompt = this.#keptPrompt(attempt)
    return prompt !== null && this.#parts.heard(attempt.sessionId, prompt)
  }

  #newAttempt(number: number, briefId: string | null): AttemptRecord {
    const attempt: AttemptRecord = {
      ...{ attemptId: `attempt_${this.#parts.newId()}`, jobId: this.#jobId, sessionId: this.#parts.newSessionId(), number },
      ...{ start: briefId === null ? 'fresh' : 'brief', briefId, state: 'starting', process: null, transcriptPath: null },
      ...{ startedAt: this.#parts.now().toISOString(), endedAt: null, terminal: null },
      ...{ usedTokens: null, windowTokens: null, pointTokens: null, turns: 0, costUsd: null, compactions: 0 },
      spend: { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 },
    }
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

  #promptPath({ number }: AttemptRecord): string {
    return join(this.#folder, `prompt-${number}.md`)
  }

  #keptPrompt(attempt: AttemptRecord): string | null {
    try {
      return readFileSync(this.#promptPath(attempt), 'utf8')
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    }
  }

  /** Made once, hooks included, and kept before it is said. */
  async #firstPrompt(attempt: AttemptRecord): Promise<string> {
    const kept = this.#keptPrompt(attempt)
    if (kept !== null) return kept
    const { store, briefs, repository } = this.#parts
    const { spec, handoffs } = this.#job
    const brief = attempt.briefId === null ? null : store.brief(attempt.briefId)
    const text = brief === null ? null : briefs.read(brief)
    if (brief !== null && text === null)
      throw new BatonError(`The brief in ${brief.path} is gone or was changed.`, '', EXIT.failed)
    const given = {
      task: spec.prompt,
      brief: text === null ? null : { text, number: handoffs, of: spec.maxHandoffs },
      repository: text === null ? null : repository(this.#ground.cwd),
    }
    const before = store.attempts(this.#jobId).find(({ number }) => number === attempt.number - 1)?.sessionId ?? null
    const plain = freshPrompt({ ...given, before: '' })
    const words = await this.#hooked('session_start', sessionStartPayload(this.#job, attempt.sessionId, before, plain))
    const prompt = freshPrompt({ ...given, before: words })
    writeFileSync(this.#promptPath(attempt), prompt, { mode: 0o600, flush: true })
    if (brief)
      store.putBrief({ ...brief, status: 'used', usedAt: this.#parts.now().toISOString(), usedBySessionId: attempt.sessionId })
    return prompt
  }

  #resumePrompt(attempt: AttemptRecord): string {
    const calls = notTold(readJournal(this.#journal), attempt.sessionId, this.#parts.told(attempt.sessionId))
    return resumePrompt(calls, this.#job.detail || 'whoever ran it was ended')
  }

  async #hooked(event: 'session_start' | ReturnType<typeof endEvent>, payload: HookPayload): Promise<string> {
    const run = await runHooks(hooksFor(this.#job.spec.hooks, event), event, payload, this.#ground)
    for (const { name, error } of run.results)
      if (error !== null) this.#parts.log('warn', 'a hook failed', { job: this.#jobId, hook: name, reason: error })
    return contextOf(run)
  }

  #env(): Record<string, string> {
    const { jobId, seatId, spec } = this.#job
    return { ...this.#parts.env, ...spec.env, BATON_JOB_ID: jobId, BATON_SEAT: seatId }
  }

  async #open(host: AttemptHost, begin: SessionWish['begin'], sessionId: string): Promise<LiveSession> {
    const { spec } = this.#job
    const runtime = await this.#parts.runtime(spec.runtime, spec.folder)
    const missing = runtime.missing()
    if (missing !== null) throw new BatonError(missing, '', EXIT.failed)
    const { attempt } = host
    const live = new LiveSession(
      runtime,
      {
        ...{ sessionId, begin, cwd: this.#ground.cwd, env: this.#env(), model: spec.model, permissionMode: spec.permissionMode },
        ...{
          allowedTools: spec.allowedTools,
          disallowedTools: spec.disallowedTools,
          appendSystemPrompt: spec.appendSystemPrompt,
        },
        ...{ maxTurns: null, maxBudgetUsd: null, compacts: true },
      },
      host,
    )
    live.onRaw((line) => this.#parts.observe(line, attempt))
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
    await endProcesses(this.#jobId)
    const at = this.#parts.now().toISOString()
    const ended = isOver(over.state)
    const { workspace, spec } = this.#job
    const notes: string[] = []
    if (ended && workspace) {
      const title = spec.workItem ?? spec.prompt.split('\n', 1)[0]!.slice(0, 70)
      const words = { title, body: this.#job.result ?? '' }
      const torn = await tearDownWorkspace(
        { workspace: spec.workspace, state: workspace, success: over.state === 'completed', words },
        { env: this.#env() },
      )
      notes.push(...torn.notes)
    }
    const detail = [over.detail, ...notes].filter((part) => part !== '').join('; ')
    const change = { state: over.state, exitReason: over.reason, detail, wanted: null, waitUntil: null, runner: null }
    const type = `job_${over.state}` as 'job_completed' | 'job_failed' | 'job_cancelled' | 'job_paused'
    const job = record(this.#parts, this.#jobId, { ...change, endedAt: ended ? at : null }, [
      { type, data: { exit_reason: over.reason, detail, handoffs: this.#job.handoffs } },
    ])
    if (ended) await this.#hooked(endEvent(job), endPayload(job))
    return job
  }
}

function detailOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return ''
  if ('detail' in outcome) return outcome.detail
  return outcome.how === 'stalled' ? 'the client said nothing any more' : outcome.how
}
