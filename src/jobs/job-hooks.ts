import { existsSync } from 'node:fs'
import type { AttemptRecord, HookEvent, JobLevel, JobRecord } from '../contract/records/job.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { JobDependencies } from './dependencies.js'
import type { HookResult, HookRun } from './hooks/hook-result.js'
import { type EndEvent, type EndHookPayload, type SessionStartHookPayload, thresholdPayload } from './hooks/payloads.js'
import { runHooks } from './hooks/run-hooks.js'
import { hookListsFor, hooksFor } from './hooks/select-hooks.js'
import { jobFolder, jobProcessEnvironment } from './start-session.js'

/** Runs the hooks of one job and writes their results into its log. */
export class JobHookRunner {
  private readonly atLevels: Promise<void>[] = []

  constructor(
    private readonly deps: JobDependencies,
    private readonly jobId: string,
    private readonly keep: (line: string) => void,
    /**
     * Aborted when the user pauses or cancels the job. `cancel` is aborted only by a cancellation.
     */
    private readonly signals: { stop: AbortSignal; cancel: AbortSignal },
  ) {}

  private get job(): JobRecord {
    return this.deps.store.job(this.jobId)!
  }

  private get hookContext() {
    return { cwd: jobFolder(this.job), env: jobProcessEnvironment(this.deps, this.job), jobId: this.jobId }
  }

  /**
   * Runs session start hooks and returns the text to put before the prompt.
   * The text is stored, so a pause does not interrupt these hooks.
   */
  async runStartHooks(payload: SessionStartHookPayload): Promise<string> {
    const hooks = hooksFor(this.job.spec.hooks, 'session_start')
    const run = await runHooks(hooks, 'session_start', payload, { ...this.hookContext, signal: this.signals.cancel })
    this.logRun('session_start', run, null)
    return hookContextText(run)
  }

  /** Runs the context threshold hooks and returns what to do with a full session. */
  async decideWhenFull(attempt: AttemptRecord): Promise<Verdict['decision']> {
    const hooks = hooksFor(this.job.spec.hooks, 'context_threshold')
    if (hooks.length === 0) return 'handoff'
    const run = await runHooks(hooks, 'context_threshold', this.thresholdPayload(attempt), {
      ...this.hookContext,
      signal: this.signals.stop,
    })
    const verdict = lastHookDecision(run)
    this.logRun('context_threshold', run, verdict)
    return verdict.decision
  }

  /** Runs the hooks of a level in parallel to the work. `waitForLevelHooks` waits for them. */
  runLevelHooks({ name, hooks }: JobLevel, attempt: AttemptRecord): void {
    const payload = { ...this.thresholdPayload(attempt), level: name }
    const run = async (): Promise<void> => {
      const ran = await runHooks(hooks, 'context_threshold', payload, {
        ...this.hookContext,
        signal: this.signals.cancel,
      })
      this.logRun('context_threshold', ran, null)
    }
    this.atLevels.push(
      run().catch((error: unknown) =>
        this.deps.log('warn', 'hooks of a level failed', { job: this.jobId, reason: reasonOf(error) }),
      ),
    )
  }

  async waitForLevelHooks(): Promise<void> {
    await Promise.all(this.atLevels.splice(0))
  }

  private thresholdPayload({ sessionId, usedTokens, windowTokens: window, pointTokens: point }: AttemptRecord) {
    // The model that was requested may be an alias (`opus`) or absent.
    const model = this.deps.store.session(sessionId)?.model ?? this.job.spec.model
    return thresholdPayload(this.job, sessionId, { used: usedTokens ?? 0, window, point, model })
  }

  /** Runs the end hooks of a job. Nothing interrupts them. */
  async runEndHooks(event: EndEvent, payload: EndHookPayload): Promise<void> {
    const { cwd, ...context } = this.hookContext
    // The worktree may have been deleted, and an agent may have removed the folder it worked in.
    const there = [cwd, this.job.spec.folder].find((folder) => existsSync(folder)) ?? this.deps.folderOf(this.jobId)
    for (const hooks of hookListsFor(this.job.spec.hooks, event))
      this.logRun(event, await runHooks(hooks, event, payload, { ...context, cwd: there }), null)
  }

