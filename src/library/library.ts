import { around } from '../around.js'
import { loadConfig } from '../config/load-config.js'
import type { ConfigProblem } from '../contract/policy.js'
import type { SessionRecord } from '../contract/record.js'
import { resetSession } from '../engine/reset-session.js'
import { type House, openHouse } from '../house.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { resolveLevels } from '../policy/levels.js'
import { type AnswerUsage, measureAnswer } from './answer-usage.js'
import { checkId, type Settled, settleOptions, type TrackerOptions } from './options.js'
import { type Counted, count, toldBy } from './sdk-told.js'
import { SDK_MESSAGE, type Told, tellEngine } from './tell-engine.js'
import { blankState, stateOf, summaryOf, type UsageState, type UsageSummary, type UsageUpdate } from './usage-state.js'

/** No client waits for the library, so it may wait for others: twenty processes at once all get their turn. */
const BUSY_MS = 30_000

/**
 * Measures one session from any program. The state is Baton's own store, shared with its hooks, its commands and every other
 * process: each call is one transaction there. Every call but `open` and `updateUsage` throws only a BatonError, whose `hint`
 * says what to do.
 */
export class Tracker {
  readonly #settled: Settled
  readonly #counted: Counted = new Map()
  #house: House | null
  #session: string

  private constructor(house: House, settled: Settled) {
    this.#house = house
    this.#settled = settled
    this.#session = settled.session
  }

  /** Throws a BatonError when the store is damaged, newer or not to be written (it stays as it is), RangeError for impossible figures. */
  static open(options: TrackerOptions = {}): Tracker {
    const settled = settleOptions(options)
    return new Tracker(openHouse({ env: settled.env, loadConfig, around: () => around, busyMs: BUSY_MS }), settled)
  }

  /** The session the calls speak of. `resetSession` changes it, and so does a message of another session given to `observe`. */
  get sessionId(): string {
    return this.#session
  }

  /**
   * Tells one answer's usage. How full the session is follows from this answer alone; the totals grow by it.
   * Throws RangeError for a negative, fractional or endless count, TypeError for what is no count; then nothing has changed.
   */
  updateUsage(usage: AnswerUsage): UsageUpdate {
    const measured = measureAnswer(usage)
    return this.#tell({ sessionId: this.#session, once: usage.answer_id ?? null, ...measured })
  }

  /**
   * Tells a message of the Agent SDK (or a line of `claude -p --output-format stream-json`), or the reply to its
   * `getContextUsage()`. Messages that measure nothing change nothing, and so do those told before.
   */
  observe(message: unknown): UsageUpdate {
    const told = toldBy(message, this.#session, this.#settled.env, this.#counted)
    if (told === null) return { ...this.currentState(), crossed: [] }
    this.#session = told.sessionId
    return this.#tell({ ...told, event: SDK_MESSAGE })
  }

  /** The highest level the present figure has reached; null: none, or the figure is not known. */
  checkThresholds(): string | null {
    return this.currentState().threshold_reached
  }

  /** Whether the present figure has reached a level that asks for a handoff. */
  shouldAutoPause(): boolean {
    return this.currentState().auto_pause_active
  }

  /** Looks, changes nothing. */
  currentState(): UsageState {
    return this.#store((house) => {
      house.drain()
      return this.#stateOf(house, house.store.session(this.#session))
    })
  }

  usageSummary(): UsageSummary {
    return summaryOf(this.currentState())
  }

  /** Goes on with another session, from nothing. An id that was used before starts over, unless its client measures it itself. */
  resetSession(id: string): UsageState {
    const sessionId = checkId(id)
    const known = this.#store((house) => resetSession(house.engine.parts, sessionId))
    this.#session = sessionId
    if (known) return this.currentState()
    const { crossed, ...state } = this.#tell({ sessionId, kind: 'session-start', start: { source: 'startup' } })
    return state
  }

  /** What is wrong with the configuration files, which is why an earlier state of them, or the defaults, apply. */
  configProblems(): ConfigProblem[] {
    return this.#store(
      ({ policyOf }) => policyOf({ agent: 'claude-code', project: this.#settled.project, model: null, seat: null }).problems,
    )
  }

  /** Gives up the store. A process that ends without it loses nothing. */
  close(): void {
    this.#house?.close()
    this.#house = null
  }

  #tell(told: Told): UsageUpdate {
    return this.#store((house) => {
      const { record, crossed, repeated } = tellEngine(house, this.#settled, told)
      count(this.#counted, told, repeated)
      return { ...this.#stateOf(house, record), crossed }
    })
  }

  #stateOf(house: House, record: SessionRecord | null): UsageState {
    const { agent, project, model } = record ?? {
      agent: 'claude-code',
      project: this.#settled.project,
      model: this.#settled.model,
    }
    const seat = record === null ? this.#settled.seat : (house.store.seat(record.seatId)?.name ?? record.seatId)
    const { policy } = house.policyOf({ agent, project, model, seat })
    if (record === null) return blankState(this.#session, policy.enabled)
    return stateOf(record, house.view(record), resolveLevels(policy.levels, record.track.limits))
  }

  #store<T>(work: (house: House) => T): T {
    if (this.#house === null) throw new BatonError('This tracker is closed.', 'Open another one with Tracker.open().', EXIT.usage)
    try {
      return work(this.#house)
    } catch (error) {
      if (error instanceof BatonError) throw error
      throw new BatonError(
        `The store ${this.#house.home.store} could not be used (${reasonOf(error)}).`,
        'Run baton doctor to see what is wrong.',
      )
    }
  }
}
