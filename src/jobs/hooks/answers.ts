import type { HookResult, HookRun } from './hook-result.js'

export const DECISIONS = ['abort', 'handoff', 'continue'] as const
/**
 * abort     this session ends here and a fresh one begins with a brief made by code
 * handoff   Baton's own handoff: the agent writes the brief
 * continue  it goes on, until the next cycle
 */
export type Decision = (typeof DECISIONS)[number]

export interface Verdict {
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
  if (results.length === 0) return { decision: 'handoff', reason: 'no hook was meant for it: handed over the built-in way' }
  const said = results.filter(({ ok }) => ok).flatMap((result) => wordOf(result) ?? [])
  return said.at(-1) ?? { decision: 'abort', reason: 'no hook decided' }
}

function wordOf(result: HookResult): Verdict | null {
  if (result.type !== 'shell' && result.type !== 'webhook') return null
  const last = result.output.trimEnd().split('\n').at(-1)?.trim() ?? ''
  const word =
    result.type === 'shell' && !last.startsWith('{') ? last : field(result.type === 'shell' ? last : result.output, 'decision')
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
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : null
    return typeof found === 'string' ? found : null
  } catch {
    return null
  }
}
