import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { callingSession } from '../agents/clients.js'
import { archivePaths } from '../archive/archive-folders.js'
import { viewArchives } from '../archive/view-archives.js'
import type { Session } from '../contract/api/session-view.js'
import type { Forecast, SessionDetail, SessionRow } from '../contract/api/sessions.js'
import type { Policy } from '../contract/policy.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { App } from '../engine/open-engine.js'
import { setEnabled } from '../engine/signals/switches.js'
import { forecastSession } from '../engine/views/forecast-session.js'
import {
  findSeat,
  isLongEnough,
  recentSessions,
  sessionDetailOf,
  sessionRowOf,
} from '../engine/views/session-queries.js'
import { ambiguousId } from '../lib/ambiguous-id.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { formatCount } from '../lib/format-count.js'
import { nearestName } from '../lib/nearest-name.js'
import { replaceControls } from '../lib/replace-controls.js'
import { shortSeatId } from '../lib/short-seat-id.js'
import { isSilent } from '../policy/silence.js'
import type { SwitchScope } from '../store/store.js'

/**
 * Sessions as commands and routes show them.
 * Separate from `engine/open-engine.ts`, because a hook shows nothing.
 */
interface SessionReader {
  /** Returns a session as a row of the session list. */
  row(record: SessionRecord): SessionRow
  /** Returns the detail that `baton show` prints. */
  detail(record: SessionRecord): SessionDetail
  /** Lists sessions of the last 24 hours by state: waiting, working, idle, ended; newest first. */
  recent(options: { all?: boolean; live?: boolean }): SessionRow[]
  forecast(record: SessionRecord): Forecast
}

export function sessionReaderOf(
  app: Pick<App, 'home' | 'store' | 'engine' | 'view' | 'policyOf' | 'now'>,
): SessionReader {
  const { store, home } = app
  const policyFor = ({ agent, project, model, seatId }: SessionRecord): Policy =>
    app.policyOf({ agent, project, model, seat: store.seat(seatId)?.name ?? seatId }).policy
  const row = (record: SessionRecord): SessionRow =>
    sessionRowOf(app.engine.deps, record, app.view(record), policyFor(record))
  return {
    row,
    detail: (record) => ({
      ...sessionDetailOf(store, record, row(record)),
      archives: viewArchives(
        store.archives({ sessionId: record.sessionId }),
        store.segments({ sessionId: record.sessionId }),
        { pathOf: (file) => join(archivePaths(home.root).folder, file), titleOf: () => record.title?.text ?? null },
      ),
    }),
    recent: (which) => recentSessions(store, { view: app.view, row }, { ...which, now: app.now() }),
    forecast: (record) => forecastSession(store, record, policyFor(record)),
  }
}

/**
 * Returns a session by its id or the id's beginning, or the newest session of a seat.
 * Throws when none or several match.
 */
export function sessionNamed(app: App, id: string): SessionRecord {
  const found = app.find(id)
  if (found) return found
  const records = app.store.sessions()
  const sessions = records.map(({ sessionId }) => sessionId).filter((one) => one.startsWith(id))
  const seats = [...new Set(records.map(({ seatId }) => seatId))].filter((one) => one.startsWith(id))
  const isTooShort = !isLongEnough(id)
  if (sessions.length > 1 && !isTooShort) throw ambiguousId('sessions', id, sessions)
  if (seats.length > 1 && !isTooShort) throw ambiguousId('seats', id, seats)
  const short = isTooShort && sessions.length + seats.length > 0 ? 'Give at least four characters of the id. ' : ''
  throw new BatonError(`There is no session or seat "${id}".`, `${short}baton status --all lists them.`, EXIT.notFound)
}

/**
 * Returns a seat (terminal or job) by its id or name, or the seat of a session.
 * A seat that was only named as a parent may have no session yet.
 * Throws when there is none.
 */
