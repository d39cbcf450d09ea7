import type { EventData } from '../contract/api/event-data.js'
import type { Usage } from '../contract/reading.js'
import type { AttemptRecord, JobLevel } from '../contract/records/job.js'
import type { ContextUsage, RuntimeMessage, ToolResult } from '../contract/runtime.js'
import { contextPercentages } from '../policy/percent.js'
import { holdGrowth, tokensPerStep } from '../tracker/forecast.js'
import { type JobDependencies, recordAttempt, recordJob } from './dependencies.js'
import { NO_FAILURES } from './job.js'
import {
  type ContextGrowth,
  findCrossings,
  handoffLevelAt,
  hasRoomForBatch,
  isSessionFull,
  levelText,
  stopAtTokens,
} from './job-levels.js'
import { CallJournal, readAnswers } from './journal.js'
import type { SessionHost } from './live-session.js'
import type { Outcome } from './outcome.js'
import { addUsage, ownSpend, SpendTracker, totalTokensOf } from './spend-tracker.js'
import { attemptsToShow } from './view-job.js'

/** Messages that end a retry: an answer, the client giving up, or the session being reopened. */
const ENDS_RETRY: ReadonlySet<RuntimeMessage['kind']> = new Set(['answer', 'result', 'started'])
const NO_EDITS = { made: 0, denied: 0 }

/** Steps from which the token growth is computed: as many as the readings that a session keeps. */
const RECENT_STEPS = 15

/** Answer at which a copy (fork) of a session ends, and the calls whose results the copy lacks. */
export interface CutPoint {
  at: string
  hiddenCalls: string[]
}

/** Callbacks from an attempt to the job around it. */
export interface AttemptCallbacks {
  /** Returns how long the job has run. */
  ranMs(): number
  /** Runs the hooks of a level that was reached; the session does not wait for them. */
  runLevelHooks(level: JobLevel, attempt: AttemptRecord): void
}

/** Tracks one session of a job: stores usage and spend as they grow, and decides at every batch. */
export class AttemptHost implements SessionHost {
  readonly journal: CallJournal
  readonly log
  private readonly deps: JobDependencies
  private current: AttemptRecord
  private growth: number[] = []
  /** Tokens per step that forecasts use. Null until a step has added tokens. */
  private perStep: number | null = null
  /** Usage of the last answer and the calls it made. */
  private newest: { used: number; tokens: number; usage: Usage; calls: ReadonlySet<string> } | null = null
  /**
   * True until the next cycle when a full session may continue.
   * A hook said so, or the job has no handoff left.
   */
  runsWhenFull = false
  /** Text of a level that the agent receives with the next batch. */
  private pendingLevelText = ''
  private readonly workedBefore: number
  private readonly startedAt: number
  private readonly spendTracker: SpendTracker

  constructor(
    deps: JobDependencies,
    attempt: AttemptRecord,
    journalPath: string,
    private readonly context: AttemptCallbacks,
  ) {
    this.deps = deps
    this.log = deps.log
    this.current = attempt
    this.workedBefore = attempt.workedMs ?? 0
    this.startedAt = deps.now().getTime()
    this.spendTracker = new SpendTracker(attempt)
    this.growth = [...(attempt.growth ?? [])]
    this.journal = new CallJournal(journalPath)
  }

  get attempt(): AttemptRecord {
    return this.current
  }

  now(): Date {
    return this.deps.now()
  }

  put(change: Partial<AttemptRecord>): void {
    this.current = recordAttempt(this.deps, this.current, change)
  }

  receiveMessage(message: RuntimeMessage): void {
    if (message.kind === 'answer') this.recordAnswer(message)
    if (message.kind === 'started') this.spendTracker.startClient(this.current)
    if (message.kind === 'result') {
      const refused = Math.max(this.current.refused ?? 0, message.denied ?? 0)
      const spend = ownSpend(message.spend, this.current.carried)
      const workedMs = this.workedMs()
      const endTurn = this.spendTracker.endTurn(this.current, spend)
      this.put({ terminal: message.terminal, refused, workedMs, ...endTurn, ...this.usedAtTurnEnd() })
    }
    if (message.kind === 'compacted') {
      this.growth = []
      this.perStep = null
      this.newest = null
      this.runsWhenFull = false
      this.put({ compactions: this.current.compactions + 1, crossed: [], growth: [] })
      const job = this.deps.store.job(this.current.jobId)!
      recordJob(this.deps, job.jobId, { compactions: job.compactions + 1 })
    }
    if (message.kind === 'denied') this.recordDenial(message.edits === true)
    if (message.kind === 'retry') this.recordRetry(message)
    else if (ENDS_RETRY.has(message.kind)) this.endRetry()
  }

