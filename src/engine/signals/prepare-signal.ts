import type { KnownSession } from '../../agents/agent.js'
import type { SessionRecord, SubagentRecord } from '../../contract/records/session.js'
import type { Observation, RawSignal, Signal } from '../../contract/signal.js'
import type { ReadFacts } from '../compaction/read-facts.js'
import type { EngineDependencies, TakeOptions } from '../context.js'
import { removeDoubtfulAnswer, type VerifiedSignal } from '../handoff/brief-origin.js'
import { isForking, openHandoff } from '../handoff/handoffs.js'
import { rareWork } from '../load-rare-work.js'

/** An opened signal with the files that were read for it before the store was locked. */
export interface PreparedSignal {
  raw: RawSignal
  /** The signal as the client sent it. */
  opened: Signal
  /**
   * The signal without parts that are not believed.
   * Null when the runner of the session's job reports the same event.
   */
  signal: Signal | null
  /** Reason why the signal's answer text was left out. Null when the text was kept. */
  doubt: VerifiedSignal['doubt']
  options: TakeOptions
  /** Files read before the transaction. Null when nothing was read then. */
  look: PlannedRead | null
  /** Facts of the transcript. Null when none are needed, or they could not be read in time. */
  read: ReadFacts | null
}

/**
 * Reads every file that a signal will most likely need, outside of a transaction.
 * Adds the results to `ahead`.
 * The transaction reads any other file that it needs by `Store.readUnlocked`.
 */
export function prepareSignal(
  deps: EngineDependencies,
  { raw, opened, options }: Pick<PreparedSignal, 'raw' | 'opened' | 'options'>,
  ahead: Map<string, unknown>,
): PreparedSignal {
  const own = resolveJobSignal(deps, opened, options.byRunner === true)
  if (own === null) return { raw, opened, signal: null, doubt: null, options, look: null, read: null }
  const { signal, doubt } = removeDoubtfulAnswer(deps, raw, own, options)
  const look = planObservation(deps, raw, signal, null)
  const { record } = look
  ahead.set(look.key, look.observe())
  deps.policyOf({
    agent: signal.agent,
    project: signal.project ?? record?.project ?? signal.cwd,
    model: record?.model ?? null,
    seat: null,
    env: raw.env,
  })
  const needed = !options.again && needsFacts(deps, signal)
  if ((needed && signal.kind !== 'session-start') || (signal.kind === 'session-end' && !signal.subagent)) {
    const transcript = signal.transcriptPath ?? record?.transcriptPath ?? null
    const [key, looked] = deps.lookForArchive({ agent: signal.agent, transcript })
    ahead.set(key, looked)
  }
  return { raw, opened, signal, doubt, options, look, read: needed ? readAhead(deps, signal) : null }
}

/** Prepares a signal inside a transaction. Files that it needs are read by `Store.readUnlocked`. */
export function prepareSignalLocked(
  deps: EngineDependencies,
  { raw, opened, options }: Pick<PreparedSignal, 'raw' | 'opened' | 'options'>,
): PreparedSignal {
  const { store } = deps
  const own = resolveJobSignal(deps, opened, options.byRunner === true)
  if (own === null) return { raw, opened, signal: null, doubt: null, options, look: null, read: null }
  const { signal, doubt } = removeDoubtfulAnswer(deps, raw, own, options)
  const needed = !options.again && needsFacts(deps, signal)
  const read = needed
    ? store.readUnlocked(`facts at ${signal.kind} ${signal.sessionId}`, () => readAhead(deps, signal))
    : null
  return { raw, opened, signal, doubt, options, look: null, read }
}

/**
 * True when the facts of the transcript may be needed for a compaction or a brief.
 * At a turn's end the answer may hold a brief; a starting session may be given one.
 */
function needsFacts(deps: EngineDependencies, { kind, sessionId, subagent, start }: Signal): boolean {
  const { store } = deps
  if (subagent) return false
  if (kind === 'session-start')
    return start?.source !== 'compact' && store.openHandoffs().some((one) => one.stale || isForking(one))
  if (kind !== 'turn-end') return kind === 'compact-start'
  const record = store.session(sessionId)
  const handoff = record && openHandoff({ deps, record })
  return handoff?.newSessionId === null
}

/**
 * Reads the facts of the transcript. Null when that failed. A background process then reads them.
 */
function readAhead(deps: EngineDependencies, signal: Signal): ReadFacts | null {
  try {
    return rareWork(deps).readFactsAhead(deps, signal)
  } catch (error) {
    // A failure here must not stop the signal, because archiving the transcript matters more.
    deps.log('error', 'the facts of a session could not be read', { session: signal.sessionId, reason: String(error) })
    return null
  }
}

/**
 * Planned read of a signal's transcript from the last cursor, its settings and its process.
 * `key` holds everything the result depends on, so a result from another cursor is never used.
 * A result from another cursor would count answers twice or not at all.
 */
export interface PlannedRead {
  key: string
  observe(): Observation
  /** The session's record from which the read starts. Null for a new session. */
  record: SessionRecord | null
  subagents: readonly SubagentRecord[]
}

const NO_SUBAGENTS: readonly SubagentRecord[] = []

/**
 * Plans the file reads for a signal.
 * Returns `before`, an earlier plan, if its records are unchanged.
 */
export function planObservation(
  deps: EngineDependencies,
  raw: RawSignal,
  signal: Signal,
  before: PlannedRead | null,
): PlannedRead {
  const record = deps.store.session(signal.sessionId)
  const subagents = signal.kind === 'status-line' ? NO_SUBAGENTS : deps.store.subagents(signal.sessionId)
  if (before !== null && before.record === record && before.subagents === subagents) return before
  const known: KnownSession = {
    cursor: record?.cursor ?? null,
    subagentCursors: Object.fromEntries(subagents.map((s) => [s.subagentId, s.cursor])),
    model: record?.model ?? null,
    window: record?.track.limits.window ?? null,
    process: record?.process ?? null,
    liveDir: deps.liveDir,
    liveStamp: record?.track.stamps.mod ?? null,
    compactingSince:
      record?.compaction && !record.compaction.completed ? Date.parse(record.compaction.startedAt) : null,
  }
  return {
    key: `observation ${signal.sessionId} ${JSON.stringify(known)}`,
    observe: () => deps.agents[signal.agent]!.observe(signal, raw, known),
    record,
    subagents,
  }
}

/**
 * Decides how a signal from an environment of a job counts.
 * A job's runner reports its sessions itself (`byRunner`), because hooks need not be installed.
 * Null for a hook's duplicate of such a report, unless the runner was killed.
 * A client started by a tool of the job has another session.
 * The other session is measured like any other, in a seat of its own below the job's.
 */
export function resolveJobSignal(
  { store, agents }: Pick<EngineDependencies, 'store' | 'agents'>,
  signal: Signal,
  byRunner: boolean,
): Signal | null {
  if (signal.jobId === null || byRunner) return signal
  const job = store.job(signal.jobId)
  // The job belongs to another program that sets the same variable.
  if (job === null) return signal
  if (store.attemptOfSession(signal.sessionId) === null) {
    const inherited = signal.seat === job.seatId
    return { ...signal, jobId: null, ...(inherited ? { seat: null, parentSeat: job.seatId } : {}) }
  }
  const isRunning = job.runner === null || agents[signal.agent]?.alive(job.runner) !== false
  return isRunning ? null : signal
}
