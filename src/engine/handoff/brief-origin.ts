import type { ClientRegistry } from '../../agents/agent.js'
import type { RawSignal, Signal } from '../../contract/signal.js'
import { ancestorsOf, ownProcess } from '../../lib/process-info.js'
import { type EngineDependencies, emit, type SignalContext, type SignalOrigin, type TakeOptions } from '../context.js'
import { openHandoff } from './handoffs.js'

/** Everything that is known about where an answer comes from. */
export interface BriefEvidence {
  origin: SignalOrigin
  sessionId: string
  /** The client process that the signal names; null when it names none. */
  namedPid: number | null
  /** False when the named process runs as another user, or is gone. */
  isNamedOwn: boolean
  /** The client's registry; null when the client keeps none. */
  registry: ClientRegistry | null
  /** The processes this one descends from. */
  ancestors(): readonly number[]
}

/**
 * Returns why an answer is not believed to be the agent's own, as a half sentence.
 * Null when it is believed.
 *
 * A brief is given to a fresh session as instructions, so it must come from the session's client:
 *
 *   origin  registry                         accepted when
 *   token   none                             it names no process, or one of this user
 *   token   kept                             it names no process, or one listed with this session
 *   hook    none                             always: the hook runs as this user
 *   hook    kept                             it descends from a process listed with this session
 *   user    none                             always: the hook that left it ran as this user
 *   user    lists clients with this session  it names one of them
 *   user    lists none (its client ended)    the named process is not listed with another session
 *
 * The hook of a spooled signal is gone when the signal is processed, so its ancestors are unknown:
 * only a contradiction counts against it.
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
 * A signal with the parts that are believed.
 * `doubt` says why the answer was removed, null when it was not.
 */
export interface BelievedSignal {
  signal: Signal
  doubt: string | null
}

/** Removes the answer of a turn that did not come from the session's client. */
export function believeSignal(
  deps: EngineDependencies,
  raw: RawSignal,
  signal: Signal,
  options: TakeOptions,
): BelievedSignal {
  const { kind, subagent, lastAnswer, sessionId, pid } = signal
  const registryOf = deps.agents[signal.agent]?.registry
  if (kind !== 'turn-end' || subagent || !lastAnswer || options.byRunner || !registryOf) return { signal, doubt: null }
  const { origin = 'user' } = options
  const transcript = deps.store.session(sessionId)?.transcriptPath ?? null
  const doubt = deps.store.readUnlocked(`origin of a brief ${sessionId} ${pid} ${origin} ${transcript}`, () =>
    doubtBrief({
      origin,
      sessionId,
      namedPid: pid,
      isNamedOwn: pid !== null && ownProcess(pid) !== null,
      registry: registryOf(raw.env, transcript),
      ancestors: () => ancestorsOf(process.pid),
    }),
  )
  return doubt === null ? { signal, doubt } : { signal: { ...signal, lastAnswer: null }, doubt }
}

/** Logs that the answer of a turn was removed, and adds an event if a brief is expected. */
export function reportDoubt(context: SignalContext, doubt: string): void {
  context.deps.log('warn', 'the answer of a turn was not taken', { session: context.record.sessionId, reason: doubt })
  if (openHandoff(context)) emit(context, 'guard_tripped', { guard: 'brief_origin', reason: doubt, level: null })
}
