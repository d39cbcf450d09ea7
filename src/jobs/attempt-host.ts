import type { AttemptRecord, JobLevel } from '../contract/job.js'
import { NO_FAILURES } from './job.js'
import { crossings, handoffLevelAt, levelText } from './job-levels.js'
import { Journal } from './journal.js'
import type { Host } from './live-session.js'
import type { Outcome } from './outcome.js'
import { type JobParts, record, recordAttempt } from './parts.js'
import type { ContextUsage, RunMessage, ToolResult } from './runtimes/runtime.js'
import { plus, ToldSpend, tokensOf } from './told-spend.js'
import { type Climb, fullAt, hasRoom, isFull } from './when-full.js'

const MOST_ANSWERS = 400

/** An answer a session can be cut off at, and the calls that a copy does not tell of then. */
export interface Cut {
  at: string
  hides: string[]
}

/** What a session's host has of the job around it. */
export interface HostSurroundings {
  /** How long the job has run. */
  ranMs(): number
  /** A level was reached whose hooks are to be run; nobody waits for them. */
  atLevel(level: JobLevel, attempt: AttemptRecord): void
}

/** What one session of a job has come to: kept in the store as it grows, and judged at every batch. */
export class AttemptHost implements Host {
  readonly journal: Journal
  readonly log
  readonly #parts: JobParts
  #attempt: AttemptRecord
  #growth: number[] = []
  /** Where the session can be cut off, oldest first, with what it held by then. */
  #answers: { uuid: string; used: number; calls: string[] }[] = []
  /** What the last answer came to, and the calls it made. */
  #newest: { used: number; tokens: number; calls: ReadonlySet<string> } | null = null
  /** Until the next cycle it is not stopped: a hook said so, or the handoffs are used up. */
  lets = false
  /** What a level wants the agent to be told with the next batch. */
  #unsaid = ''
  readonly #began = Date.now()
  readonly #told: ToldSpend

  constructor(
    parts: JobParts,
    attempt: AttemptRecord,
    journalPath: string,
    private readonly around: HostSurroundings,
  ) {
    this.#parts = parts
    this.log = parts.log
    this.#attempt = attempt
    this.#told = new ToldSpend(attempt)
    this.#growth = [...(attempt.growth ?? [])]
    this.journal = new Journal(journalPath)
  }

  get attempt(): AttemptRecord {
    return this.#attempt
  }

  now(): Date {
    return this.#parts.now()
  }

  put(change: Partial<AttemptRecord>): void {
    this.#attempt = recordAttempt(this.#parts, this.#attempt, change)
  }

