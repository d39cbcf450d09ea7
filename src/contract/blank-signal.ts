import type { Signal } from './signal.js'

/** A signal that says nothing; whoever tells something puts it over this. */
export const BLANK_SIGNAL: Omit<Signal, 'agent' | 'event' | 'at' | 'sessionId'> = {
  kind: 'other',
  subagent: null,
  cwd: null,
  project: null,
  transcriptPath: null,
  model: null,
  agentVersion: null,
  pid: null,
  attended: null,
  seat: null,
  parentSeat: null,
  jobId: null,
  start: null,
  end: null,
  compaction: null,
  toolUseIds: [],
  toolCalls: 0,
  reading: null,
  costUsd: null,
  planLimits: null,
  error: null,
}
