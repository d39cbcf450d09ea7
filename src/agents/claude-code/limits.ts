import type { CompactionMode, Limits } from '../../contract/reading.js'
import { modelFamilyOf, modelWindowFacts, requestsLargeWindow, resolveAlias } from './models.js'

/**
 * The client's own figures about its compaction, from the plugin module or the context-usage query.
 */
export interface ReportedLimits {
  /** The model's own window, if reported separately from the one used for compaction. */
  window: number | null
  /** The window used for compaction. */
  effective: number | null
  threshold: number | null
  enabled: boolean
  /** Source of the window: auto, model-default, unknown-model, env, settings. */
  by: string | null
}

export interface LimitsInput {
  /** Names of the model, best first: from the client, command line, environment, settings. */
  models: (string | null | undefined)[]
  /** Model of the newest answer. Older clients write its name without `[1m]`. */
  answered: string | null
  /** The window of this model as the client's status line reported it. */
  window: number | null
  /** Environment of the client, including variables from its settings. */
  env: Record<string, string>
  settings: { autoCompactEnabled?: boolean; autoCompactWindow?: number }
  args: { autocompact?: string; betas?: string[] }
  told: ReportedLimits | null
}

const SMALL = 200_000
const LARGE = 1_000_000
const LEAST_SET = 100_000
const MOST_SET = 1_000_000
/**
 * Tokens kept free above the reserve for the answer:
 * by proactive compaction, and before the API refuses a prompt.
 */
const COMPACT_MARGIN = 13_000
const REFUSE_MARGIN = 3_000

/**
 * Returns context window and compaction point of one session.
 * The client reports both only to a plugin module, or as reply to a context-usage query.
 * Without the client's report, model, settings, environment and command line give the limits.
 * Limits derived in this way follow the client's rules and are marked as not exact.
 */
export function deriveLimits(input: LimitsInput): Limits {
  if (input.told !== null) {
    const told = fromReported(input.told, input)
    if (told !== null) return told
  }
  const name = chooseModel(input)
  if (name === null && input.window === null) {
    return { window: null, point: null, mode: 'proactive', exact: false, reason: 'model and window not known' }
  }
  const facts = windowFacts(name, input)
  const reserve = reserveOf(input.env, facts.reserve)
  const off = whyOff(input)
  if (off !== null) {
    const point = facts.window - reserve - REFUSE_MARGIN
    return {
      window: facts.window,
      point,
      mode: 'off',
      exact: false,
      reason: `compaction off (${off}); refuses at the window − ${k(reserve + REFUSE_MARGIN)}`,
    }
  }
  const set = setWindow(input)
  const effective = Math.min(facts.window, set?.tokens ?? facts.window)
  const mode: CompactionMode = set === null && facts.by === 'auto' ? 'reactive' : 'proactive'
  const point = effective - reserve - COMPACT_MARGIN
  const of = set === null ? facts.reason : `window set by ${set.from}`
  const reason = `derived: ${of} − ${k(reserve + COMPACT_MARGIN)}`
  return overridden({ window: facts.window, point, mode, exact: false, reason }, effective - reserve, input.env)
}

function fromReported(told: ReportedLimits, input: LimitsInput): Limits | null {
  const name = chooseModel(input)
  // With a smaller configured window, the window used for compaction is not the model's own.
  const own = told.by === 'env' || told.by === 'settings' ? windowFacts(name, input).window : told.effective
  const window = told.window ?? input.window ?? own
  if (window === null) return null
  const reserve = reserveOf(input.env, modelWindowFacts(name ?? '').reserve)
  if (!told.enabled) {
    const point = window - reserve - REFUSE_MARGIN
    return {
      window,
      point,
      mode: 'off',
      exact: false,
      reason: `compaction off, told by the client; refuses at the window − ${k(reserve + REFUSE_MARGIN)}`,
    }
  }
  if (told.threshold === null) return null
  const limits: Limits = {
    window,
    point: told.threshold,
    mode: told.by === 'auto' ? 'reactive' : 'proactive',
    exact: true,
    reason: `told by the client (${told.by ?? 'source not named'})`,
  }
  return overridden(limits, (told.effective ?? window) - reserve, input.env)
}

/**
 * Applies CLAUDE_AUTOCOMPACT_PCT_OVERRIDE.
 * The client never reports it. It only lowers the compaction point, under proactive compaction.
 */
function overridden(limits: Limits, usable: number, env: Record<string, string>): Limits {
  const percent = Number(env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE)
  if (limits.mode !== 'proactive' || limits.point === null || !(percent > 0 && percent <= 100)) return limits
  const point = Math.floor((usable * percent) / 100)
  return point < limits.point
    ? { ...limits, point, reason: `CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: ${percent} % of ${k(usable)}` }
    : limits
}

