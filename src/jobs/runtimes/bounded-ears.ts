import { reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import type { Ears } from './runtime.js'
import { within } from './within.js'

/**
 * A client that is made to wait longer than it allows ends its session, so every answer has its time: far below what the client is
 * told to wait, and long enough for a question to a client on a machine that is busy with many.
 */
export const EAR_MS = 10_000

/** The same ears, none of which is late or throws: then the answer is empty, and the log says so. */
export function boundedEars(ears: Ears, log: Log, ms = EAR_MS): Ears {
  const ask = async <T>(name: keyof Ears, answer: () => Promise<T>): Promise<T | undefined> => {
    try {
      // in a promise of its own: an ear that throws before it waits is no different
      const given = await within(
        ms,
        Promise.resolve()
          .then(answer)
          .then((value) => ({ value })),
      )
      if (given === undefined) log('warn', `no answer to the client within ${ms} ms; it goes on without one`, { ear: name })
      return given?.value
    } catch (error) {
      log('warn', 'an answer to the client failed; it goes on without one', { ear: name, reason: reasonOf(error) })
      return undefined
    }
  }
  return {
    heard: async (event, payload) => (await ask('heard', async () => ears.heard?.(event, payload))) ?? '',
    beforeTool: async (call) => (await ask('beforeTool', () => ears.beforeTool(call))) ?? {},
    afterTool: async (result) => void (await ask('afterTool', () => ears.afterTool(result))),
    afterBatch: async (calls) => (await ask('afterBatch', () => ears.afterBatch(calls))) ?? {},
    beforeCompaction: async (trigger) => (await ask('beforeCompaction', () => ears.beforeCompaction(trigger))) ?? {},
    afterCompaction: async () => (await ask('afterCompaction', () => ears.afterCompaction())) ?? {},
  }
}
