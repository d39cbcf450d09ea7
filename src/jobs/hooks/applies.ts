import type { HookEvent, HookSpec, JobHooks } from '../../contract/records/job.js'

/** Whether a hook of a list is meant for this event and this payload. */
export function applies({ onEvents, when }: HookSpec, event: HookEvent, payload: unknown): boolean {
  return (onEvents === null || onEvents.includes(event)) && (when === null || Boolean(valueAt(payload, when)))
}

/** The value at a dot path; undefined: there is none. A number is a place in a list. */
export function valueAt(payload: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, step) => {
    const isMap = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    return isMap ? (value as Record<string, unknown>)[step] : undefined
  }, payload)
}

/** The hooks of an event, in order: `on_error` also hears of a failure or a timeout, before `after_run`, which hears of every end. */
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
