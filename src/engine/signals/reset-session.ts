import { BatonError, EXIT } from '../../lib/errors.js'
import { startTrack } from '../../tracker/tracker.js'
import type { EngineDependencies } from '../context.js'
import { NO_SPEND } from './session-records.js'
import { cancelWaitingMessages } from './switches.js'

/**
 * Resets a session on its owner's request: new cycle, unknown token count, zero spend.
 * Levels are reported again. Past events stay.
 * Throws for a session that its own client reports. False when the session is unknown.
 */
export function restartMeasurement(deps: EngineDependencies, sessionId: string): boolean {
  const { store, now } = deps
  return store.transaction(() => {
    const record = store.session(sessionId)
    if (!record) return false
    if (record.transcriptPath !== null || record.process !== null) {
      throw new BatonError(
        `Session ${sessionId} is measured in its client and cannot be reset from outside.`,
        'Run /clear in the client, or give the id of a new session.',
        EXIT.refused,
      )
    }
    const at = now().toISOString()
    cancelWaitingMessages(deps, record, at, 'the session was reset')
    const track = {
      ...startTrack(at, 'clear'),
      cycle: record.track.cycle + 1,
      limits: record.track.limits,
      model: record.track.model,
    }
    const silence = { toolCalls: 0, since: at, alarmed: false }
    store.putSession({
      ...record,
      track,
      spend: NO_SPEND,
      costUsd: null,
      compaction: null,
      silence,
      seenAt: at,
      endedAt: null,
    })
    store.addEvent({
      type: 'cycle_started',
      at,
      session_id: sessionId,
      seat_id: record.seatId,
      job_id: record.jobId,
      data: { cycle: track.cycle, reason: 'clear' },
    })
    return true
  })
}
