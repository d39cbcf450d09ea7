import type { House } from '../house.js'
import type { Rooms } from '../server/rooms.js'
import { archivePage } from './archives.js'
import { briefPage } from './briefs.js'
import type { Hands } from './hands.js'
import { jobPage } from './jobs.js'
import { sessionPage } from './sessions.js'
import { settingsPage } from './settings.js'

/** Gives the server what it shows and does in rooms it may not enter. */
export function pageOf(house: House, hands: Hands): Rooms {
  return {
    ...sessionPage(house),
    ...jobPage(house, hands),
    ...briefPage(house),
    ...archivePage(house, hands),
    ...settingsPage(house, hands),
  }
}