export function seatByName(app: App, name: string): string {
  const seat = findSeat(app.store, name)
  if (seat) return seat.seatId
  try {
    return sessionNamed(app, name).seatId
  } catch (error) {
    const nearest = error instanceof BatonError ? nearestName(name, seatNames(app)) : null
    if (nearest === null || !(error instanceof BatonError)) throw error
    throw new BatonError(error.message, `Did you mean ${nearest}?`, error.exit, error.details)
  }
}

function seatNames(app: App): string[] {
  const ids = new Set(
    app.store.sessions().flatMap(({ seatId }) => [seatId, app.store.seat(seatId)?.parentSeatId ?? seatId]),
  )
  return [...ids].flatMap((id) => app.store.seat(id)?.name ?? [])
}

interface NamedSeat {
  seat_id: string
  name: string
  /** Null when the seat had no name. */
  former_name: string | null
}

export interface SessionUseCases {
  /** Turns Baton on or off for a session. */
  switchSession(record: SessionRecord, enabled: boolean): void
  /** Names the seat of a session. */
  nameSeatOf(record: SessionRecord, name: string): NamedSeat
}

export function sessionUseCases(app: App): SessionUseCases {
  return {
    switchSession: ({ sessionId }, enabled) => switchBaton(app, 'session', [sessionId], enabled),
    nameSeatOf: ({ seatId }, name) => nameSeat(app, seatId, name),
  }
}

/** Turns Baton on or off for a scope. A project has a key for each spelling of its path. */
export function switchBaton(app: App, scope: SwitchScope, keys: readonly string[], enabled: boolean): void {
  for (const key of keys) setEnabled(app.engine.deps, scope, key, enabled, app.now().toISOString())
}

interface ProjectHere {
  /** The real path of the project. */
  project: string
  /** Every path by which sessions name the project, as a symbolic link may lead there too. */
  spellings: string[]
  /** False when no session was seen in it yet. */
  known: boolean
}

/**
 * Returns the project of a folder: the nearest project of a known session that contains the folder.
 * Without one, returns the root of the git repository, or else the folder itself.
 */
export function projectOf(app: App, cwd: string): ProjectHere {
  const here = real(cwd)
  const spelled = new Set(app.store.sessions().flatMap(({ project }) => (project === null ? [] : [project])))
  const holding = [...spelled]
    .map((project) => ({ project, real: real(project) }))
    .filter((one) => holds(one.real, here))
  const nearest = Math.max(0, ...holding.map((one) => one.real.length))
  const found = holding.filter((one) => one.real.length === nearest)
  const root = found[0]?.real ?? gitRoot(here) ?? here
  return { project: root, spellings: [...new Set([root, ...found.map((one) => one.project)])], known: found.length > 0 }
}