  private recordAnswer({ usage, calls }: Extract<RuntimeMessage, { kind: 'answer' }>): void {
    const used = usage === null ? null : usage.input + usage.cacheCreation + usage.cacheRead
    const made = calls.map(({ id }) => id)
    if (used !== null) this.recordGrowth(used - (this.newest?.used ?? used))
    this.newest =
      usage === null || used === null ? null : { used, tokens: used + usage.output, usage, calls: new Set(made) }
    this.put({
      turns: this.current.turns + 1,
      growth: this.growth,
      ...(usage === null ? {} : { spend: addUsage(this.current.spend, usage) }),
    })
  }

  /**
   * The token count of the turn's last answer, which no later batch would measure.
   * Events of a handoff carry the count at its begin, not that of the answer with the brief.
   * The session's own record shows the count of its last answer, even if that is the brief.
   * After a restart from an earlier answer, the session has fewer tokens again.
   */
  private usedAtTurnEnd(): Pick<AttemptRecord, 'usedTokens'> | null {
    if (this.newest === null) return null
    const { state, usedTokens: before } = this.current
    const isWork = state === 'prompted' || state === 'working'
    return isWork || this.newest.used > (before ?? 0) ? { usedTokens: this.newest.used } : null
  }

  private recordGrowth(by: number): void {
    if (by <= 0) return
    this.growth = [...this.growth, by].slice(-RECENT_STEPS)
    this.perStep = holdGrowth(climbOf(this.growth), this.perStep)
  }

  private recordRetry({
    attempt,
    most,
    status,
    delayMs,
    reason: said,
  }: Extract<RuntimeMessage, { kind: 'retry' }>): void {
    const until = new Date(this.deps.now().getTime() + delayMs).toISOString()
    const reason = retryReason(status, said)
    recordJob(this.deps, this.current.jobId, { retry: { reason, attempt, most, until } })
    this.reportProgress({ waiting: reason, attempt, max_attempts: most, delay_ms: delayMs, until })
  }

  private endRetry(): void {
    const { jobId, retry } = this.deps.store.job(this.current.jobId)!
    if (retry) recordJob(this.deps, jobId, { retry: null })
  }

  recordEdit(): void {
    const { edits = NO_EDITS, jobId } = this.deps.store.job(this.current.jobId)!
    recordJob(this.deps, jobId, { edits: { ...edits, made: edits.made + 1 } })
  }

  private recordDenial(isEdit: boolean): void {
    this.put({ refused: (this.current.refused ?? 0) + 1 })
    const { edits = NO_EDITS, jobId } = this.deps.store.job(this.current.jobId)!
    if (isEdit) recordJob(this.deps, jobId, { edits: { ...edits, denied: edits.denied + 1 } })
    this.reportProgress({})
  }

  hasRoom(calls: readonly ToolResult[]): boolean {
    const { pointTokens: point, windowTokens: window, state, jobId } = this.current
    const newest = this.newest
    // Return false without a first measurement.
    // Return false also when the answer that made these calls is not read yet.
    if (state !== 'working' || newest === null || !calls.every(({ id }) => newest.calls.has(id))) return false
    const { spec } = this.deps.store.job(jobId)!
    const climb: ContextGrowth = {
      point,
      window,
      remaining: spec.handoffAtRemaining,
      growth: this.growth,
      level: handoffLevelAt(spec, { window, point }),
    }
    const bytes = calls.reduce((all, { result }) => all + Buffer.byteLength(JSON.stringify(result) ?? ''), 0)
    return hasRoomForBatch(newest.tokens, bytes, climb)
  }

