import { loadConfig } from '../config/load-config.js'
import type { Doctor } from '../contract/api/settings.js'
import { explainSettings } from '../engine/explain-settings.js'
import { calendarIn } from '../history/calendar.js'
import { readHistory, spendToday } from '../history/history.js'
import type { House } from '../house.js'
import type { SettingsRooms } from '../server/rooms.js'
import { patientDoctor } from './doctor.js'
import type { Hands } from './hands.js'

export function settingsPage(house: House, hands: Hands): SettingsRooms {
  const { store } = house
  const calendar = calendarIn()
  // In a process of its own: it asks this very server too.
  const examine = (): Promise<Doctor> => hands.command(['doctor', '--json']) as Promise<Doctor>
  return {
    settings(record) {
      const project = record?.project ?? null
      const { files } = loadConfig({ home: house.home, project, env: hands.env })
      return {
        ...explainSettings(house.engine.parts, { record, project, switchedAs: project }),
        files: files.map(({ path, exists }) => ({ path, exists })),
      }
    },
    doctor: patientDoctor(examine, house.now),
    history: (query) => readHistory(store, query, house.now()),
    spendToday: () => spendToday(store, house.now(), calendar),
  }
}
