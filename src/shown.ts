import { join } from 'node:path'
import { archivePlaces } from './archive/places.js'
import { viewArchives } from './archive/view-archives.js'
import type { Forecast, SessionDetail, SessionRow } from './contract/api/sessions.js'
import type { Policy } from './contract/policy.js'
import type { SessionRecord } from './contract/record.js'
import { forecastSession } from './engine/forecast-session.js'
import { detailOf, recentSessions } from './engine/queries.js'
import { rowOf } from './engine/view-row.js'
import type { House } from './house.js'

/** Sessions as commands and routes show them. Apart from house.ts, because a hook shows nothing. */
export interface Shown {
  /** A session as it stands among others. */
  row(record: SessionRecord): SessionRow
  /** What `show` says of it. */
  detail(record: SessionRecord): SessionDetail
  /** Live ones and those of the last 24 hours, newest first. */
  recent(options: { all?: boolean; live?: boolean }): SessionRow[]
  forecast(record: SessionRecord): Forecast
}

export function shownBy(house: Pick<House, 'home' | 'store' | 'engine' | 'view' | 'policyOf' | 'now'>): Shown {
  const { store, home } = house
  const policyFor = ({ agent, project, model, seatId }: SessionRecord): Policy =>
    house.policyOf({ agent, project, model, seat: store.seat(seatId)?.name ?? seatId }).policy
  const row = (record: SessionRecord): SessionRow => rowOf(house.engine.parts, record, house.view(record), policyFor(record))
  return {
    row,
    detail: (record) => ({
      ...detailOf(store, record, row(record)),
      archives: viewArchives(
        store.archives({ sessionId: record.sessionId }),
        store.segments({ sessionId: record.sessionId }),
        (file) => join(archivePlaces(home.root).folder, file),
      ),
    }),
    recent: (which) => recentSessions(store, { view: house.view, row }, { ...which, now: house.now() }),
    forecast: (record) => forecastSession(store, record, policyFor(record)),
  }
}
