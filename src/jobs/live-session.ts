import type {
  ContextUsage,
  RunningSession,
  Runtime,
  RuntimeListener,
  RuntimeMessage,
  SessionOptions,
  ToolResult,
} from '../contract/runtime.js'
import { reasonOf } from '../lib/errors.js'
import { faultPoint } from '../lib/fault-point.js'
import type { Log } from '../lib/log.js'
import { CallRecorder, MAX_REPEATS, REPEATS_BEFORE_WARNING, RepeatCounter, repeatWarning } from './call-list.js'
import type { CallJournal } from './journal.js'
import { KeyRefusalDetector, type Outcome, outcomeOf } from './outcome.js'

/** Callbacks of a job's session while it works. */
export interface SessionHost {
  now(): Date
  log: Log
  journal: CallJournal
  /** True when the session surely has room for more tokens after these calls. */
  hasRoom(calls: readonly ToolResult[]): boolean
  /** Records the context usage before the first batch. */
  recordStart(usage: ContextUsage): void
  /** Records the usage after a complete batch. `full` means that the session must stop. */
  recordUsage(usage: ContextUsage): { full: boolean }
  /** Receives every message of the client, in order. */
  receiveMessage(message: RuntimeMessage): void
  /** True once the session has worked as long as one session may. */
  isTooOld(): boolean
  /** Returns why the session must stop between two batches. Null when it may continue. */
  mustStop(): Outcome | null
  /** Called when a call that changes files succeeded. */
  recordEdit(): void
  /** Called when a turn has ended but background tasks still run. */
  reportBackgroundTasks(tasks: number): void
  /** True when this compaction may happen. */
  mayCompact(trigger: 'auto' | 'manual'): boolean
  /** Handles a hook event of the client. Returns instructions for the summarizer, empty if none. */
  answerHook(sessionId: string, event: string, payload: unknown): Promise<string>
  /** Returns text for the next request. Null when there is none. */
  textForNextRequest(sessionId: string, after: 'batch' | 'compaction'): string | null
}

export interface SessionTimeLimits {
  /** Time without any output after which the client counts as stuck. */
  silenceMs: number
  /** Time limit of the whole turn. Null without a limit. */
  turnMs: number | null
  /** Silence after which background tasks of an ended turn are stopped. Default: `silenceMs`. */
  backgroundMs?: number
}

/** Time to wait for the current batch when the user pauses, before its tools are interrupted. */
const PAUSE_MS = 8_000
const CHECK_MS = 500
const SETTLE_MS = 20_000
/** Delay after which a client has sent its request. */
const MEASURE_DELAY_MS = 120
const TASK_STOP_MS = 5_000
/** Number of batches of tool calls an agent may try when asked for its brief. */
const MOST_REFUSALS = 4
/** Time without output after which a client counts as idle, even if it does not report that. */
const QUIET_MS = 5_000

/**
 * A running session: sends a prompt, follows the turn to its end, and may send another prompt.
 * In a turn for the brief every tool is denied, and nothing is compacted or measured.
 */
export class LiveSession {
  readonly sessionId: string
  private readonly session: RunningSession
  private readonly host: SessionHost
  private mode: 'work' | 'brief' = 'work'
  private end: ((outcome: Outcome) => void) | null = null
  /** Why Baton itself stops this turn. */
  private stop: Outcome | null = null
  private limit: { resetsAt: string | null } | null = null
  private tasks: string[] = []
  private idle = false
  private finished: Outcome | null = null
  /** Why the client can no longer be prompted. */
  private exitOutcome: Outcome | null = null
  /** True when background tasks were waited for long enough, so they no longer delay the end. */
  private isSettled = false
  /** True when the client works again after its turn ended, because a background task finished. */
  private isWoken = false
  private key = new KeyRefusalDetector()
  private promptedAt = 0
  private batchAt: number | null = null
  private refusals = 0
  private answered = false
  private readonly calls: CallRecorder
  private readonly same = new RepeatCounter()
  /** Calls that change files and have not returned yet. */
  private readonly edits = new Set<string>()

  constructor(runtime: Runtime, options: SessionOptions, host: SessionHost) {
    this.sessionId = options.sessionId
    this.host = host
    this.calls = new CallRecorder(host, options.sessionId)
    this.session = runtime.start(options, this.listener())
    // A long answer is many lines but one message, so every line counts as activity.
    this.session.onRaw(() => this.noteActivity(0))
    this.follow().catch((error: unknown) => this.abandon(error))
  }

