import { loadConfig } from '../config/load-config.js'
import type { History } from '../contract/api/history.js'
import type { Doctor, Settings } from '../contract/api/settings.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { App } from '../engine/open-engine.js'
import { explainSettings } from '../engine/views/explain-settings.js'
import { calendarIn } from '../history/calendar.js'
import { readHistory, spendToday } from '../history/history.js'
import type { OwnProgram } from './own-program.js'

export interface SettingsUseCases {
  /** null: for no session. */
  settings(record: SessionRecord | null): Settings
  /** At most one runs at a time; what it found holds for half a minute unless it is wanted `fresh`. */
  doctor(fresh: boolean): Promise<Doctor>
  history(query: { days?: number | undefined; timezone?: string | undefined }): History
  spendToday(): { cost_usd: number | null; input_tokens: number; output_tokens: number }
}

export function settingsUseCases(app: App, program: OwnProgram): SettingsUseCases {
  const { store } = app
  const calendar = calendarIn()
  // In a process of its own: it asks this very server too.
  const examine = (): Promise<Doctor> => program.command(['doctor', '--json']) as Promise<Doctor>
  return {
    settings(record) {
      const project = record?.project ?? null
      const { files } = loadConfig({ home: app.home, project, env: program.env })
      return {
        ...explainSettings(app.engine.deps, { record, project, switchedAs: project }),
        files: files.map(({ path, exists }) => ({ path, exists })),
      }
    },
    doctor: patientDoctor(examine, app.now),
    history: (query) => readHistory(store, query, app.now()),
    spendToday: () => spendToday(store, app.now(), calendar),
  }
}

const HOLDS_MS = 30_000

/** Asks the doctor: one at a time, whoever asks meanwhile hears the same, and what was found holds for a while. */
function patientDoctor(examine: () => Promise<Pick<Doctor, 'ok' | 'checks'>>, now: () => Date) {
  let last: Doctor | null = null
  let running: Promise<Doctor> | null = null
  const run = async (): Promise<Doctor> => {
    const { ok, checks } = await examine()
    last = {
      ok,
      checked_at: now().toISOString(),
      checks: checks.map(({ name, ok, detail, fix }) => ({ name, ok, detail, fix })),
    }
    return last
  }
  return async (fresh: boolean): Promise<Doctor> => {
    const holds = last !== null && now().getTime() - Date.parse(last.checked_at) < HOLDS_MS
    if (holds && !fresh) return last!
    running ??= run().finally(() => {
      running = null
    })
    return running
  }
}
