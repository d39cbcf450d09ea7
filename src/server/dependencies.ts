import type { UseCases } from '../app/app.js'
import type { Session } from '../contract/api/session.js'
import type { Forecast, SessionDetail, SessionRow } from '../contract/api/sessions.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { RawSignal } from '../contract/signal.js'
import type { LeftSignals } from '../delivery/watch-spool.js'
import type { Engine } from '../engine/engine.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'

/** What the server is built from; `engine/open-engine.ts` opens it. */
export interface ServerDependencies {
  engine: Engine
  store: Store
  view(record: SessionRecord): Session
  /** A session as it stands among others. */
  row(record: SessionRecord): SessionRow
  /** A session, or the newest session of a seat, by id, name or unambiguous beginning. null: none. */
  find(id: string): SessionRecord | null
  /** What `show` says of a session. */
  detail(record: SessionRecord): SessionDetail
  forecast(record: SessionRecord): Forecast
  /** Live ones and those of the last 24 hours, newest first. */
  recent(options: { all?: boolean }): SessionRow[]
  statusLine(taken: { record: SessionRecord; enabled: boolean }, plain: boolean): string
  /** A signal too large for a launcher to send, which it left in the spool; null: not there. Taken: `drop` it after the commit. */
  spooled(id: string): { raw: RawSignal; drop(): void } | null
  /**
   * Watches for signals that hooks left in the spool without waiting for an answer. Null where that
   * cannot be done. Left out: hooks wait for every answer.
   */
  watchSpool?(arrived: () => void): LeftSignals | null
  /** Use cases that routes call. */
  useCases: UseCases
  /** The folder of the page's files; null: there is no page. */
  web: string | null
  version: string
  log: Log
  now(): Date
}

/** The same without use cases: they are loaded when a request needs more than the answer to a signal. */
export type ServerInput = Omit<ServerDependencies, 'useCases'> & { openUseCases(): Promise<UseCases> }
