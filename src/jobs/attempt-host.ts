import type { AttemptRecord } from '../contract/job.js'
import type { Usage } from '../contract/reading.js'
import { Journal } from './journal.js'
import type { Host } from './live-session.js'
import type { Outcome } from './outcome.js'
import { type JobParts, record, recordAttempt } from './parts.js'
import type { ContextUsage, RunMessage } from './runtimes/runtime.js'
import { fullAt, isFull } from './when-full.js'

const MOST_ANSWERS = 400

/** An answer a session can be cut off at, and the calls that a copy does not tell of then. */
export interface Cut {
  at: string
  hides: string[]
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
  /** Until the next cycle it is not stopped: a hook said so, or the handoffs are used up. */
  lets = false
  readonly #began = Date.now()

  constructor(parts: JobParts, attempt: AttemptRecord, journalPath: string) {
    this.#parts = parts
    this.log = parts.log
    this.#attempt = attempt
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
    if (message.kind === 'result')
      this.put({ terminal: message.terminal, costUsd: message.spend.costUsd ?? this.#attempt.costUsd })
    if (message.kind === 'compacted') {
      this.#growth = []
      this.#answers = []
      this.lets = false
      this.put({ compactions: this.#attempt.compactions + 1 })
      const job = this.#parts.store.job(this.#attempt.jobId)!
      record(this.#parts, job.jobId, { compactions: job.compactions + 1 })
    }
    if (message.kind === 'retry') this.#progress({ waiting: message.reason, attempt: message.attempt, delay_ms: message.delayMs })
  }

  #answered({ usage, uuid, calls }: Extract<RunMessage, { kind: 'answer' }>): void {
    const used = usage === null ? null : usage.input + usage.cacheCreation + usage.cacheRead
    const made = calls.map(({ id }) => id)
    if (uuid !== null && used !== null) this.#answers = [...this.#answers, { uuid, used, calls: made }].slice(-MOST_ANSWERS)
    this.put({ turns: this.#attempt.turns + 1, ...(usage === null ? {} : { spend: added(this.#attempt.spend, usage) }) })
  }

  measured(usage: ContextUsage): { full: boolean } {
    const before = this.#attempt.usedTokens
    if (before !== null && usage.used > before) this.#growth = [...this.#growth, usage.used - before].slice(-8)
    this.put({ state: 'working', usedTokens: usage.used, windowTokens: usage.window, pointTokens: usage.point })
    this.#parts.measured(usage, this.#attempt)
    // A batch returned: whatever failed before, it works again.
    const job = this.#parts.store.job(this.#attempt.jobId)!
    if (job.failures > 0) record(this.#parts, job.jobId, { failures: 0 })
    const { spec } = job
    const climb = { point: usage.point, window: usage.window, remaining: spec.handoffAtRemaining, growth: this.#growth }
    const ends = job.handoffs < spec.maxHandoffs || (spec.afterMaxHandoffs === 'stop' && spec.maxHandoffs > 0)
    const stops = ends && !this.lets
    this.#progress({ full_at: stops ? fullAt(climb) : usage.point, tokens_per_step: mean(this.#growth) })
    return { full: stops && isFull(usage.used, climb) }
  }

  #progress(more: Record<string, unknown>): void {
    const { number, turns, usedTokens, windowTokens, pointTokens, costUsd, jobId } = this.#attempt
    const { handoffs, spec } = this.#parts.store.job(jobId)!
    const all = this.#parts.store.attempts(jobId)
    const data = {
      ...{ handoffs, max_handoffs: spec.maxHandoffs, total_steps: sum(all, (one) => one.turns), spent_tokens: sum(all, spentIn) },
      ...{ session: number, steps: turns, used_tokens: usedTokens, window_tokens: windowTokens, compaction_tokens: pointTokens },
      ...{ cost_usd: costUsd, ...more },
    }
    record(this.#parts, jobId, {}, [{ type: 'job_progress', data }])
  }

  mustStop(): Outcome | null {
    const { store } = this.#parts
    const job = store.job(this.#attempt.jobId)!
    if (job.wanted !== null) return { how: 'stopped', wanted: job.wanted }
    const { budgets, sessionTimeoutMs } = job.spec
    const here = Date.now() - this.#began
    if (sessionTimeoutMs !== null && here > sessionTimeoutMs) return { how: 'timeout' }
    if (budgets.minutes !== null && job.ranMs + here > budgets.minutes * 60_000) return { how: 'timeout' }
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

  async hooked(sessionId: string, event: string, payload: unknown): Promise<void> {
    // A copy that was opened for the brief alone is nobody's session.
    if (sessionId === this.#attempt.sessionId) await this.#parts.hooked(event, payload, this.#attempt)
  }

  says(sessionId: string, after: 'batch' | 'compaction'): string | null {
    return sessionId === this.#attempt.sessionId ? this.#parts.says(sessionId, after) : null
  }

  /** An answer early enough that the request of a brief and the brief fit behind it. */
  earlierAnswer(): Cut | null {
    const most = (this.#attempt.pointTokens ?? this.#attempt.windowTokens ?? 0) * 0.8
    const at = this.#answers.findLastIndex(({ used }) => used < most)
    // A copy ends with the answer: how its own calls returned is not in it any more.
    return at < 0 ? null : { at: this.#answers[at]!.uuid, hides: this.#answers.slice(at).flatMap(({ calls }) => calls) }
  }
}

function sum(all: readonly AttemptRecord[], of: (attempt: AttemptRecord) => number): number {
  return all.reduce((total, attempt) => total + of(attempt), 0)
}

function mean(growth: readonly number[]): number | null {
  return growth.length === 0 ? null : Math.round(growth.reduce((total, one) => total + one, 0) / growth.length)
}

export function spentIn({ spend }: AttemptRecord): number {
  return spend.input + spend.output + spend.cacheCreation + spend.cacheRead
}

function added(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheCreation: one.cacheCreation + other.cacheCreation,
    cacheRead: one.cacheRead + other.cacheRead,
  }
}
