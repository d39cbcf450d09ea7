import type { UseCases } from '../app/app.js'
import type { Session } from '../contract/api/session-view.js'
import type { Forecast, SessionDetail, SessionRow } from '../contract/api/sessions.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { RawSignal } from '../contract/signal.js'
import type { Watcher } from '../delivery/watch-folder.js'
import type { Engine } from '../engine/engine.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'

/** Dependencies of the server. `run-server.ts` builds them. */
export interface ServerDependencies {
  engine: Engine
  store: Store
  view(record: SessionRecord): Session
  /** A session as a row of a list. */
  row(record: SessionRecord): SessionRow
  /**
   * Finds a session, or a seat's newest one, by id, name or unique prefix. Null when none match.
   */
  find(id: string): SessionRecord | null
  /** A session with all the details that `baton show` prints. */
  detail(record: SessionRecord): SessionDetail
  forecast(record: SessionRecord): Forecast
  /** Running sessions and those of the last 24 hours, newest first. */
  recent(options: { all?: boolean }): SessionRow[]
  statusLine(taken: { record: SessionRecord; enabled: boolean }, plain: boolean): string
  /**
   * Reads a large signal from the spool (a folder). Null when missing.
   * Call `drop` after the commit.
   */
  spooled(id: string): { raw: RawSignal; drop(): void } | null
  /**
   * Watches the folder of live reports, whose file names are passed to `changed`.
   * Null when the system cannot watch.
   * Without this function, every hook asks the server.
   */
  watchLive?(changed: (file: string) => void): Watcher | null
  /** Use cases that routes call. */
  useCases: UseCases
  /** Folder of the page's files. Null when there is no page. */
  web: string | null
  version: string
  log: Log
  now(): Date
}

/** The dependencies without use cases. The first request that is no signal loads those. */
export type ServerInput = Omit<ServerDependencies, 'useCases'> & { openUseCases(): Promise<UseCases> }