  private logRun(event: Parameters<typeof hookLogLines>[0], run: HookRun, verdict: Verdict | null): void {
    for (const line of hookLogLines(event, run, verdict, this.deps.now().toISOString())) this.keep(line)
    logHooks(this.deps.log, this.jobId, run, verdict)
  }
}

/**
 * Returns the results of hooks as lines of the job's log.
 * The hooks' output may be long and is omitted.
 */
function hookLogLines(event: HookEvent, { results }: HookRun, verdict: Verdict | null, at: string): string[] {
  const line = (data: object): string =>
    JSON.stringify({ type: 'baton', at, event: 'hook', data: { on: event, ...data } })
  return [
    ...results.map(({ name, type, ok, durationMs, exitCode, error }) =>
      line({ name, type, ok, duration_ms: durationMs, exit_code: exitCode, error }),
    ),
    ...(verdict === null ? [] : [line({ decision: verdict.decision, reason: verdict.reason })]),
  ]
}

/** Writes failures and decisions of hooks to Baton's own log. */
function logHooks(log: Log, job: string, { results }: HookRun, verdict: Verdict | null): void {
  for (const { name, error } of results)
    if (error !== null) log('warn', 'a hook failed', { job, hook: name, reason: error })
  if (verdict !== null) log('info', 'hooks decided how a full session continues', { job, ...verdict })
}

const DECISIONS = ['abort', 'handoff', 'continue'] as const
/**
 * Decision of a hook about a session whose context is full:
 * `abort`: the session ends, and a fresh one begins with a brief written by code.
 * `handoff`: Baton's own handoff, in which the agent writes the brief.
 * `continue`: the session continues until the next cycle.
 */
type Decision = (typeof DECISIONS)[number]

interface Verdict {
  decision: Decision
  /** Reason shown to users. */
  reason: string
}

/** Returns the decision of the `on_context_threshold` hooks. The last hook that decides wins. */
export function lastHookDecision({ results, stoppedBy }: HookRun): Verdict {
  if (stoppedBy) {
    return {
      decision: 'handoff',
      reason: `the hook \`${stoppedBy.name}\` failed (${stoppedBy.error}): Baton's own handoff runs`,
    }
  }
  if (results.length === 0) return { decision: 'handoff', reason: "no hook applies: Baton's own handoff runs" }
  const said = results.filter(({ ok }) => ok).flatMap((result) => decisionOfHook(result) ?? [])
  return said.at(-1) ?? { decision: 'abort', reason: 'no hook decided' }
}

function decisionOfHook(result: HookResult): Verdict | null {
  if (result.type !== 'shell' && result.type !== 'webhook') return null
  const last = result.output.trimEnd().split('\n').at(-1)?.trim() ?? ''
  const word =
    result.type === 'shell' && !last.startsWith('{')
      ? last
      : textField(result.type === 'shell' ? last : result.output, 'decision')
  const decision = DECISIONS.find((known) => known === word?.toLowerCase())
  return decision ? { decision, reason: `the hook \`${result.name}\` answered ${decision}` } : null
}

/** Limit of text that hooks put before a prompt. More would distract from the task. */
export const MAX_HOOK_CONTEXT = 40_000

/**
 * Returns the text that `on_session_start` hooks put before the prompt. Empty when there is none.
 */
export function hookContextText({ results }: HookRun): string {
  const parts = results
    .filter(({ ok }) => ok)
    .map((result) => {
      if (result.type === 'shell') return result.output.trim()
      return result.type === 'webhook' ? (textField(result.output, 'context') ?? '').trim() : ''
    })
    .filter((text) => text !== '')
  const whole = parts.join('\n\n')
  if (whole.length <= MAX_HOOK_CONTEXT) return whole
  const omitted = whole.length - MAX_HOOK_CONTEXT
  return `${whole.slice(0, MAX_HOOK_CONTEXT)}\n[baton] ${omitted} characters of the hooks' output are omitted here.`
}

/** Returns the text under a key of a JSON object. Null when there is none. */
function textField(json: string, key: string): string | null {
  try {
    const value: unknown = JSON.parse(json)
    const found =
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : null
    return typeof found === 'string' ? found : null
  } catch {
    return null
  }
}