  get process(): RunningSession['process'] {
    return this.session.process
  }

  /** True once the model has answered in the last turn. */
  get hasAnswered(): boolean {
    return this.answered
  }

  onRaw(take: (line: string) => void): void {
    this.session.onRaw(take)
  }

  /** Resolves when the client accepts input, or never will. */
  ready(): Promise<void> {
    return this.session.ready()
  }

  /** Sends a prompt and resolves with the outcome of the turn. Never rejects. */
  async turn(prompt: string, mode: 'work' | 'brief', bounds: SessionTimeLimits): Promise<Outcome> {
    if (this.exitOutcome !== null) return this.exitOutcome
    this.mode = mode
    this.stop = null
    this.limit = null
    this.finished = null
    this.idle = false
    this.isWoken = false
    this.refusals = 0
    this.answered = false
    this.isSettled = false
    this.key = new KeyRefusalDetector()
    this.promptedAt = Date.now()
    const ended = new Promise<Outcome>((resolve) => {
      this.end = resolve
    })
    this.session.say(prompt)
    if (mode === 'work') this.measureLater((usage) => this.host.recordStart(usage))
    const watch = setInterval(() => this.checkTurnSafely(bounds), CHECK_MS)
    try {
      return await ended
    } finally {
      clearInterval(watch)
      this.end = null
    }
  }

  /**
   * Waits for background tasks and then stops them, because they would wake the session again.
   * Tools are denied from now on, because the brief is requested next.
   */
  async settleTasks(withinMs = SETTLE_MS): Promise<void> {
    this.mode = 'brief'
    await this.waitUntil(() => this.tasks.length === 0, withinMs)
    await this.stopTasks()
  }

  private async stopTasks(): Promise<void> {
    if (this.tasks.length === 0) return
    for (const task of [...this.tasks]) await this.session.stopTask(task)
    await this.waitUntil(() => this.tasks.length === 0, TASK_STOP_MS)
  }

  /**
   * Stops background tasks, as an endless command would delay the end forever.
   * A client that wakes the agent when a task ends lets the agent answer once more.
   */
  private async stopBackgroundTasks(): Promise<void> {
    this.isSettled = true
    this.idle = false
    this.noteActivity(0)
    this.host.log('info', 'background processes of a session are ended', { session: this.sessionId })
    await this.stopTasks()
    this.noteActivity(0)
  }

  forbidCompaction(): Promise<void> {
    return this.session.forbidCompaction()
  }

  /** Resolves when the client has exited. */
  async close(withinMs?: number): Promise<void> {
    await this.session.end(withinMs)
  }

  kill(): void {
    this.session.kill()
  }

  private lastActivityAt = Date.now()

  private noteActivity(quietForMs: number): void {
    this.lastActivityAt = Math.max(this.lastActivityAt, Date.now() + quietForMs)
  }

  private async follow(): Promise<void> {
    let hasSpoken = false
    for await (const message of this.session.messages) {
      // A client that reports its next retry is not stuck until then.
      this.noteActivity(message.kind === 'retry' ? message.delayMs : 0)
      if (message.kind === 'answer') {
        this.answered = true
        if (this.mode === 'work') this.calls.recordAnswer(message)
      }
      if (message.kind === 'compacted') this.calls.recordCompaction()
      this.host.receiveMessage(this.withoutBriefDenials(message))
      if (message.kind === 'limit' && message.reached) this.limit = { resetsAt: message.resetsAt }
      if (message.kind === 'tasks') this.updateTasks(message.running)
      if (message.kind === 'state') this.updateState(message.state)
      if (message.kind === 'result') this.handleResult(message)
      const refused = this.key.observe(message)
      if (refused !== null && this.stop === null) this.interruptWith(refused)
      if (message.kind === 'exit') {
        this.exitOutcome = exitOutcomeOf(message, hasSpoken)
        this.end?.(this.finished ?? this.stop ?? this.exitOutcome)
        return
      }
      hasSpoken = true
      if (this.finished !== null && this.isLast(this.finished)) this.end?.(this.finished)
    }
  }

  /** Hides denials that Baton itself caused in the brief's turn. They are no permission problem. */
  private withoutBriefDenials(message: RuntimeMessage): RuntimeMessage {
    if (message.kind === 'denied')
      return this.mode === 'brief'
        ? { kind: 'other', type: 'denied for the brief' }
        : { ...message, edits: this.edits.delete(message.id) }
    return message.kind === 'result' && this.mode === 'brief' ? { ...message, denied: 0 } : message
  }

