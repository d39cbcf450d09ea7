import { chmodSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { transcriptReaders } from '../agents/readers.js'
import { archivePaths } from '../archive/archive-folders.js'
import { countUnrecordedFiles } from '../archive/find-unknown.js'
import { readBrief } from '../briefs/read-brief.js'
import { loadConfig } from '../config/load-config.js'
import { notifyEntries } from '../config/notify-schema.js'
import type { Session } from '../contract/api/session-view.js'
import type { BriefRecord } from '../contract/records/brief.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import { describeTarget, type NoticeRecord, sameTarget } from '../contract/records/notice.js'
import type { SessionRecord } from '../contract/records/session.js'
import { judgeStoredTranscripts } from '../engine/compaction/stored-transcripts.js'
import { lacksDriver } from '../engine/handoff/handoff-drivers.js'
import { BatonError, reasonOf } from '../lib/errors.js'
import { agoText, bytesText, type Fault, type Finding, fixHint, noFaults, oneFault } from '../lib/finding.js'
import { formatCount } from '../lib/format-count.js'
import type { Home } from '../lib/home.js'
import { KeyTrouble, machineKey } from '../lib/machine-key.js'
import { quoteForShell } from '../lib/shell-words.js'
import { isSilent } from '../policy/silence.js'
import { openDatabase } from '../store/sqlite/driver.js'
import { recoverySteps, withExplainedErrors } from '../store/sqlite/explain.js'
import { type CheckedApp, type DoctorContext, type Env, openForCheck, type RawDatabase, withApp } from './context.js'

const BUSY_MS = 2_000
/** A source without archives, for a home without a store. */
const NO_STORE = { archives: () => [], segments: () => [], leftovers: () => [] }
/** Opens a database without checking its content. Throws a BatonError when it cannot be used. */
const openRaw = (path: string, options: { readOnly?: boolean; timeout?: number }): RawDatabase =>
  withExplainedErrors(openDatabase(path, options), path)
/**
 * Size up to which the whole store is checked.
 * A check of a larger one takes too long, so only the vital tables are checked.
 */
const WHOLE_CHECK = 256_000_000
const NO_ARCHIVES = 'No archives yet.'
const VITAL = ['sessions', 'seats', 'messages', 'switches']
/**
 * Checks that the store can be read and written.
 * Never repairs it, because it holds the user's data.
 */
export function checkStore(context: DoctorContext): Finding {
  const { home, env } = context
  const path = home.store
  if (!existsSync(path)) return noFaults(`${path} does not exist yet. The first signal creates it.`)
  const modes = judgeFile(path)
  if (modes) return modes
  try {
    // Open the app first: it inspects the file before SQLite does and explains most faults.
    const app = openForCheck(env)
    try {
      const trouble = inspect(openRaw(path, { readOnly: true, timeout: BUSY_MS }), statSync(path).size)
      if (trouble) return oneFault(`The store ${path} is damaged (${trouble}).`, recoverySteps(path))
      tryWriting(openRaw(path, { timeout: BUSY_MS }))
      return noFaults(describeStore(path, app.store.sizes()))
    } finally {
      app.close()
    }
  } catch (error) {
    if (error instanceof BatonError) return oneFault(error.message, error.hint)
    return oneFault(`The store ${path} cannot be used (${reasonOf(error)}).`, recoverySteps(path))
  }
}

function judgeFile(path: string): Finding | null {
  const { mode, uid } = statSync(path)
  const shown = (mode & 0o777).toString(8).padStart(3, '0')
  const mine = process.getuid?.() ?? uid
  if (uid !== mine)
    return oneFault(
      `The store ${path} belongs to another user (uid ${uid}).`,
      `Run sudo chown ${mine} ${quoteForShell(path)}.`,
    )
  const repair = (): void => chmodSync(path, 0o600)
  if ((mode & 0o600) !== 0o600)
    return oneFault(
      `The store ${path} is read-only (mode ${shown}), so nothing new is stored.`,
      fixHint('set its mode to 600'),
      repair,
    )
  if (mode & 0o077)
    return oneFault(`Other users can read the store ${path} (mode ${shown}).`, fixHint('set its mode to 600'), repair)
  return null
}

/** Checks the database. Null when no damage was found. */
function inspect(db: RawDatabase, size: number): string | null {
  try {
    const checks =
      size > WHOLE_CHECK ? VITAL.map((table) => `PRAGMA quick_check('${table}')`) : ['PRAGMA quick_check(1)']
    for (const check of checks) {
      const [row] = db.prepare(check).all() as Record<string, unknown>[]
      const said = String(Object.values(row ?? {})[0])
      if (said !== 'ok') return said.replace(/\s+/g, ' ').slice(0, 200)
    }
    return null
  } finally {
    db.close()
  }
}

/** Acquires and releases the write lock that every signal needs, without writing. */
function tryWriting(db: RawDatabase): void {
  try {
    db.exec('BEGIN IMMEDIATE')
    db.exec('ROLLBACK')
  } finally {
    db.close()
  }
}

function describeStore(
  path: string,
  {
    sessions,
    readings,
    events,
    messages,
    bytes,
  }: { sessions: number; readings: number; events: number; messages: number; bytes: number },
): string {
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const size = wal > 0 ? `${bytesText(bytes)} and ${bytesText(wal)} of pending changes` : bytesText(bytes)
  const rows = [
    formatCount(sessions, 'session'),
    formatCount(readings, 'reading'),
    formatCount(events, 'event'),
    formatCount(messages, 'message'),
  ]
  return `${path}, ${size}: ${rows.join(', ')}.`
}

/**
 * Checks that archive files have their full length, and that all archives are in the store.
 * Only `baton archive verify` checks the content.
 */
export function checkArchives(context: DoctorContext): Finding {
  const { home } = context
  const places = archivePaths(home.root)
  if (!existsSync(home.store)) return judgeUnknown(countUnrecordedFiles(NO_STORE, places), [], NO_ARCHIVES)
  const found = withApp(context, (app) => ({
    files: archiveFiles(app, places.folder),
    unknown: countUnrecordedFiles(app.store, places),
  }))
  if (found === null) return noFaults(notChecked(home.store))
  const { all, gone } = found.files
  const summary = all === 0 ? NO_ARCHIVES : `${formatCount(all, 'file')}, all complete.`
  return judgeUnknown(found.unknown, gone.length === 0 ? [] : [goneFault(all, gone)], summary)
}

/** Says why a check cannot use the store. The check of the store reports damage. */
const notChecked = (path: string): string =>
  `Not checked, because ${existsSync(path) ? `the store ${path} cannot be opened` : 'no store exists yet'}.`

function judgeUnknown(unknown: number, faults: Fault[], summary: string): Finding {
  if (unknown === 0) return faults.length === 0 ? noFaults(summary) : { summary: '', faults }
  const archives = unknown === 1 ? '1 archive is' : `${unknown} archives are`
  const lost = oneFault(
    `${archives} on disk but not in the store. This happens when a store was lost.`,
    'Run baton archive adopt to check them and add them to the store.',
  )
  return { summary: '', faults: [...faults, ...lost.faults] }
}

function goneFault(all: number, gone: string[]): Fault {
  const more = gone.length > 1 ? ` and ${gone.length - 1} more` : ''
  return {
    detail:
      `${gone.length} of ${formatCount(all, 'archive file')} ${gone.length === 1 ? 'is' : 'are'} ` +
      `missing or truncated: ${gone[0]}${more}.`,
    fix:
      'Restore them from a backup. Without one, run baton archive verify to list the damaged archives ' +
      'and baton archive forget <archive> to drop one.',
  }
}

/** Returns the number of files that archives need, and those that are missing or cut short. */
function archiveFiles({ store }: CheckedApp, folder: string): { all: number; gone: string[] } {
  const all = store.segments()
  const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null
  const gone = all.filter(({ file, storedBytes }) => sizeOf(join(folder, file)) !== storedBytes)
  return { all: all.length, gone: gone.map(({ file }) => join(folder, file)) }
}

const DAY_MS = 24 * 3_600_000

/**
 * Compares the transcripts on disk with their archives.
 * `deletedAtMs` is when the client deletes the first unarchived one, null when all are archived.
 * `limits` are configured periods that limit archives.
 */
function judgeTranscripts({ engine: { deps } }: CheckedApp, env: Env) {
  const judged = judgeStoredTranscripts(deps, env)
  const waiting = judged.filter(({ standing }) => standing === 'unarchived')
  const periodOf = ({ agent, path }: { agent: string; path: string }) => transcriptReaders[agent]!.cleanupPeriod(path)
  const deleted = waiting.map((one) => one.writtenMs + periodOf(one).days * DAY_MS)
  const limits = new Map(judged.map(periodOf).flatMap(({ days, setBy }) => (setBy === null ? [] : [[setBy, days]])))
  return {
    archived: judged.filter(({ standing }) => standing === 'archived').length,
    unarchived: { count: waiting.length, bytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0) },
    deletedAtMs: deleted.length === 0 ? null : Math.min(...deleted),
    limits: [...limits].map(([setBy, days]) => ({ setBy, days })),
  }
}

