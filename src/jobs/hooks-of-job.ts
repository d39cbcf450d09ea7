import { existsSync } from 'node:fs'
import type { AttemptRecord, JobLevel, JobRecord } from '../contract/job.js'
import { reasonOf } from '../lib/errors.js'
import { contextOf, decisionOf, type Verdict } from './hooks/answers.js'
import { hooksFor } from './hooks/applies.js'
import type { HookRun } from './hooks/hook-result.js'
import { hookLogLines, logHooks } from './hooks/log-hooks.js'
import { type EndEvent, type EndHookPayload, type SessionStartHookPayload, thresholdPayload } from './hooks/payloads.js'
import { runHooks } from './hooks/run-hooks.js'
import type { JobParts } from './parts.js'
import { environmentOf, folderOf } from './start-session.js'

/** Runs the hooks of one job, and writes into its log how they ended. */
export class HooksOfJob {
  readonly #atLevels: Promise<void>[] = []

  constructor(
    private readonly parts: JobParts,
    private readonly jobId: string,
    private readonly keep: (line: string) => void,
    /** A person wants the job to stop; `cancel`: to end. */
    private readonly signals: { stop: AbortSignal; cancel: AbortSignal },
  ) {}

  get #job(): JobRecord {
    return this.parts.store.job(this.jobId)!
  }

  get #ground() {
    return { cwd: folderOf(this.#job), env: environmentOf(this.parts, this.#job), jobId: this.jobId }
  }

  /** Resolves to what is put before the prompt. That is kept, so a pause does not cut them off. */
  async atStart(payload: SessionStartHookPayload): Promise<string> {
    const hooks = hooksFor(this.#job.spec.hooks, 'session_start')
    const run = await runHooks(hooks, 'session_start', payload, { ...this.#ground, signal: this.signals.cancel })
    this.#note('session_start', run, null)
    return contextOf(run)
  }

  /** What they want done with a session that is full. */
  async whenFull(attempt: AttemptRecord): Promise<Verdict['decision']> {
    const hooks = hooksFor(this.#job.spec.hooks, 'context_threshold')
    if (hooks.length === 0) return 'handoff'
    const run = await runHooks(hooks, 'context_threshold', this.#thresholdPayload(attempt), {
      ...this.#ground,
      signal: this.signals.stop,
    })
    const verdict = decisionOf(run)
    this.#note('context_threshold', run, verdict)
    return verdict.decision
  }

  /** Beside the work, which does not wait for them; `settled` does. */
  atLevel({ name, hooks }: JobLevel, attempt: AttemptRecord): void {
    const payload = { ...this.#thresholdPayload(attempt), level: name }
    const run = async (): Promise<void> => {
      const ran = await runHooks(hooks, 'context_threshold', payload, { ...this.#ground, signal: this.signals.cancel })
      this.#note('context_threshold', ran, null)
    }
    this.#atLevels.push(
      run().catch((error: unknown) =>
        this.parts.log('warn', 'hooks of a level failed', { job: this.jobId, reason: reasonOf(error) }),
      ),
    )
  }

  async settled(): Promise<void> {
    await Promise.all(this.#atLevels.splice(0))
  }

  #thresholdPayload({ sessionId, usedTokens, windowTokens: window, pointTokens: point }: AttemptRecord) {
    // What it was asked for may be another name (`opus`), or none.
    const model = this.parts.store.session(sessionId)?.model ?? this.#job.spec.model
    return thresholdPayload(this.#job, sessionId, { used: usedTokens ?? 0, window, point, model })
  }

  /** Nothing cuts them off. */
  async atEnd(event: EndEvent, payload: EndHookPayload): Promise<void> {
    const { cwd, ...ground } = this.#ground
    // The worktree may have gone with the end of the job, and an agent may have removed the folder it worked in.
    const there = [cwd, this.#job.spec.folder].find((folder) => existsSync(folder)) ?? this.parts.folderOf(this.jobId)
    this.#note(event, await runHooks(hooksFor(this.#job.spec.hooks, event), event, payload, { ...ground, cwd: there }), null)
  }

  #note(event: Parameters<typeof hookLogLines>[0], run: HookRun, verdict: Verdict | null): void {
    for (const line of hookLogLines(event, run, verdict, this.parts.now().toISOString())) this.keep(line)
    logHooks(this.parts.log, this.jobId, run, verdict)
  }
}