/** Returns the first name of the answering model's family, preferably one with `[1m]`. */
function chooseModel(input: Pick<LimitsInput, 'models' | 'answered' | 'env'>): string | null {
  const names = input.models
    .filter((name) => typeof name === 'string' && name !== '')
    .map((name) => resolveAlias(name as string, input.env))
  const first = input.answered ?? names[0] ?? null
  if (first === null) return null
  const family = modelFamilyOf(first)
  return names.find((name) => modelFamilyOf(name) === family && requestsLargeWindow(name)) ?? first
}

interface WindowFacts {
  window: number
  by: 'auto' | 'model-default' | 'unknown-model'
  reserve: number
  reason: string
}

function windowFacts(name: string | null, input: LimitsInput): WindowFacts {
  const facts = modelWindowFacts(name ?? '')
  const { env } = input
  if (input.window !== null) {
    // A small model with a large window was requested as `[1m]`, so it compacts after a refusal.
    const by = facts.window === SMALL && input.window === LARGE ? 'auto' : facts.by
    return { window: input.window, by, reserve: facts.reserve, reason: 'window told by the status line' }
  }
  const told = wholeNumber(env.CLAUDE_CODE_MAX_CONTEXT_TOKENS)
  if (told !== null && (facts.family === null || truthy(env.DISABLE_COMPACT))) {
    return { window: told, by: facts.by, reserve: facts.reserve, reason: 'CLAUDE_CODE_MAX_CONTEXT_TOKENS' }
  }
  const beta = facts.window === SMALL && (input.args.betas ?? []).some((name) => name.startsWith('context-1m'))
  const window = truthy(env.CLAUDE_CODE_DISABLE_1M_CONTEXT) ? SMALL : beta ? LARGE : facts.window
  return {
    window,
    by: beta ? 'auto' : facts.by,
    reserve: facts.reserve,
    reason: facts.family === null ? 'window of an unknown model' : `window of ${facts.family}`,
  }
}

/**
 * Returns the configured context window.
 * Environment outranks command line, which outranks settings. Invalid values are ignored.
 */
function setWindow(input: LimitsInput): { tokens: number; from: string } | null {
  const fromEnv = tokens(input.env.CLAUDE_CODE_AUTO_COMPACT_WINDOW)
  if (fromEnv !== null && fromEnv > 0)
    return { tokens: Math.max(fromEnv, LEAST_SET), from: 'CLAUDE_CODE_AUTO_COMPACT_WINDOW' }
  const { autocompact } = input.args
  if (autocompact === 'auto') return null
  const asked = tokens(autocompact)
  // On the command line a bare small number means thousands.
  const fromArgs = asked !== null && asked < 1000 ? asked * 1000 : asked
  if (fromArgs !== null && fromArgs >= LEAST_SET && fromArgs <= MOST_SET)
    return { tokens: fromArgs, from: '--autocompact' }
  const fromSettings = input.settings.autoCompactWindow
  if (fromSettings !== undefined && fromSettings >= LEAST_SET && fromSettings <= MOST_SET)
    return { tokens: fromSettings, from: 'settings' }
  return null
}

function whyOff(input: LimitsInput): string | null {
  if (truthy(input.env.DISABLE_COMPACT)) return 'DISABLE_COMPACT'
  if (truthy(input.env.DISABLE_AUTO_COMPACT)) return 'DISABLE_AUTO_COMPACT'
  return input.settings.autoCompactEnabled === false ? 'settings' : null
}

function reserveOf(env: Record<string, string>, usual: number): number {
  return Math.min(usual, wholeNumber(env.CLAUDE_CODE_MAX_OUTPUT_TOKENS) ?? usual)
}

function truthy(value: string | undefined): boolean {
  return ['1', 'true', 'yes', 'on'].includes((value ?? '').trim().toLowerCase())
}

function wholeNumber(value: string | undefined): number | null {
  const n = Number.parseInt(value ?? '', 10)
  return n > 0 ? n : null
}

function tokens(value: string | undefined): number | null {
  const found = /^(\d+(?:\.\d+)?)([km]?)$/i.exec((value ?? '').trim())
  if (found === null) return null
  const unit = found[2]?.toLowerCase() === 'm' ? 1_000_000 : found[2] ? 1000 : 1
  return Math.round(Number(found[1]) * unit)
}

function k(n: number): string {
  return n % 1000 === 0 ? `${n / 1000}k` : String(n)
}