/**
 * Counts the transcripts on disk that are not archived, and when the client deletes the first.
 * Never a fault: importing older sessions is the user's choice.
 */
export function checkTranscripts(context: DoctorContext): Finding {
  const { home, now } = context
  const found = existsSync(home.store) ? withApp(context, (app) => judgeTranscripts(app, context.env)) : null
  if (found === null) return noFaults(notChecked(home.store))
  const { archived, unarchived, deletedAtMs, limits } = found
  const limited = limits.map(({ days, setBy }) => `cleanupPeriodDays in ${setBy} also limits archives to ${days} days.`)
  const summary =
    deletedAtMs === null
      ? `${formatCount(archived, 'transcript')} archived, none missing.`
      : `${formatCount(archived, 'transcript')} archived, ${unarchived.count} not (${megabytes(unarchived.bytes)}). ` +
        `Claude Code deletes the first ${when(deletedAtMs, now().getTime())}. Run baton import to archive them.`
  return noFaults([summary, ...limited].join(' '))
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

function when(at: number, now: number): string {
  const days = Math.floor((at - now) / DAY_MS)
  if (days < 0) return 'at its next start'
  return days === 0 ? 'within a day' : days === 1 ? 'in 1 day' : `in ${days} days`
}

/**
 * Delay after which an overdue handoff is a fault.
 * Any running part of Baton checks handoffs every minute.
 */
const LATE_MS = 5 * 60_000
/** Maximum duration of a state that ends by itself. */
const LONG_MS = 30 * 60_000
const NEWEST = 200
/** Statuses of briefs that may still be given to an agent. */
const USABLE = new Set<BriefRecord['status']>(['checked', 'review', 'approved'])
const PASSING = new Set<HandoffRecord['state']>(['written', 'clearing', 'confirmed', 'started'])

/** Checks for handoffs that do not proceed, and briefs whose files have changed. */
export function checkHandoffs(context: DoctorContext): Finding {
  const { home } = context
  const keyless = judgeKey(home.key)
  const found = withApp(context, (app) => {
    const briefs = app.store.briefs({ limit: NEWEST })
    return {
      open: app.store.openHandoffs(),
      briefs,
      bad: briefs
        .filter(({ status }) => keyless.length === 0 && USABLE.has(status))
        .filter((brief) => !isGenuine(home, brief)),
    }
  })
  if (found === null || (found.open.length === 0 && found.briefs.length === 0))
    return keyless.length > 0 ? { summary: '', faults: keyless } : noFaults('No handoffs and no briefs.')
  const { open, briefs, bad } = found
  const late = judgeOpenHandoffs(open, context.now().getTime(), lacksDriver, () => look(context))
  const faults = [...keyless, ...late, ...judgeBriefs(bad)]
  const many = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
  return { summary: `${many(open.length, 'handoff')} in progress, ${many(briefs.length, 'brief')} stored.`, faults }
}

/** Returns whether the file of a brief is unchanged. */
function isGenuine({ key }: Home, { path, sha256 }: BriefRecord): boolean {
  return existsSync(key) && readBrief(path, machineKey(key), sha256).verdict === 'genuine'
}

/** Checks the signing key. Without it no brief can be stored or given to an agent. */
function judgeKey(file: string): Fault[] {
  if (!existsSync(file)) return []
  try {
    machineKey(file)
    return []
  } catch (error) {
    if (!(error instanceof KeyTrouble)) throw error
    return [{ detail: `Handoffs do not work. ${error.message}`, fix: error.hint ?? '' }]
  }
}

function look(context: DoctorContext): void {
  withApp(context, (app) => app.drain())
}

export function judgeOpenHandoffs(
  open: readonly HandoffRecord[],
  now: number,
  isUndriven: (handoff: HandoffRecord) => boolean,
  repair: () => void,
): Fault[] {
  const undriven = open.filter(isUndriven)
  const rest = open.filter((one) => !undriven.includes(one))
  const late = rest.filter(({ dueAt }) => dueAt !== null && now - Date.parse(dueAt) > LATE_MS)
  const stuck = rest.filter(
    (one) => !late.includes(one) && PASSING.has(one.state) && now - Date.parse(one.stateAt) > LONG_MS,
  )
  return [
    ...stalled(
      undriven,
      now,
      'waits for a /clear that nothing types',
      'Type /clear in that session, or run baton handoffs cancel <seat>.',
    ),
    ...stalled(late, now, 'is overdue', fixHint('continue what is overdue')).map((fault) => ({
      ...fault,
      repair,
    })),
    ...stalled(
      stuck,
      now,
      'does not proceed',
      'Run baton handoffs list to see it and baton handoffs cancel <seat> to end it.',
    ),
  ]
}

/** Returns one fault for all handoffs that stalled for the same reason, which names the first. */
function stalled(handoffs: readonly HandoffRecord[], now: number, how: string, fix: string): Fault[] {
  const [first] = handoffs
  if (!first) return []
  const more = handoffs.length > 1 ? `, and ${handoffs.length - 1} more` : ''
  const since = agoText(now - Date.parse(first.stateAt))
  return [{ detail: `Handoff ${first.handoffId} ${how}${more} (${first.state} for ${since}).`, fix }]
}

/** Reports missing and changed files of briefs that may still be given to an agent. */
export function judgeBriefs(bad: readonly BriefRecord[]): Fault[] {
  const gone = bad.filter(({ path }) => !existsSync(path))
  const changed = bad.filter((brief) => !gone.includes(brief))
  const named = (briefs: readonly BriefRecord[]): string =>
    `${briefs.length === 1 ? 'a brief' : `${briefs.length} briefs`} ` +
    `(${briefs[0]!.briefId}${briefs.length > 1 ? ', …' : ''})`
  const fix = 'Run baton handoffs cancel <brief> to drop it. Baton gives it to no agent and requests a new one.'
  return [
    ...(gone.length > 0 ? [{ detail: `The file of ${named(gone)} is missing.`, fix }] : []),
    ...(changed.length > 0 ? [{ detail: `The file of ${named(changed)} was changed outside Baton.`, fix }] : []),
  ]
}

/** Checks the configured targets of `notify` whose last delivery failed. */
export function checkNotify(context: DoctorContext): Finding {
  const used = withApp(context, (app) =>
    app.store.lastDeliveries().filter(({ subject, target }) => {
      return app.policyOf(subject).policy.notify.some((one) => sameTarget(one, target))
    }),
  )
  if (used === null || used.length === 0) return noFaults('No notice was sent yet.')
  const count = `${used.length} notify target${used.length === 1 ? '' : 's'}`
  return { summary: `${count} in use, all working.`, faults: judgeDeliveries(used, context) }
}

/** Returns one fault for all targets that failed, with a line for each that names its entry. */
function judgeDeliveries(last: readonly NoticeRecord[], context: DoctorContext): Fault[] {
  const { home, env, cwd, now } = context
  const lines = last
    .filter(({ state }) => state === 'failed')
    .map(({ target, claimedAt, trouble, at, subject }) => {
      const entries = notifyEntries(loadConfig({ home, env, project: subject.project ?? cwd }).config)
      const entry = entries.find((one) => sameTarget(one.target, target))
      const ago = agoText(now().getTime() - Date.parse(claimedAt ?? at))
      const by = `${describeTarget(target)}${entry ? ` (${entry.key})` : ''}`
      return `The last notice by ${by} failed (${ago} ago): ${trouble}.`
    })
  if (lines.length === 0) return []
  const fix = `Correct ${lines.length === 1 ? 'this entry' : 'these entries'} of notify, then run baton notify test.`
  return [{ detail: lines.join('\n'), fix }]
}

const DAY = 24 * 3_600_000

/** Checks for running sessions without readings. */
export function checkReadings(context: DoctorContext): Finding {
  const { now } = context
  const found = withApp(context, (app) =>
    app.recent({}).flatMap((session) => {
      const record = app.store.session(session.session_id)
      return record ? [{ session, record }] : []
    }),
  )
  return judgeReadings(found ?? [], now())
}

function judgeReadings(found: readonly { session: Session; record: SessionRecord }[], now: Date): Finding {
  const lately = found.filter(({ record }) => now.getTime() - Date.parse(record.seenAt) < DAY)
  const silent = lately.filter(
    ({ session, record }) =>
      session.enabled && session.state !== 'ended' && isSilent({ ...record.silence, alarmed: false }, now),
  )
  if (silent.length > 0) {
    return {
      summary: '',
      faults: silent.map(({ session, record: { silence } }) => ({
        detail:
          `Session ${session.session_id.slice(0, 8)} works, but has sent no reading for ` +
          `${formatCount(silence.toolCalls, 'tool call')} (${agoText(now.getTime() - Date.parse(silence.since))}).`,
        fix:
          'Fix what the other checks report. If they report nothing, end the session and resume it ' +
          'with claude --resume, so that it loads the current settings.',
      })),
    }
  }
  const last = Math.max(0, ...found.map(({ record }) => Date.parse(record.track.readAt ?? '') || 0))
  return noFaults(
    last === 0
      ? 'No reading yet. Open Claude Code and send a prompt.'
      : `The last reading is ${agoText(now.getTime() - last)} old.`,
  )
}
