import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { callingSession } from '../agents/clients.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { TOKENS_LEFT_AT_COMPACTION } from './choose-limits.js'

export interface TrackerOptions {
  /** Folder of Baton's state and `config.yaml`. Default: `BATON_HOME`, else the platform's own. */
  home?: string
  /** Session id. Default: the session this process runs in (`CLAUDE_CODE_SESSION_ID`), else new. */
  session?: string
  /** Folder whose `baton.yaml` applies. Default: the working directory. */
  project?: string
  /** Model, which decides missing limits and the overrides of the configuration that apply. */
  model?: string
  /** The model's window in tokens, if it differs from what the model's name implies. */
  window?: number
  /** Compaction point in tokens, where your agent compacts or refuses to continue. */
  compaction?: number
  /** Seat (terminal or job) of the session. Default: a new seat. */
  seat?: string
  /** Environment of the agent. Default: that of this process. */
  env?: Record<string, string | undefined>
}

/** Options after validation, with their defaults. */
export interface ResolvedOptions {
  session: string
  project: string
  model: string | null
  window: number | null
  compaction: number | null
  seat: string | null
  env: Record<string, string | undefined>
}

const MAX_ID_LENGTH = 256

/** Validates options. Throws RangeError for impossible numbers, BatonError for an invalid id. */
export function resolveOptions(options: TrackerOptions): ResolvedOptions {
  const env = { ...(options.env ?? process.env) }
  if (options.home !== undefined) env.BATON_HOME = resolve(options.home)
  const window = tokens('window', options.window)
  const compaction = tokens('compaction', options.compaction)
  if (window !== null && compaction !== null && compaction > window) {
    throw new RangeError(`compaction (${compaction}) must not be above window (${window})`)
  }
  if (window !== null && window <= TOKENS_LEFT_AT_COMPACTION && compaction === null) {
    throw new RangeError(
      `window (${window}) is too small for the default compaction point, ` +
        `${TOKENS_LEFT_AT_COMPACTION} tokens before its end: give compaction too`,
    )
  }
  return {
    session: checkSessionId(options.session ?? (callingSession(env) || `session-${randomUUID()}`)),
    project: resolve(options.project ?? process.cwd()),
    model: options.model || null,
    window,
    compaction,
    seat: options.seat || null,
    env,
  }
}

export function checkSessionId(id: unknown): string {
  if (typeof id === 'string' && id.trim() !== '' && id.length <= MAX_ID_LENGTH) return id
  throw new BatonError(
    `${JSON.stringify(id)} is not a valid session id.`,
    `Give the agent's id of the session, or any string of 1 to ${MAX_ID_LENGTH} characters.`,
    EXIT.usage,
  )
}

function tokens(name: string, value: number | undefined): number | null {
  if (value === undefined) return null
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new RangeError(`${name} must be a whole number of tokens above 0, not ${value}`)
}
