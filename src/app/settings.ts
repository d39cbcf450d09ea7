import { callingSession } from '../agents/clients.js'
import { loadConfig } from '../config/load-config.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import type { SpendHistory } from '../contract/api/history.js'
import type { Doctor, Settings } from '../contract/api/settings.js'
import type { ResolvedLevel } from '../contract/level.js'
import type { Policy } from '../contract/policy.js'
import type { Limits } from '../contract/reading.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { App } from '../engine/open-engine.js'
import { explainSettings, NO_SESSION } from '../engine/views/explain-settings.js'
import { calendarIn } from '../history/calendar.js'
import { readHistory, spendOfToday } from '../history/history.js'
import { resolveLevels } from '../policy/levels.js'
import type { OwnProgram } from './own-program.js'
import { projectOf, sessionNamed } from './sessions.js'

export interface SettingsUseCases {
  /** Explains the settings of a session. With null, explains those of a new session. */
  settings(record: SessionRecord | null): Settings
  /**
   * Runs doctor, at most once at a time. A result is reused for 30 seconds unless `fresh` is set.
   */
  doctor(fresh: boolean): Promise<Doctor>
  history(query: { days?: number | undefined; timezone?: string | undefined }): SpendHistory
  spendToday(): { cost_usd: number | null; input_tokens: number; output_tokens: number }
}

export function settingsUseCases(app: App, program: OwnProgram): SettingsUseCases {
  const { store } = app
  const calendar = calendarIn()
  // Run doctor in a process of its own, because doctor also queries this server.
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
    doctor: cachedDoctor(examine, app.now),
    history: (query) => readHistory(store, query, app.now()),
    spendToday: () => spendOfToday(store, app.now(), calendar),
  }
}

const HOLDS_MS = 30_000

/** Returns a function that runs doctor once at a time and caches the result. */
function cachedDoctor(examine: () => Promise<Pick<Doctor, 'ok' | 'checks'>>, now: () => Date) {
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

/** Settings that apply to a session, or to a new one in a folder, and the values behind them. */
export interface ExplainedConfig {
  settings: Omit<Settings, 'files'>
  /** Null when no session was seen in the project. */
  record: SessionRecord | null
  /**
   * How the session was chosen: by its name, as the caller's own, or as the newest of the project.
   */
  chosen: 'named' | 'calling' | 'newest' | 'none'
  policy: Policy
  limits: Limits
  levels: ResolvedLevel[]
}

/**
 * Explains the settings of the named session, else of the caller's, else of the newest one here.
 */
export function explainConfig(
  app: App,
  { env, cwd }: { env: Record<string, string | undefined>; cwd: string },
  named: string | null,
): ExplainedConfig {
  const { record, chosen } = chooseSession(app, env, cwd, named)
  const project = record ? record.project : cwd
  const switchedAs = record ? project : projectOf(app, cwd).project
  const { policy } = app.policyOf({
    agent: record?.agent ?? DEFAULT_AGENT,
    project,
    model: record?.model ?? null,
    seat: record ? (app.store.seat(record.seatId)?.name ?? record.seatId) : null,
  })
  const limits = record?.track.limits ?? NO_SESSION
  const settings = explainSettings(app.engine.deps, { record, project, switchedAs })
  return { settings, record, chosen, policy, limits, levels: resolveLevels(policy.levels, limits) }
}

function chooseSession(
  app: App,
  env: Record<string, string | undefined>,
  cwd: string,
  named: string | null,
): Pick<ExplainedConfig, 'record' | 'chosen'> {
  if (named !== null) return { record: sessionNamed(app, named), chosen: 'named' }
  const calling = callingSession(env)
  const own = calling ? app.store.session(calling) : null
  if (own) return { record: own, chosen: 'calling' }
  const { spellings } = projectOf(app, cwd)
  const here = app.store.sessions().filter(({ project }) => project !== null && spellings.includes(project))
  const newest = here.find((record) => app.view(record).state !== 'ended') ?? here[0]
  return newest ? { record: newest, chosen: 'newest' } : { record: null, chosen: 'none' }
}