  recordStart(usage: ContextUsage): void {
    this.deps.recordUsage(usage, this.current)
    if (this.current.pointTokens === null) this.put({ windowTokens: usage.window, pointTokens: usage.point })
  }

  recordUsage(usage: ContextUsage): { full: boolean } {
    const before = this.current.usedTokens
    // Answers tell how many tokens each batch added.
    // Without answers, two measurements are compared.
    if (this.newest === null && before !== null) this.recordGrowth(usage.used - before)
    const growth = [...this.growth, usage.used - (this.newest?.used ?? usage.used)]
    const { window: windowTokens, point: pointTokens } = usage
    const usedTokens = usage.answered ?? usage.used
    const workedMs = this.workedMs()
    this.put({ state: 'working', usedTokens, windowTokens, pointTokens, growth: this.growth, workedMs })
    this.deps.recordUsage(usage, this.current)
    // A returned batch proves that the session works again, so reset the failure counters.
    const job = this.deps.store.job(this.current.jobId)!
    if (job.failures || job.stalls || job.waits) recordJob(this.deps, job.jobId, NO_FAILURES)
    const { spec } = job
    const level = handoffLevelAt(spec, usage)
    const climb = { point: usage.point, window: usage.window, remaining: spec.handoffAtRemaining, growth, level }
    const ends = job.handoffs < spec.maxHandoffs || (spec.afterMaxHandoffs === 'stop' && spec.maxHandoffs > 0)
    const stops = ends && !this.runsWhenFull
    this.crossLevels(usage, spec.levels ?? [])
    this.reportProgress({
      full_at: stops ? stopAtTokens(climb) : usage.point,
      tokens_per_step: tokensPerStep({ seen: climbOf(this.growth), perStep: this.perStep }),
    })
    return { full: stops && isSessionFull(usage.used, climb) }
  }

  /** Runs the actions of levels that were reached, except handoffs, which `isFull` handles. */
  private crossLevels(usage: ContextUsage, levels: readonly JobLevel[]): void {
    const before = this.current.crossed ?? []
    const found = findCrossings(levels, usage, before)
    if (found.length === 0) return
    this.put({ crossed: [...before, ...found.map(({ name }) => name)] })
    const { jobId } = this.current
    const percent = usage.point === null ? null : Math.round((usage.used / usage.point) * 1000) / 10
    const pausing = found.findLast(({ actions }) => actions.includes('pause'))
    const isFree = this.deps.store.job(jobId)!.wanted === null
    this.pendingLevelText = levelText(found, usage)
    recordJob(this.deps, jobId, pausing && isFree ? { wanted: 'pause', wantedBy: pausing.name } : {}, [
      ...found.map(({ name, at_tokens, actions }) => ({
        type: 'level_crossed' as const,
        data: { level: name, at_tokens, used_tokens: usage.used, compaction_percent: percent, actions, of_job: true },
      })),
      ...found.map((level) => ({ type: 'context_warning' as const, data: this.warningAt(level, usage) })),
    ])
    for (const level of found) if (level.hooks.length > 0) this.context.runLevelHooks(level, this.current)
  }

  private warningAt(level: JobLevel, { used, window, point }: ContextUsage): EventData['context_warning'] {
    const answer = this.newest?.usage
    return {
      ...contextPercentages(used, point),
      inputTokens: answer?.input ?? null,
      cacheTokens: answer ? answer.cacheCreation + answer.cacheRead : null,
      contextWindow: window,
      compactionTokens: point,
      usedTokens: used,
      level: level.name,
      levels: [level.name],
      messageId: null,
      of_job: true,
    }
  }

  private reportProgress(more: Partial<EventData['job_progress']>): void {
    const { number, turns, usedTokens, windowTokens, pointTokens, jobId } = this.current
    const { handoffs, spec } = this.deps.store.job(jobId)!
    const all = attemptsToShow(this.deps.store, jobId)
    const data = {
      handoffs,
      max_handoffs: spec.maxHandoffs,
      total_steps: sum(all, (one) => one.turns),
      spent_tokens: sum(all, tokensSpentIn),
      denied: sum(all, ({ refused = 0 }) => refused),
      session: number,
      steps: turns,
      used_tokens: usedTokens,
      window_tokens: windowTokens,
      compaction_tokens: pointTokens,
      cost_usd: all.every((one) => one.costUsd !== null || one.turns === 0)
        ? sum(all, (one) => one.costUsd ?? 0)
        : null,
      ...more,
    }
    recordJob(this.deps, jobId, {}, [{ type: 'job_progress', data }])
  }

