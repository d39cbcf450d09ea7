import type { RuntimeListener } from '../../contract/runtime.js'
import { reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import { withTimeout } from '../../lib/with-timeout.js'

/**
 * Time limit for one answer to the client.
 * The client ends the session when it waits longer than its own limit. This limit is far below.
 * On a busy machine, a question to the client still fits into this limit.
 */
export const MAX_ANSWER_MS = 10_000

/**
 * Returns a listener that never answers late and never throws.
 * On a late or failed answer, the listener returns an empty answer and logs the reason.
 */
export function boundedListener(listener: RuntimeListener, log: Log, ms = MAX_ANSWER_MS): RuntimeListener {
  const ask = async <T>(name: keyof RuntimeListener, answer: () => Promise<T>): Promise<T | undefined> => {
    try {
      // Call the listener inside a promise, so that a synchronous throw is handled too.
      const given = await withTimeout(
        ms,
        Promise.resolve()
          .then(answer)
          .then((value) => ({ value })),
      )
      if (given === undefined)
        log('warn', `the client got no answer within ${ms} ms and continues without one`, { ear: name })
      return given?.value
    } catch (error) {
      log('warn', 'an answer to the client failed; the client continues without one', {
        ear: name,
        reason: reasonOf(error),
      })
      return undefined
    }
  }
  return {
    onHookEvent: async (event, payload) =>
      (await ask('onHookEvent', async () => listener.onHookEvent?.(event, payload))) ?? '',
    beforeTool: async (call) => (await ask('beforeTool', () => listener.beforeTool(call))) ?? {},
    afterTool: async (result) => void (await ask('afterTool', () => listener.afterTool(result))),
    afterBatch: async (calls) => (await ask('afterBatch', () => listener.afterBatch(calls))) ?? {},
    beforeCompaction: async (trigger) =>
      (await ask('beforeCompaction', () => listener.beforeCompaction(trigger))) ?? {},
    afterCompaction: async () => (await ask('afterCompaction', () => listener.afterCompaction())) ?? {},
  }
}
