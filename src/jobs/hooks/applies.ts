import type { HookEvent, HookSpec, JobHooks } from '../../contract/records/job.js'

/** True when a hook is meant for this event and this payload. */
export function applies({ onEvents, when }: HookSpec, event: HookEvent, payload: unknown): boolean {
  return (onEvents === null || onEvents.includes(event)) && (when === null || Boolean(valueAt(payload, when)))
}

/**
 * Returns the value at a dot path; a number selects a list element.
 * Undefined when there is none.
 */
export function valueAt(payload: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, step) => {
    const isMap = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    return isMap ? (value as Record<string, unknown>)[step] : undefined
  }, payload)
}

/**
 * Returns the hooks of an event in order.
 * A failure or timeout runs `on_error` before `after_run`; every end runs `after_run`.
 */
export function hooksFor(hooks: JobHooks, event: HookEvent): HookSpec[] {
  switch (event) {
    case 'context_threshold':
      return hooks.onContextThreshold
    case 'session_start':
      return hooks.onSessionStart
    case 'failed':
    case 'timeout':
      return [...hooks.onError, ...hooks.afterRun]
    default:
      return hooks.afterRun
  }
}