  /** Updates the background tasks. The client may be woken when one of them finishes. */
  private updateTasks(running: string[]): void {
    this.tasks = running
    this.idle = false
  }

  private updateState(state: 'idle' | 'working'): void {
    this.idle = state === 'idle'
    this.isWoken = state === 'working' && this.finished !== null
    if (this.idle && this.finished?.how === 'done' && !this.hasNoTasks())
      this.host.reportBackgroundTasks(this.tasks.length)
  }

  /**
   * Handles the end of a turn.
   * A result caused by a background task is not the answer to the request of the brief.
   */
  private handleResult(result: Extract<RuntimeMessage, { kind: 'result' }>): void {
    if (this.mode === 'brief' && !result.ofPrompt) return
    this.idle = false
    this.isWoken = false
    this.finished = this.judge(result)
  }

  /**
   * True when a result is final.
   * Background tasks wake the agent again, so the agent must be idle without them.
   */
  private isLast({ how }: Outcome): boolean {
    return how !== 'done' || this.mode === 'brief' || (this.idle && this.hasNoTasks())
  }

  private hasNoTasks(): boolean {
    return this.tasks.length === 0 || this.isSettled
  }

  private judge(result: Extract<RuntimeMessage, { kind: 'result' }>): Outcome {
    const outcome = outcomeOf(result, this.limit)
    // A turn that Baton stopped ends as Baton intended, whatever the client reports.
    // An agent that says it is done is believed, unless its time was over.
    return this.stop !== null && (outcome.how !== 'done' || this.stop.how === 'timeout') ? this.stop : outcome
  }

  /**
   * Ends a session whose messages cannot be stored or judged, for example on a full disk.
   * A session that was not ended would work unobserved.
   * An uncaught error would end every job of this process.
   */
  private abandon(error: unknown): void {
    const reason = reasonOf(error)
    this.host.log('error', 'a session could not be tracked any further, so its client is ended', {
      session: this.sessionId,
      reason,
    })
    this.exitOutcome = { how: 'trouble', detail: `the session could not be tracked: ${reason}` }
    this.end?.(this.exitOutcome)
    this.session.kill()
  }

  private checkTurnSafely(bounds: SessionTimeLimits): void {
    try {
      this.checkTurn(bounds)
    } catch (error) {
      this.abandon(error)
    }
  }

  /** Checks requests to stop and timeouts, twice a second while a turn runs. */
  private checkTurn({ silenceMs, turnMs, backgroundMs = silenceMs }: SessionTimeLimits): void {
    const now = Date.now()
    const stop = this.stop ?? this.host.mustStop()
    // Only background tasks still run, and they end with the client.
    if (stop !== null && this.finished !== null && this.idle) {
      this.end?.(stop.how === 'timeout' ? stop : this.finished)
      return
    }
    if (stop !== null && this.stop === null) {
      this.stop = stop
      this.stopAt = now
    }
    if (this.stop !== null) {
      const cancelled = this.stop.how === 'stopped' && this.stop.wanted === 'cancel'
      if (cancelled || now - this.stopAt > 2 * PAUSE_MS) this.session.kill()
      else if (now - this.stopAt > PAUSE_MS) void this.session.interrupt()
      return
    }
    const quiet = now - Math.max(this.lastActivityAt, this.promptedAt)
    if (this.finished !== null && this.hasNoTasks() && !this.isWoken && quiet > QUIET_MS) this.end?.(this.finished)
    else if (this.finished?.how === 'done' && this.idle && !this.isSettled && quiet > backgroundMs)
      void this.stopBackgroundTasks()
    else if (turnMs !== null && now - this.promptedAt > turnMs) this.interruptWith({ how: 'timeout', of: 'brief' })
    else if (quiet > silenceMs) this.interruptWith({ how: 'stalled', silentMs: silenceMs })
  }

  private stopAt = 0

  /** Interrupts the turn at once. */
  private interruptWith(outcome: Outcome): void {
    this.stop = outcome
    this.stopAt = Date.now() - PAUSE_MS
    void this.session.interrupt()
  }