function holds(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

function gitRoot(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

/** Returns the real path. A missing folder is compared as written. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * Returns a sentence for each enabled session without token readings.
 * Times count up to the last signal of the session, because an idle session sends no readings.
 */
export function silentSessions(app: App, sessions: readonly Session[]): string[] {
  return sessions.flatMap((session) => {
    if (!session.enabled || session.state === 'ended') return []
    const record = app.store.session(session.session_id)
    if (!record) return []
    const { silence, seenAt } = record
    if (!isSilent({ ...silence, alarmed: false }, new Date(seenAt))) return []
    const minutes = Math.round((Date.parse(seenAt) - Date.parse(silence.since)) / 60_000)
    const calls = formatCount(silence.toolCalls, 'tool call')
    return [`Session ${session.session_id.slice(0, 8)} sends no readings (${calls}, ${minutes} min). Run baton doctor.`]
  })
}

/** Returns the name of the seat (terminal or job), or the beginning of its id. */
export function seatName({ store }: Pick<App, 'store'>, seatId: string): string {
  return store.seat(seatId)?.name ?? shortSeatId(seatId)
}

const LONGEST_NAME = 64

/** Throws unless a seat may have the name. A name that looks like an id would hide that id. */
function checkName(name: string): void {
  const shown = replaceControls(name).slice(0, LONGEST_NAME)
  if (name !== replaceControls(name) || name.trim() !== name || name === '' || name.length > LONGEST_NAME)
    throw new BatonError(
      `A seat cannot have the name "${shown}".`,
      `Give one line of 1 to ${LONGEST_NAME} characters, without spaces around it.`,
      EXIT.usage,
    )
  // The name must be one shell word, because users type it into commands and BATON_SEAT=<name>.
  if (!/^[\p{L}\p{N}_.:@+/-]+$/u.test(name) || name.startsWith('-'))
    throw new BatonError(
      `A seat cannot have the name "${shown}".`,
      'Use only letters, digits and . _ : / @ + -, not - first, so that BATON_SEAT=<name> needs no quotes.',
      EXIT.usage,
    )
  if (/^(?:seat|brief|job|arc|msg|handoff)_/.test(name) || /^[0-9a-f]{8}-/i.test(name))
    throw new BatonError(
      `A seat cannot have the name "${shown}", because it looks like an id.`,
      'Choose another name, such as api.',
      EXIT.usage,
    )
}

/** Names a seat (terminal or job). Throws when the name is unsuitable or taken. */
export function nameSeat(app: App, seat: string, name: string): NamedSeat {
  checkName(name)
  const { store } = app
  const seatId = seatByName(app, seat)
  const former = store.transaction(() => {
    const taken = store.seatByName(name)
    if (taken && taken.seatId !== seatId)
      throw new BatonError(
        `Seat ${taken.seatId} already has the name "${name}".`,
        `Choose another name, or rename that seat first: baton name ${name} <other>.`,
        EXIT.refused,
      )
    const record = store.seat(seatId)!
    if (record.name !== name) store.putSeat({ ...record, name })
    return record.name
  })
  return { seat_id: seatId, name, former_name: former }
}

/**
 * Returns the named session, or the one in which this command runs.
 * Null when none is named and no session runs the command. Throws for an unknown session.
 */
export function namedOrCurrentSession(
  app: App,
  env: Record<string, string | undefined>,
  named: string | null,
): SessionRecord | null {
  if (named !== null) return sessionNamed(app, named)
  const own = callingSession(env)
  if (own === undefined) return null
  const record = app.store.session(own)
  if (record) return record
  throw new BatonError(
    `Baton has received nothing from this session yet (${own.slice(0, 8)}).`,
    'Run baton doctor to check its hooks.',
    EXIT.notFound,
  )
}

/**
 * Returns the newest session of the folder's project that satisfies `isMeant`.
 * Null when no session satisfies it.
 * Throws when the project has no session.
 */
export function newestProjectSession(app: App, cwd: string): SessionRecord
export function newestProjectSession(
  app: App,
  cwd: string,
  isMeant: (record: SessionRecord) => boolean,
): SessionRecord | null
export function newestProjectSession(
  app: App,
  cwd: string,
  isMeant = (_: SessionRecord) => true,
): SessionRecord | null {
  const { spellings, project } = projectOf(app, cwd)
  const here = app.store.sessions().filter((record) => record.project !== null && spellings.includes(record.project))
  const newest = here
    .filter(isMeant)
    .reduce<SessionRecord | null>((a, b) => (a !== null && a.seenAt >= b.seenAt ? a : b), null)
  if (newest || here.length > 0) return newest
  throw new BatonError(
    `No session was seen in ${project}.`,
    'Name one with --session ID; baton status --all lists them.',
    EXIT.notFound,
  )
}

/** Returns the newest running session of the folder's project. */
export function newestRunningProjectSession(app: App, cwd: string): SessionRecord {
  const record = newestProjectSession(app, cwd, (one) => app.view(one).state !== 'ended')
  if (record) return record
  throw new BatonError(
    'No session runs in this folder.',
    'Start a client here, or name a session: baton handoffs use <brief> --session ID.',
    EXIT.refused,
  )
}
