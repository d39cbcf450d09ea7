import type { ClientRegistry } from '../../agents/agent.js'
import type { RawSignal, Signal } from '../../contract/signal.js'
import { ancestorsOf, processOfThisUser } from '../../lib/process-info.js'
import { type EngineDependencies, emit, type SignalContext, type SignalOrigin, type TakeOptions } from '../context.js'
import { openHandoff } from './handoffs.js'

/** Everything that is known about the process from which an answer comes. */
export interface BriefEvidence {
  origin: SignalOrigin
  sessionId: string
  /** Pid of the client process that the signal names. Null when the signal names none. */
  namedPid: number | null
  /** False when the named process runs as another user or has ended. */
  isNamedOwn: boolean
  /** The client's own list of its processes. Null when the client keeps none. */
  registry: ClientRegistry | null
  /** The processes from which the current process descends. */
  ancestors(): readonly number[]
}

/**
 * Returns why an answer is not believed to be the agent's own, as a half sentence.
 * Null when the answer is believed.
 *
 * A brief is given to a fresh session as instructions, so it must come from the session's client:
 *
 * origin       registry of clients           accepted when the signal
 * token        none kept                     names no process, or one of this user
 * token        kept                          names no process, or one listed with this session
 * hook         none kept                     always: the hook runs as this user
 * hook         kept                          descends from a process listed with this session
 * own-process  none kept                     always: the hook that spooled it ran as this user
 * own-process  lists clients of the session  names one of these clients
 * own-process  lists no client of it         names no process of another session
 *
 * The hook of a spooled signal has ended when the signal is processed.
 * The ancestors of such a hook are unknown, so only a contradiction counts against the answer.
 */
export function doubtBrief(evidence: BriefEvidence): string | null {
  const { origin, sessionId, namedPid, registry } = evidence
  if (origin === 'hook') {
    if (registry === null || evidence.ancestors().some((pid) => registry.sessionOf(pid) === sessionId)) return null
    return 'the hook was not run by the client that shows the session'
  }
  const shown = namedPid === null || registry === null ? null : registry.sessionOf(namedPid)
  const notListed = `the client's registry does not list process ${namedPid} with this session`
  if (origin === 'token') {
    if (namedPid === null || shown === sessionId) return null
    if (!evidence.isNamedOwn) return `process ${namedPid} is not one of this user`
    return registry === null ? null : notListed
  }
  if (registry === null || shown === sessionId) return null
  if (shown !== null) return notListed
  return registry.clientsOf(sessionId).length === 0 ? null : 'another process shows the session'
}

/**
 * A signal from which an answer of doubtful origin was removed.
 * `doubt` says why the answer was removed, null when it was not removed.
 */
export interface VerifiedSignal {
  signal: Signal
  doubt: string | null
}

/** Removes the answer of a turn that did not come from the session's client. */
export function removeDoubtfulAnswer(
  deps: EngineDependencies,
  raw: RawSignal,
  signal: Signal,
  options: TakeOptions,
): VerifiedSignal {
  const { kind, subagent, lastAnswer, sessionId, pid } = signal
  const registryOf = deps.agents[signal.agent]?.registry
  if (kind !== 'turn-end' || subagent || !lastAnswer || options.byRunner || !registryOf) return { signal, doubt: null }
  const { origin = 'own-process' } = options
  const transcript = deps.store.session(sessionId)?.transcriptPath ?? null
  const doubt = deps.store.readUnlocked(`origin of a brief ${sessionId} ${pid} ${origin} ${transcript}`, () =>
    doubtBrief({
      origin,
      sessionId,
      namedPid: pid,
      isNamedOwn: pid !== null && processOfThisUser(pid) !== null,
      registry: registryOf(raw.env, transcript),
      ancestors: () => ancestorsOf(process.pid),
    }),
  )
  return doubt === null ? { signal, doubt } : { signal: { ...signal, lastAnswer: null }, doubt }
}

/** Logs that the answer of a turn was removed, and adds an event if a brief is expected. */
export function reportRemovedAnswer(context: SignalContext, doubt: string): void {
  context.deps.log('warn', 'the answer of a turn was not taken', { session: context.record.sessionId, reason: doubt })
  if (openHandoff(context)) emit(context, 'guard_tripped', { guard: 'brief_origin', reason: doubt, level: null })
}
