import type { HookEvent, HookSpec, JobHooks } from '../../contract/records/job.js'

/** True when a hook is meant for this event and this payload. */
export function appliesTo({ onEvents, when }: HookSpec, event: HookEvent, payload: unknown): boolean {
  return (onEvents === null || onEvents.includes(event)) && (when === null || Boolean(valueAt(payload, when)))
}

/**
 * Returns the value at a dot path. A number selects a list element. Undefined when there is none.
 */
export function valueAt(payload: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, step) => {
    const isMap = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    return isMap ? (value as Record<string, unknown>)[step] : undefined
  }, payload)
}

/** Returns the hooks of an event in order. */
export function hooksFor(hooks: JobHooks, event: HookEvent): HookSpec[] {
  return hookListsFor(hooks, event).flat()
}

/**
 * Returns the lists of hooks of an event, in order.
 * A failing hook stops the rest of its own list only.
 * `on_error` runs at a failure or a timeout. `after_run` comes after it and runs at every end.
 */
export function hookListsFor(hooks: JobHooks, event: HookEvent): HookSpec[][] {
  switch (event) {
    case 'context_threshold':
      return [hooks.onContextThreshold]
    case 'session_start':
      return [hooks.onSessionStart]
    case 'failed':
    case 'timeout':
      return [hooks.onError, hooks.afterRun]
    default:
      return [hooks.afterRun]
  }
}
