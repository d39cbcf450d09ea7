import type { SeatRecord, SessionRecord } from '../../contract/records/session.js'
import type { Observation, Signal } from '../../contract/signal.js'
import { startTrack } from '../../tracker/tracker.js'
import { titleAfter } from './session-title.js'

export const NO_SPEND = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }

/**
 * Creates a session's record. `at` is the current time; a spooled signal may have begun earlier.
 */
export function newSessionRecord(signal: Signal, seat: SeatRecord, at: string): SessionRecord {
  const isEarlier = signal.at > 0 && signal.at < Date.parse(at)
  const source = signal.start?.source
  const reason = source === 'clear' ? 'clear' : source === 'resume' || source === 'fork' ? 'resume' : 'start'
  return {
    sessionId: signal.sessionId,
    agent: signal.agent,
    seatId: seat.seatId,
    agentVersion: null,
    project: null,
    cwd: null,
    branch: null,
    model: null,
    title: null,
    state: 'unknown',
    attended: null,
    jobId: null,
    process: null,
    transcriptPath: null,
    cursor: null,
    startedAt: isEarlier ? new Date(signal.at).toISOString() : at,
    ...(isEarlier ? { metAt: at } : {}),
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
    enabled: true,
    handoffId: null,
    terminal: null,
    briefWanted: null,
    levelsKey: '',
    configTrouble: null,
  }
}

/**
 * Updates the session's own fields from a signal and its measurements. Fields not reported stay.
 */
export function updateSessionRecord(
  record: SessionRecord,
  signal: Signal,
  observation: Observation,
  at: string,
): SessionRecord {
  return {
    ...record,
    agentVersion: signal.agentVersion ?? record.agentVersion,
    project: signal.project ?? record.project ?? signal.cwd,
    cwd: signal.cwd ?? record.cwd,
    branch: observation.branch ?? record.branch,
    model: signal.subagent ? record.model : (signal.model ?? modelAfter(observation, record.model)),
    title: titleAfter(record, signal, observation),
    attended: signal.attended ?? record.attended,
    // A session of a job that a user resumes by hand no longer belongs to the job.
    jobId: signal.kind === 'session-start' ? signal.jobId : (signal.jobId ?? record.jobId),
    process: observation.process ?? record.process,
    transcriptPath: signal.transcriptPath ?? record.transcriptPath,
    cursor: observation.cursor ?? record.cursor,
    seenAt: at,
    spend: spendAfter(record, signal, observation),
    costUsd: signal.costUsd ?? higherTotal(observation.liveCostUsd, record.costUsd),
    planLimits: signal.planLimits ?? record.planLimits,
    terminal: terminalOf(record, signal),
  }
}

/** Returns the terminal of the reporting process, as a session may be resumed in another one. */
function terminalOf(record: SessionRecord, { terminal, kind }: Signal): { configDir: string } | null {
  if (terminal) return { configDir: terminal.configDir }
  return kind === 'session-start' ? null : (record.terminal ?? null)
}

/**
 * Returns the model of the newest answer.
 * A longer known name of the same model is kept, because some transcripts shorten it.
 */
function modelAfter(observation: Observation, known: string | null): string | null {
  const answer = observation.observed.findLast((found) => found.type === 'answer')
  const model = answer?.type === 'answer' ? answer.reading.model : null
  return model === null || known?.startsWith(model) ? known : model
}

/** Returns the higher of two running totals: a total only grows, so the higher one is newer. */
function higherTotal(told: number | null | undefined, known: number | null): number | null {
  return typeof told === 'number' ? Math.max(told, known ?? 0) : known
}

/**
 * Returns the session's spend after a signal, with each answer counted once.
 * Once a transcript exists, spend is read only from it: it includes what signals reported before.
 */
function spendAfter(record: SessionRecord, signal: Signal, observation: Observation): SessionRecord['spend'] {
  const found = record.cursor === null && observation.cursor !== null
  const transcript = (observation.cursor ?? record.cursor) !== null
  const told = signal.spend && !signal.subagent && !transcript ? signal.spend : NO_SPEND
  const after = (key: keyof SessionRecord['spend']): number =>
    found ? Math.max(record.spend[key], observation.spend[key]) : record.spend[key] + observation.spend[key] + told[key]
  return {
    input: after('input'),
    cacheCreation: after('cacheCreation'),
    cacheRead: after('cacheRead'),
    output: after('output'),
    answers: after('answers'),
  }
}
