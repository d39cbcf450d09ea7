import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { callingSession } from '../agents/clients.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { COMPACTS_BEFORE } from './choose-limits.js'

export interface TrackerOptions {
  /** The folder with Baton's state and the user's `config.yaml`. Default: `BATON_HOME`, else the platform's own places. */
  home?: string
  /** Default: the agent session this process runs in (`CLAUDE_CODE_SESSION_ID`), else a new id. */
  session?: string
  /** Whose `baton.yaml` applies. Default: the folder this process works in. */
  project?: string
  /** Decides window and compaction point where neither is given, and which overrides of the configuration apply. */
  model?: string
  /** The model's window in tokens, where you know better than the name tells. */
  window?: number
  /** Where your agent compacts or refuses, in tokens, where you know it. */
  compaction?: number
  /** The seat the session belongs to. Default: a seat of its own. */
  seat?: string
  /** The agent's environment. Default: this process's own. */
  env?: Record<string, string | undefined>
}

/** Options checked and filled in. */
export interface Settled {
  session: string
  project: string
  model: string | null
  window: number | null
  compaction: number | null
  seat: string | null
  env: Record<string, string | undefined>
}

const LONGEST_ID = 256

/** Throws RangeError for a figure that cannot be, BatonError for an id that cannot be one. */
export function settleOptions(options: TrackerOptions): Settled {
  const env = { ...(options.env ?? process.env) }
  if (options.home !== undefined) env.BATON_HOME = resolve(options.home)
  const window = tokens('window', options.window)
  const compaction = tokens('compaction', options.compaction)
  if (window !== null && compaction !== null && compaction > window) {
    throw new RangeError(`compaction (${compaction}) lies beyond the window (${window})`)
  }
  if (window !== null && window <= COMPACTS_BEFORE && compaction === null) {
    throw new RangeError(
      `a window of ${window} leaves nothing before its compaction point (${COMPACTS_BEFORE} before its end): give compaction too`,
    )
  }
  return {
    session: checkId(options.session ?? (callingSession(env) || `session-${randomUUID()}`)),
    project: resolve(options.project ?? process.cwd()),
    model: options.model || null,
    window,
    compaction,
    seat: options.seat || null,
    env,
  }
}

export function checkId(id: unknown): string {
  if (typeof id === 'string' && id.trim() !== '' && id.length <= LONGEST_ID) return id
  throw new BatonError(
    `${JSON.stringify(id)} is not a session id.`,
    `Give the agent's own id of the session, or any text of 1 to ${LONGEST_ID} characters.`,
    EXIT.usage,
  )
}

function tokens(name: string, value: number | undefined): number | null {
  if (value === undefined) return null
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new RangeError(`${name} must be a whole number of tokens above 0, not ${value}`)
}