  private listener(): RuntimeListener {
    return {
      onHookEvent: (event, payload) => this.host.answerHook(this.sessionId, event, payload),
      beforeTool: async (call) => {
        if (call.edits) this.edits.add(call.id)
        if (call.subagent !== null) return {}
        if (this.mode === 'brief') {
          this.calls.recordDenial(call, 'in the turn for the brief')
          return { deny: '[baton] Tools are denied now. Give the brief as your whole answer.' }
        }
        this.batchAt ??= Date.now()
        faultPoint('JOB_CALL')
        return this.calls.callStarted(call)
      },
      afterTool: async (result) => {
        if (this.edits.delete(result.id) && !result.failed) this.host.recordEdit()
        if (result.subagent === null) this.calls.recordResult(result)
      },
      afterBatch: (calls) => this.afterBatch(calls),
      beforeCompaction: async (trigger) =>
        this.mode === 'work' && this.host.mayCompact(trigger)
          ? {}
          : { block: '[baton] Baton hands this session over instead.' },
      afterCompaction: async () => {
        const context = this.host.textForNextRequest(this.sessionId, 'compaction')
        return context === null ? {} : { context }
      },
    }
  }

  private async afterBatch(calls: ToolResult[]): Promise<{ stop?: string; context?: string }> {
    if (calls.some(({ subagent }) => subagent !== null)) return {}
    if (this.mode === 'brief') return this.refuseBatch()
    this.calls.recordBatch(calls)
    const same = this.same.count(calls, Date.now() - (this.batchAt ?? Date.now()))
    this.batchAt = null
    const usage = this.host.hasRoom(calls)
      ? this.measureLater((found) => this.host.recordUsage(found))
      : await this.session.usage()
    const full = usage !== null && this.host.recordUsage(usage).full
    const circles: Outcome | null = same >= MAX_REPEATS ? { how: 'circles', times: same, call: nameOf(calls) } : null
    // A handoff waits for the batch, because interrupting a running tool would lose its work.
    const handsOff: Outcome | null = full ? { how: 'full' } : this.host.isTooOld() ? { how: 'too-old' } : null
    const stop = this.stop ?? this.host.mustStop() ?? circles ?? handsOff
    if (stop === null) {
      const context = [
        same === REPEATS_BEFORE_WARNING ? repeatWarning(same) : null,
        this.host.textForNextRequest(this.sessionId, 'batch'),
      ]
      return context.every((part) => part === null)
        ? {}
        : { context: context.filter((part) => part !== null).join('\n\n') }
    }
    this.stop = stop
    this.stopAt = Date.now()
    return { stop: full && stop.how === 'full' ? 'the context is nearly full' : 'the job was asked to stop' }
  }

  /**
   * Asks for the context usage while the model works, when nothing depends on the answer.
   * The delay is needed: before its request is sent, the client would count too few tokens.
   */
  private measureLater(take: (usage: ContextUsage) => void): null {
    const turn = this.end
    const isOver = (): boolean => this.end !== turn || this.mode !== 'work'
    const ask = async (): Promise<void> => {
      const usage = isOver() ? null : await this.session.usage()
      if (usage !== null && !isOver()) take(usage)
    }
    setTimeout(() => {
      ask().catch((error: unknown) =>
        this.host.log('warn', 'a measurement could not be stored', { reason: reasonOf(error) }),
      )
    }, MEASURE_DELAY_MS).unref()
    return null
  }

  /**
   * Stops an agent that keeps calling tools instead of writing its brief.
   * Every such call costs money.
   */
  private refuseBatch(): { stop?: string } {
    if (++this.refusals < MOST_REFUSALS) return {}
    this.stop = { how: 'trouble', detail: 'it called tools instead of writing its brief' }
    return { stop: 'the brief did not come' }
  }

  private async waitUntil(done: () => boolean, withinMs: number): Promise<void> {
    const until = Date.now() + withinMs
    while (!done() && this.exitOutcome === null && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function exitOutcomeOf(
  { code, signal, trouble }: Extract<RuntimeMessage, { kind: 'exit' }>,
  hasSpoken: boolean,
): Outcome {
  const how = signal === null ? `the client ended with ${code ?? 'no code'}` : `the client was ended by ${signal}`
  const detail = trouble === null || trouble === '' ? how : `${how}: ${trouble}`
  return { how: 'died', detail, ...(code !== null && code > 0 && !hasSpoken && { speechless: true }) }
}

function nameOf([first, ...more]: readonly ToolResult[]): string {
  const input = JSON.stringify(first?.input ?? '')
  const shown = input.length > 120 ? `${input.slice(0, 119)}…` : input
  return `${first?.name ?? 'a tool'} ${shown}${more.length > 0 ? ` and ${more.length} more` : ''}`
}
