import type { JobLogPart } from '../../../../src/contract/api/jobs.js'
import { addPart, type LogState, NOTHING_READ } from './log-fold.js'

export interface LogReader {
  /** There may be more: it is read on to the end. While it is being read, that is done once more behind it. */
  readOn(): void
  /** Nothing is told any more. */
  stop(): void
}

interface Reading {
  /** What stands behind `after`; null: from the beginning. */
  part(after: string | null, signal: AbortSignal): Promise<JobLogPart>
  /** After every part. `read`: that was the end. */
  told(log: LogState, read: boolean): void
  failed(error: unknown): void
}

/** Reads a log part by part, one at a time: a part that takes long is waited for, whatever happens meanwhile. It goes on behind `from`. */
export function makeLogReader({ part, told, failed }: Reading, from: LogState = NOTHING_READ): LogReader {
  const stopped = new AbortController()
  let log = from
  let isReading = false
  let isWanted = false

  const toTheEnd = async (): Promise<void> => {
    isReading = true
    try {
      do {
        isWanted = false
        log = addPart(log, await part(log.next, stopped.signal))
        if (stopped.signal.aborted) return
        told(log, !log.more)
      } while (log.more || isWanted)
    } catch (error) {
      if (!stopped.signal.aborted) failed(error)
    } finally {
      isReading = false
    }
  }

  return {
    readOn() {
      isWanted = true
      if (!isReading && !stopped.signal.aborted) void toTheEnd()
    },
    stop: () => stopped.abort(),
  }
}
