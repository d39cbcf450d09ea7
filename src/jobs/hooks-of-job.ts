import { existsSync } from 'node:fs'
import type { AttemptRecord, HookEvent, JobLevel, JobRecord } from '../contract/records/job.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { JobDependencies } from './dependencies.js'
import { hooksFor } from './hooks/applies.js'
import type { HookResult, HookRun } from './hooks/hook-result.js'
import { type EndEvent, type EndHookPayload, type SessionStartHookPayload, thresholdPayload } from './hooks/payloads.js'
import { runHooks } from './hooks/run-hooks.js'
import { environmentOf, folderOf } from './start-session.js'

/** Runs the hooks of one job, and writes into its log how they ended. */
export class HooksOfJob {
  private readonly atLevels: Promise<void>[] = []

  constructor(
    private readonly deps: JobDependencies,
    private readonly jobId: string,
    private readonly keep: (line: string) => void,
    /** A person wants the job to stop; `cancel`: to end. */
    private readonly signals: { stop: AbortSignal; cancel: AbortSignal },
  ) {}

  private get job(): JobRecord {
    return this.deps.store.job(this.jobId)!
  }

  private get hookContext() {
    return { cwd: folderOf(this.job), env: environmentOf(this.deps, this.job), jobId: this.jobId }
  }

  /** Resolves to what is put before the prompt. That is kept, so a pause does not cut them off. */
  async atStart(payload: SessionStartHookPayload): Promise<string> {
    const hooks = hooksFor(this.job.spec.hooks, 'session_start')
    const run = await runHooks(hooks, 'session_start', payload, { ...this.hookContext, signal: this.signals.cancel })
    this.note('session_start', run, null)
    return contextOf(run)
  }

  /** What they want done with a session that is full. */
  async whenFull(attempt: AttemptRecord): Promise<Verdict['decision']> {
    const hooks = hooksFor(this.job.spec.hooks, 'context_threshold')
    if (hooks.length === 0) return 'handoff'
    const run = await runHooks(hooks, 'context_threshold', this.thresholdPayload(attempt), {
      ...this.hookContext,
      signal: this.signals.stop,
    })
    const verdict = decisionOf(run)
    this.note('context_threshold', run, verdict)
    return verdict.decision
  }

  /** Beside the work, which does not wait for them; `settled` does. */
  atLevel({ name, hooks }: JobLevel, attempt: AttemptRecord): void {
    const payload = { ...this.thresholdPayload(attempt), level: name }
    const run = async (): Promise<void> => {
      const ran = await runHooks(hooks, 'context_threshold', payload, {
        ...this.hookContext,
        signal: this.signals.cancel,
      })
      this.note('context_threshold', ran, null)
    }
    this.atLevels.push(
      run().catch((error: unknown) =>
        this.deps.log('warn', 'hooks of a level failed', { job: this.jobId, reason: reasonOf(error) }),
      ),
    )
  }

  async settled(): Promise<void> {
    await Promise.all(this.atLevels.splice(0))
  }

  private thresholdPayload({ sessionId, usedTokens, windowTokens: window, pointTokens: point }: AttemptRecord) {
    // What it was asked for may be another name (`opus`), or none.
    const model = this.deps.store.session(sessionId)?.model ?? this.job.spec.model
    return thresholdPayload(this.job, sessionId, { used: usedTokens ?? 0, window, point, model })
  }

  /** Nothing cuts them off. */
  async atEnd(event: EndEvent, payload: EndHookPayload): Promise<void> {
    const { cwd, ...context } = this.hookContext
    // The worktree may have gone with the end of the job, and an agent may have removed the folder it worked in.
    const there = [cwd, this.job.spec.folder].find((folder) => existsSync(folder)) ?? this.deps.folderOf(this.jobId)
    this.note(
      event,
      await runHooks(hooksFor(this.job.spec.hooks, event), event, payload, { ...context, cwd: there }),
      null,
    )
  }

  private note(event: Parameters<typeof hookLogLines>[0], run: HookRun, verdict: Verdict | null): void {
    for (const line of hookLogLines(event, run, verdict, this.deps.now().toISOString())) this.keep(line)
    logHooks(this.deps.log, this.jobId, run, verdict)
  }
}

/** What became of hooks, as lines of the job's log. What they printed is their own affair, and may be long. */
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

/** The same for Baton's own log: what went wrong, and what was decided. */
function logHooks(log: Log, job: string, { results }: HookRun, verdict: Verdict | null): void {
  for (const { name, error } of results)
    if (error !== null) log('warn', 'a hook failed', { job, hook: name, reason: error })
  if (verdict !== null) log('info', 'hooks decided about a full session', { job, ...verdict })
}

const DECISIONS = ['abort', 'handoff', 'continue'] as const
/**
 * abort     this session ends here and a fresh one begins with a brief made by code
 * handoff   Baton's own handoff: the agent writes the brief
 * continue  it goes on, until the next cycle
 */
type Decision = (typeof DECISIONS)[number]

interface Verdict {
  decision: Decision
  /** Why, for people. */
  reason: string
}

/** What the hooks of `on_context_threshold` decided. The last one that says something has the word. */
export function decisionOf({ results, stoppedBy }: HookRun): Verdict {
  if (stoppedBy) {
    return {
      decision: 'handoff',
      reason: `the hook \`${stoppedBy.name}\` failed (${stoppedBy.error}): handed over the built-in way`,
    }
  }
  if (results.length === 0)
    return { decision: 'handoff', reason: 'no hook was meant for it: handed over the built-in way' }
  const said = results.filter(({ ok }) => ok).flatMap((result) => wordOf(result) ?? [])
  return said.at(-1) ?? { decision: 'abort', reason: 'no hook decided' }
}

function wordOf(result: HookResult): Verdict | null {
  if (result.type !== 'shell' && result.type !== 'webhook') return null
  const last = result.output.trimEnd().split('\n').at(-1)?.trim() ?? ''
  const word =
    result.type === 'shell' && !last.startsWith('{')
      ? last
      : field(result.type === 'shell' ? last : result.output, 'decision')
  const decision = DECISIONS.find((known) => known === word?.toLowerCase())
  return decision ? { decision, reason: `the hook \`${result.name}\` says ${decision}` } : null
}

/** A prompt with more before it would be about the hook, not about the work. */
export const MOST_CONTEXT = 40_000

/** What the hooks of `on_session_start` put before the prompt; '' nothing. */
export function contextOf({ results }: HookRun): string {
  const parts = results
    .filter(({ ok }) => ok)
    .map((result) => {
      if (result.type === 'shell') return result.output.trim()
      return result.type === 'webhook' ? (field(result.output, 'context') ?? '').trim() : ''
    })
    .filter((text) => text !== '')
  const whole = parts.join('\n\n')
  if (whole.length <= MOST_CONTEXT) return whole
  return `${whole.slice(0, MOST_CONTEXT)}\n[baton] ${whole.length - MOST_CONTEXT} characters of the hooks' output are left out here.`
}

/** A text under a key of a JSON object; null: there is none. */
function field(json: string, key: string): string | null {
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
