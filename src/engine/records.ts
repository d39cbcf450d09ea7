import type { SeatRecord, SessionRecord } from '../contract/record.js'
import type { Observation, Signal } from '../contract/signal.js'
import { startTrack } from '../tracker/tracker.js'

const NO_SPEND = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }

export function newRecord(signal: Signal, seat: SeatRecord, at: string): SessionRecord {
  const source = signal.start?.source
  const reason = source === 'clear' ? 'clear' : source === 'resume' ? 'resume' : 'start'
  return {
    sessionId: signal.sessionId,
    agent: signal.agent,
    seatId: seat.seatId,
    agentVersion: null,
    project: null,
    cwd: null,
    branch: null,
    model: null,
    state: 'unknown',
    attended: null,
    jobId: null,
    process: null,
    transcriptPath: null,
    cursor: null,
    startedAt: at,
    seenAt: at,
    endedAt: null,
    track: startTrack(at, reason),
    compaction: null,
    compactions: 0,
    handoffs: 0,
    lastHandoffPath: null,
    spend: NO_SPEND,
    costUsd: null,
    planLimits: null,
    silence: { toolCalls: 0, since: at, alarmed: false },
    unsettled: [],
    levelsKey: '',
    configTrouble: null,
  }
}

/** What the signal and the look around it tell about the session itself. Nothing told leaves what was known. */
export function identify(record: SessionRecord, signal: Signal, observation: Observation, at: string): SessionRecord {
  return {
    ...record,
    agentVersion: signal.agentVersion ?? record.agentVersion,
    project: signal.project ?? record.project ?? signal.cwd,
    cwd: signal.cwd ?? record.cwd,
    branch: observation.branch ?? record.branch,
    model: signal.subagent ? record.model : (signal.model ?? record.model),
    attended: signal.attended ?? record.attended,
    jobId: signal.jobId ?? record.jobId,
    process: observation.process ?? record.process,
    transcriptPath: signal.transcriptPath ?? record.transcriptPath,
    cursor: observation.cursor ?? record.cursor,
    seenAt: at,
    spend: {
      input: record.spend.input + observation.spend.input,
      cacheCreation: record.spend.cacheCreation + observation.spend.cacheCreation,
      cacheRead: record.spend.cacheRead + observation.spend.cacheRead,
      output: record.spend.output + observation.spend.output,
      answers: record.spend.answers + observation.spend.answers,
    },
    costUsd: signal.costUsd ?? record.costUsd,
    planLimits: signal.planLimits ?? record.planLimits,
  }
}
