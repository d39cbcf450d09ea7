import { BLANK_SIGNAL } from '../contract/blank-signal.js'
import type { Limits } from '../contract/reading.js'
import type { SessionRecord } from '../contract/record.js'
import type { RawSignal, Signal } from '../contract/signal.js'
import type { House } from '../house.js'
import { chooseLimits, isClients } from './choose-limits.js'
import type { Settled } from './options.js'

/** What one call of the library has to say of a session. */
export interface Told extends Partial<Signal> {
  sessionId: string
  /** The id under which it counts once, whoever tells it. */
  once?: string | null
  /** The client's own window by the model's name: only the session's record knows which one is meant. */
  windowOf?: (model: string | null) => number | null
}

export interface Heard {
  record: SessionRecord | null
  /** Levels reached by this very call, lowest first. */
  crossed: string[]
  /** It had been told before, and changed nothing. */
  repeated: boolean
}

const AGENT = 'claude-code'
/** The event of what the client's own messages say. */
export const SDK_MESSAGE = 'sdk-message'

/** One call, one transaction: what the session is known by is read and the engine's answer is written without a gap. */
export function tellEngine(house: House, settled: Settled, told: Told): Heard {
  return house.store.transaction(() => {
    const known = house.store.session(told.sessionId)
    const signal = signalOf(house, settled, told, known)
    const taken = house.engine.takeSignal(signal, {
      deliver: 'keep',
      ...(told.once ? { signalId: `sdk:${told.sessionId}:${told.once}` } : {}),
    })
    const crossed = taken.events.filter((event) => event.type === 'level_crossed').map((event) => String(event.data.level))
    return { record: taken.record ?? known, crossed, repeated: taken.repeated }
  })
}

function signalOf(house: House, settled: Settled, { once, windowOf, ...told }: Told, known: SessionRecord | null): Signal {
  const at = house.now().getTime()
  const model = modelOf(settled, told, known)
  const signal: Signal = {
    ...BLANK_SIGNAL,
    agent: known?.agent ?? AGENT,
    event: 'library',
    at,
    cwd: known === null ? settled.project : null,
    project: known?.project ?? settled.project,
    transcriptPath: known?.transcriptPath ?? null,
    seat: settled.seat,
    ...told,
    model,
    window: settled.window ?? windowOf?.(model) ?? null,
  }
  // The client's own hooks tell its turns and compactions; told twice they would count twice.
  const plain: Signal = known !== null && isClients(known) ? { ...signal, kind: 'other', compaction: null, start: null } : signal
  return { ...plain, limits: told.limits ?? limitsOf(house, settled, plain, known) }
}

/** What the client itself said of its model outranks what the caller took it for. */
function modelOf(settled: Settled, told: Partial<Signal>, known: SessionRecord | null): string | null {
  const said = known !== null && (told.event === SDK_MESSAGE || isClients(known)) ? known.model : null
  return told.model ?? said ?? settled.model ?? known?.model ?? told.reading?.model ?? null
}

function limitsOf(house: House, settled: Settled, signal: Signal, record: SessionRecord | null): Limits {
  const { window = null, model } = signal
  const used = signal.reading?.used ?? null
  return chooseLimits({
    window,
    compaction: settled.compaction,
    record,
    model,
    used,
    derive: () => derive(house, settled, signal, record),
  })
}

/** Asks the agent's adapter to look at settings and environment, and at nothing else. */
function derive(house: House, settled: Settled, signal: Signal, record: SessionRecord | null): Limits {
  const { agents, liveDir } = house.engine.parts
  const agent = agents[signal.agent]!
  const env: Record<string, string> = {}
  for (const name of agent.environment) if (settled.env[name]) env[name] = settled.env[name]
  const raw: RawSignal = { agent: signal.agent, kind: signal.event, body: '', env, at: signal.at }
  const window = record?.track.limits.window ?? null
  const known = { cursor: null, subagentCursors: {}, model: record?.model ?? null, window, process: null, liveDir }
  return agent.observe({ ...signal, transcriptPath: null }, raw, known).limits
}