  reportBackgroundTasks(tasks: number): void {
    this.reportProgress({ background: tasks })
  }

  private workedMs(): number {
    return this.workedBefore + this.now().getTime() - this.startedAt
  }

  isTooOld(): boolean {
    const maxMs = this.deps.store.job(this.current.jobId)!.spec.session?.maxMs ?? null
    return maxMs !== null && this.workedMs() >= maxMs
  }

  mustStop(): Outcome | null {
    const { store } = this.deps
    const job = store.job(this.current.jobId)!
    if (job.wanted !== null) return { how: 'stopped', wanted: job.wanted }
    const { budgets } = job.spec
    if (budgets.minutes !== null && this.context.ranMs() > budgets.minutes * 60_000)
      return { how: 'timeout', of: 'job' }
    const all = store.attempts(job.jobId)
    if (budgets.turns !== null && sum(all, ({ turns }) => turns) >= budgets.turns) return { how: 'turns' }
    if (budgets.tokens !== null && sum(all, tokensSpentIn) >= budgets.tokens)
      return { how: 'budget', detail: `its ${budgets.tokens.toLocaleString('en-US')} tokens are spent` }
    if (budgets.usd !== null && sum(all, ({ costUsd }) => costUsd ?? 0) >= budgets.usd)
      return { how: 'budget', detail: `its ${budgets.usd} USD are spent` }
    return null
  }

  /** True once no handoff can follow. */
  mayCompact(trigger: 'auto' | 'manual'): boolean {
    const { handoffs, spec } = this.deps.store.job(this.current.jobId)!
    return trigger === 'manual' || this.runsWhenFull || handoffs >= spec.maxHandoffs
  }

  async answerHook(sessionId: string, event: string, payload: unknown): Promise<string> {
    // A copy of the session that was opened only for the brief is not the job's session.
    return sessionId === this.current.sessionId ? this.deps.answerHook(event, payload, this.current) : ''
  }

  textForNextRequest(sessionId: string, after: 'batch' | 'compaction'): string | null {
    if (sessionId !== this.current.sessionId) return null
    const level = after === 'batch' ? this.pendingLevelText : ''
    const said = [level, this.deps.textForNextRequest(sessionId, after) ?? ''].filter((text) => text !== '')
    if (level !== '') this.pendingLevelText = ''
    return said.length === 0 ? null : said.join('\n\n')
  }

  /** Returns an answer early enough that the request and the brief fit after it. */
  earlierAnswer(): CutPoint | null {
    const most = (this.current.pointTokens ?? this.current.windowTokens ?? 0) * 0.8
    const answers = readAnswers(this.journal.path, this.current.sessionId)
    const at = answers.findLastIndex(({ used }) => used < most)
    // A copy ends with the answer, so it lacks the results of that answer's calls.
    return at < 0 ? null : { at: answers[at]!.uuid, hiddenCalls: answers.slice(at).flatMap(({ calls }) => calls) }
  }
}

/** Claude Code 2.1.325 reports an unreachable API as `unknown`, without a status. */
function retryReason(status: number | null, reason: string): string {
  if (status === null) return 'the API is not reachable'
  return `the API answered ${status}${reason === '' || reason === 'unknown' ? '' : `, ${reason}`}`
}

function sum(all: readonly AttemptRecord[], of: (attempt: AttemptRecord) => number): number {
  return all.reduce((total, attempt) => total + of(attempt), 0)
}

/** Returns the tokens after each step, counted from the first step, as forecasts need them. */
function climbOf(growth: readonly number[]): number[] {
  const climb = [0]
  for (const by of growth) climb.push(climb.at(-1)! + by)
  return climb
}

function tokensSpentIn({ spend }: AttemptRecord): number {
  return totalTokensOf(spend)
}
