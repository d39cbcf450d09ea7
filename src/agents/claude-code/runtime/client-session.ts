import type { ContextUsage, RunningSession, RuntimeMessage } from '../../../contract/runtime.js'
import { reasonOf } from '../../../lib/errors.js'
import type { Log } from '../../../lib/log.js'
import { UnboundedQueue } from '../../../lib/unbounded-queue.js'
import { withTimeout } from '../../../lib/with-timeout.js'
import type { ClientChild } from '../../shared/client-child.js'
import { readContextUsage } from '../sdk.js'
import { NO_COMPACTION_SETTINGS } from './client-arguments.js'
import { ClientMessages } from './client-messages.js'

/**
 * Controls of the client that a runtime offers.
 * A request may hang or fail, so the session limits the time for it.
 */
interface ClientControl {
  /** Resolves when the client accepts input. */
  ready: Promise<void>
  say(prompt: string): void
  contextUsage(): Promise<unknown>
  applySettings(settings: Record<string, unknown>): Promise<unknown>
  interrupt(): Promise<unknown>
  stopTask(taskId: string): Promise<unknown>
  /** Closes the input: no more prompts and answers. */
  close(): void
}

/** Time limit for the start, which takes seconds on a busy machine. */
const START_MS = 60_000
const REQUEST_MS = 10_000
/** Time limit for a usage query. Shorter than the limit of a listener that makes the query. */
const USAGE_MS = 8_000
const END_MS = 10_000
const TERMINATE_MS = 3_000

/** A running client, independent of the runtime (CLI or SDK) that controls it. */
export class ClientSession implements RunningSession {
  readonly process
  readonly messages: UnboundedQueue<RuntimeMessage> = new UnboundedQueue()
  private readonly translation = new ClientMessages()
  private readonly takers: ((line: string) => void)[] = []
  private control!: ClientControl
  private prompts = 0
  private working = false
  private rests: (() => void)[] = []

  constructor(
    private readonly child: ClientChild,
    private readonly env: Record<string, string>,
    private readonly log: Log,
  ) {
    this.process = child.process
  }

  /** Connects the runtime. `drained` resolves when all messages were passed to `take`. */
  attach(control: ClientControl, drained: Promise<unknown>): void {
    this.control = control
    control.ready.catch(() => {})
    void Promise.all([this.child.gone, drained.catch(() => {})]).then(([exit]) => {
      for (const message of this.translation.end()) this.messages.push(message)
      this.messages.push({ kind: 'exit', ...exit })
      this.messages.close()
    })
  }

  takeRaw(line: string): void {
    for (const take of this.takers) {
      try {
        take(line)
      } catch (error) {
        this.log('warn', 'a line of the client could not be stored', { reason: reasonOf(error) })
      }
    }
  }

  take(value: unknown): void {
    const { messages, promptDone } = this.translation.take(value)
    if (promptDone) this.prompts = Math.max(0, this.prompts - 1)
    for (const message of messages) {
      if (message.kind === 'state') this.working = message.state === 'working'
      this.messages.push(message)
    }
    if (this.atRest()) for (const rest of this.rests.splice(0)) rest()
  }

  onRaw(take: (line: string) => void): void {
    this.takers.push(take)
  }

  async ready(): Promise<void> {
    await withTimeout(START_MS, Promise.race([this.control.ready.catch(() => {}), this.child.gone]))
  }

  say(prompt: string): void {
    this.prompts++
    this.control.say(prompt)
  }

  async usage(): Promise<ContextUsage | null> {
    const reply = await this.ask('context usage', USAGE_MS, () => this.control.contextUsage())
    const told = readContextUsage(reply, this.env)
    if (told === null) return null
    const answered = told.reading.used
    const used = told.estimate ?? answered
    if (used === null) return null
    const { window, point, mode } = told.limits
    const usage = { used, window, point, proactive: mode === 'proactive', model: told.reading.model }
    return answered === null ? usage : { ...usage, answered }
  }

  async forbidCompaction(): Promise<void> {
    await this.ask('forbid compaction', REQUEST_MS, () => this.control.applySettings(NO_COMPACTION_SETTINGS))
  }

  async interrupt(): Promise<void> {
    await this.ask('interrupt', REQUEST_MS, () => this.control.interrupt())
  }

  async stopTask(taskId: string): Promise<void> {
    await this.ask('stop a task', REQUEST_MS, () => this.control.stopTask(taskId))
  }

  async end(withinMs = END_MS): Promise<void> {
    const { gone } = this.child
    const ended = this.finish()
    if ((await withTimeout(withinMs, ended)) !== undefined) return
    this.child.terminate()
    if ((await withTimeout(TERMINATE_MS, gone)) === undefined) this.child.kill()
    await gone
  }

  kill(): void {
    this.child.kill()
  }

  /**
   * Closes the client when it is idle.
   * Answers use the same input as prompts, so closing it during a turn would block the client.
   */
  private async finish(): Promise<unknown> {
    const { gone } = this.child
    await this.ready()
    if (!this.atRest()) {
      const resting = new Promise<void>((resolve) => void this.rests.push(resolve))
      await Promise.race([resting, gone])
    }
    this.control.close()
    return gone
  }

  private atRest(): boolean {
    return this.prompts === 0 && !this.working
  }

  private async ask(what: string, ms: number, request: () => Promise<unknown>): Promise<unknown> {
    try {
      const { gone } = this.child
      await withTimeout(START_MS, Promise.race([this.control.ready, gone]))
      if (this.child.isGone()) return undefined
      const reply = await withTimeout(
        ms,
        Promise.race([request().then((value) => ({ value })), gone.then(() => undefined)]),
      )
      if (reply === undefined) this.log('warn', `the client did not answer within ${ms} ms`, { request: what })
      return reply?.value
    } catch (error) {
      this.log('warn', 'the client refused a request', { request: what, reason: reasonOf(error) })
      return undefined
    }
  }
}
