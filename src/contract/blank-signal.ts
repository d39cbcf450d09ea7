import type { Signal } from './signal.js'

/**
 * A signal that says nothing; whoever tells something puts it over this. It holds every name a signal may have, also those that must be
 * told: a name that is new to a copy of so many makes that copy a hundred times slower to build, and one is built for every signal.
 */
const BLANK: Signal = {
  agent: '',
  event: '',
  at: 0,
  sessionId: '',
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
  terminal: null,
  start: null,
  end: null,
  compaction: null,
  toolUseIds: [],
  toolCalls: 0,
  reading: null,
  window: null,
  limits: null,
  prompt: null,
  lastAnswer: null,
  costUsd: null,
  planLimits: null,
  error: null,
}

export const BLANK_SIGNAL: Omit<Signal, 'agent' | 'event' | 'at' | 'sessionId'> = BLANK