  heard(message: RunMessage): void {
    if (message.kind === 'answer') this.#answered(message)
    if (message.kind === 'started') this.#told.begins(this.#attempt)
    if (message.kind === 'result') {
      const refused = Math.max(this.#attempt.refused ?? 0, message.denied ?? 0)
      this.put({ terminal: message.terminal, refused, ...this.#told.ends(this.#attempt, message.spend) })
    }
    if (message.kind === 'compacted') {
      this.#growth = []
      this.#answers = []
      this.#newest = null
      this.lets = false
      this.put({ compactions: this.#attempt.compactions + 1, crossed: [], growth: [] })
      const job = this.#parts.store.job(this.#attempt.jobId)!
      record(this.#parts, job.jobId, { compactions: job.compactions + 1 })
    }
    if (message.kind === 'retry') this.#progress({ waiting: message.reason, attempt: message.attempt, delay_ms: message.delayMs })
  }

  #answered({ usage, uuid, calls }: Extract<RunMessage, { kind: 'answer' }>): void {
    const used = usage === null ? null : usage.input + usage.cacheCreation + usage.cacheRead
    const made = calls.map(({ id }) => id)
    if (used !== null) this.#grew(used - (this.#newest?.used ?? used))
    this.#newest = usage === null || used === null ? null : { used, tokens: used + usage.output, calls: new Set(made) }
    if (uuid !== null && used !== null) this.#answers = [...this.#answers, { uuid, used, calls: made }].slice(-MOST_ANSWERS)
    this.put({
      turns: this.#attempt.turns + 1,
      growth: this.#growth,
      ...(usage === null ? {} : { spend: plus(this.#attempt.spend, usage) }),
    })
  }

  #grew(by: number): void {
    if (by > 0) this.#growth = [...this.#growth, by].slice(-8)
  }

  hasRoom(calls: readonly ToolResult[]): boolean {
    const { pointTokens: point, windowTokens: window, state, jobId } = this.#attempt
    const newest = this.#newest
    // The first figure is always waited for; and the answer that made these calls may not have been read yet.
    if (state !== 'working' || newest === null || !calls.every(({ id }) => newest.calls.has(id))) return false
    const { handoffAtRemaining: remaining, levels = [] } = this.#parts.store.job(jobId)!.spec
    const climb: Climb = { point, window, remaining, growth: this.#growth, level: handoffLevelAt(levels, { window, point }) }
    const bytes = calls.reduce((all, { result }) => all + Buffer.byteLength(JSON.stringify(result) ?? ''), 0)
    return hasRoom(newest.tokens, bytes, climb)
  }

  begins(usage: ContextUsage): void {
    this.#parts.measured(usage, this.#attempt)
    if (this.#attempt.pointTokens === null) this.put({ windowTokens: usage.window, pointTokens: usage.point })
  }

  measured(usage: ContextUsage): { full: boolean } {
    const before = this.#attempt.usedTokens
    // Answers tell what each batch added. Where they do not, every batch is measured, and two figures do.
    if (this.#newest === null && before !== null) this.#grew(usage.used - before)
    const growth = [...this.#growth, usage.used - (this.#newest?.used ?? usage.used)]
    const { used: usedTokens, window: windowTokens, point: pointTokens } = usage
    this.put({ state: 'working', usedTokens, windowTokens, pointTokens, growth: this.#growth })
    this.#parts.measured(usage, this.#attempt)
    // A batch returned: whatever failed before, it works again.
    const job = this.#parts.store.job(this.#attempt.jobId)!
    if (job.failures || job.stalls || job.waits) record(this.#parts, job.jobId, NO_FAILURES)
    const { spec } = job
    const level = handoffLevelAt(spec.levels ?? [], usage)
    const climb = { point: usage.point, window: usage.window, remaining: spec.handoffAtRemaining, growth, level }
    const ends = job.handoffs < spec.maxHandoffs || (spec.afterMaxHandoffs === 'stop' && spec.maxHandoffs > 0)
    const stops = ends && !this.lets
    this.#cross(usage, spec.levels ?? [])
    this.#progress({ full_at: stops ? fullAt(climb) : usage.point, tokens_per_step: mean(this.#growth) })
    return { full: stops && isFull(usage.used, climb) }
  }

  /** What levels of the agent's own ask for; a handoff is part of when it is full. */
  #cross(usage: ContextUsage, levels: readonly JobLevel[]): void {
    const before = this.#attempt.crossed ?? []
    const found = crossings(levels, usage, before)
    if (found.length === 0) return
    this.put({ crossed: [...before, ...found.map(({ name }) => name)] })
    const { jobId } = this.#attempt
    const percent = usage.point === null ? null : Math.round((usage.used / usage.point) * 1000) / 10
    const pausing = found.findLast(({ actions }) => actions.includes('pause'))
    const isFree = this.#parts.store.job(jobId)!.wanted === null
    this.#unsaid = levelText(found, usage)
    record(this.#parts, jobId, pausing && isFree ? { wanted: 'pause', wantedBy: pausing.name } : {}, [
      ...found.map(({ name, at_tokens, actions }) => ({
        type: 'level_crossed' as const,
        data: { level: name, at_tokens, used_tokens: usage.used, compaction_percent: percent, actions, of_job: true },
      })),
      ...(this.#unsaid === '' ? [] : [{ type: 'context_warning' as const, data: warningOf(usage, found, percent) }]),
    ])
    for (const level of found) if (level.hooks.length > 0) this.around.atLevel(level, this.#attempt)
  }

  #progress(more: Record<string, unknown>): void {
    const { number, turns, usedTokens, windowTokens, pointTokens, jobId } = this.#attempt
    const { handoffs, spec } = this.#parts.store.job(jobId)!
    const all = this.#parts.store.attempts(jobId)
    const data = {
      ...{ handoffs, max_handoffs: spec.maxHandoffs, total_steps: sum(all, (one) => one.turns), spent_tokens: sum(all, spentIn) },
      ...{ session: number, steps: turns, used_tokens: usedTokens, window_tokens: windowTokens, compaction_tokens: pointTokens },
      // The client tells what a session cost at the end of a turn: until then nobody knows what the job has cost.
      cost_usd: all.every((one) => one.costUsd !== null || one.turns === 0) ? sum(all, (one) => one.costUsd ?? 0) : null,
      ...more,
    }
    record(this.#parts, jobId, {}, [{ type: 'job_progress', data }])
  }

  lingers(tasks: number): void {
    this.#progress({ background: tasks })
  }

  mustStop(): Outcome | null {
    const { store } = this.#parts
    const job = store.job(this.#attempt.jobId)!
    if (job.wanted !== null) return { how: 'stopped', wanted: job.wanted }
    const { budgets, sessionTimeoutMs } = job.spec
    if (sessionTimeoutMs !== null && Date.now() - this.#began > sessionTimeoutMs) return { how: 'timeout', of: 'session' }
    if (budgets.minutes !== null && this.around.ranMs() > budgets.minutes * 60_000) return { how: 'timeout', of: 'job' }
    const all = store.attempts(job.jobId)
    if (budgets.turns !== null && sum(all, ({ turns }) => turns) >= budgets.turns) return { how: 'turns' }
    if (budgets.tokens !== null && sum(all, spentIn) >= budgets.tokens)
      return { how: 'budget', detail: `its ${budgets.tokens.toLocaleString('en-US')} tokens are spent` }
    if (budgets.usd !== null && sum(all, ({ costUsd }) => costUsd ?? 0) >= budgets.usd)
      return { how: 'budget', detail: `its ${budgets.usd} USD are spent` }
    return null
  }

  /** Only once a handoff cannot follow any more. */
  mayCompact(trigger: 'auto' | 'manual'): boolean {
    const { handoffs, spec } = this.#parts.store.job(this.#attempt.jobId)!
    return trigger === 'manual' || this.lets || handoffs >= spec.maxHandoffs
  }

  async hooked(sessionId: string, event: string, payload: unknown): Promise<string> {
    // A copy that was opened for the brief alone is nobody's session.
    return sessionId === this.#attempt.sessionId ? this.#parts.hooked(event, payload, this.#attempt) : ''
  }

  says(sessionId: string, after: 'batch' | 'compaction'): string | null {
    if (sessionId !== this.#attempt.sessionId) return null
    const level = after === 'batch' ? this.#unsaid : ''
    const said = [level, this.#parts.says(sessionId, after) ?? ''].filter((text) => text !== '')
    if (level !== '') this.#unsaid = ''
    return said.length === 0 ? null : said.join('\n\n')
  }

  /** An answer early enough that the request of a brief and the brief fit behind it. */
  earlierAnswer(): Cut | null {
    const most = (this.#attempt.pointTokens ?? this.#attempt.windowTokens ?? 0) * 0.8
    const at = this.#answers.findLastIndex(({ used }) => used < most)
    // A copy ends with the answer: how its own calls returned is not in it any more.
    return at < 0 ? null : { at: this.#answers[at]!.uuid, hides: this.#answers.slice(at).flatMap(({ calls }) => calls) }
  }
}

function warningOf({ used, window, point }: ContextUsage, found: readonly JobLevel[], percent: number | null) {
  return {
    ...{ contextUsedPercent: percent, contextRemainingPercent: percent === null ? null : Math.max(0, 100 - percent) },
    ...{ inputTokens: used, cacheTokens: null, contextWindow: window, compactionTokens: point, usedTokens: used },
    ...{ level: found.at(-1)!.name, levels: found.map(({ name }) => name), messageId: null },
  }
}

function sum(all: readonly AttemptRecord[], of: (attempt: AttemptRecord) => number): number {
  return all.reduce((total, attempt) => total + of(attempt), 0)
}

function mean(growth: readonly number[]): number | null {
  return growth.length === 0 ? null : Math.round(growth.reduce((total, one) => total + one, 0) / growth.length)
}

export function spentIn({ spend }: AttemptRecord): number {
  return tokensOf(spend)
}
