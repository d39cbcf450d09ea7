import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { agentClients } from '../agents/clients.js'
import type { Archives } from '../archive/archive.js'
import { isInProject, resolveSessionIds } from '../archive/choose-archives.js'
import { configuredRetentions } from '../archive/choose-to-drop.js'
import { forgetBriefs } from '../briefs/forget-briefs.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import type { ArchiveRecord } from '../contract/records/archive.js'
import type { Message } from '../contract/records/message.js'
import { forgetFacts, hasFacts } from '../engine/compaction/kept-facts.js'
import { sendToSeat, workingSession } from '../engine/messages/deliver-to-seat.js'
import type { App } from '../engine/open-engine.js'
import { BatonError, EXIT } from '../lib/errors.js'

/**
 * Deletes the text of messages that this session received, and the files of long texts.
 * Deletes the answers prepared for the session's next hook, too.
 * Messages that still wait belong to the seat (terminal or job) and stay.
 */
function forgetMessages(app: App, sessionId: string): void {
  const { store, home } = app
  const gone = messagesWithFiles(app, sessionId)
  for (const { text_file } of gone) if (text_file) rmSync(text_file, { force: true })
  store.transaction(() => {
    for (const message of gone) store.putMessage({ ...message, agent_text: null, text_file: null })
  })
  deleteAnswers(home, sessionId)
}

/**
 * Rewrites the answers prepared for a session after quotes were erased.
 * Deletes these answers if another session is in the seat now.
 */
function rewriteAnswers({ store, home, engine: { deps } }: App, sessionId: string): void {
  const seatId = store.session(sessionId)?.seatId
  if (seatId !== undefined && workingSession(deps, seatId)?.sessionId === sessionId) sendToSeat(deps, seatId)
  else deleteAnswers(home, sessionId)
}

function deleteAnswers(home: App['home'], sessionId: string): void {
  const beside = Object.values(agentClients).flatMap(({ liveFiles }) => liveFiles?.folders(home.live) ?? [])
  for (const folder of [home.outbox, ...beside])
    for (const name of namesIn(folder))
      if (isOf(name, sessionId)) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Returns messages with files of their own that this session received. */
function messagesWithFiles({ store }: Pick<App, 'store'>, sessionId: string): Message[] {
  const seatId = store.session(sessionId)?.seatId
  if (seatId === undefined) return []
  return store
    .messages({ seatId, limit: 1_000_000 })
    .filter((m) => m.text_file && (m.sent_to ?? m.session_id) === sessionId && m.status !== 'queued')
}

/**
 * Matches names of a session's files: `<session>`, `<session>.near`, `<session>.taken.7`,
 * `.<session>.7`, `<session>.<order>.say`.
 */
const isOf = (name: string, sessionId: string): boolean => name.replace(/^\./, '').split('.', 1)[0] === sessionId

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * Returns archives that exceed the configured limits. Throws when the configuration has no limits.
 */
export function configuredPrune(app: App, archives: Archives): ArchiveRecord[] {
  const rules = (project: string | null) =>
    app.policyOf({ agent: DEFAULT_AGENT, project, model: null, seat: null }).policy.archive
  const rounds = configuredRetentions(app.store.archives(), rules, app.now())
  const [problem] = app.policyOf({ agent: DEFAULT_AGENT, project: null, model: null, seat: null }).problems
  if (rounds.length === 0 && problem)
    throw new BatonError(
      `The configuration is invalid, so its limits are unknown: ${problem.key} in ${problem.file} ${problem.reason}.`,
      'Run baton config check, or give --older-than 30d or --max-size 10GB.',
      EXIT.usage,
    )
  if (rounds.length === 0)
    throw new BatonError(
      'There is no limit to prune by: the configuration keeps all archives.',
      'Give --older-than 30d or --max-size 10GB, or set archive.keep_days or archive.keep_bytes.',
      EXIT.usage,
    )
  const dropped = new Map<string, ArchiveRecord>()
  for (const { among, retention } of rounds) {
    const isLeft = (record: ArchiveRecord): boolean => among(record) && !dropped.has(record.archiveId)
    for (const record of archives.chooseToDelete(retention, isLeft)) dropped.set(record.archiveId, record)
  }
  return [...dropped.values()]
}

/**
 * Returns whether the remaining archives need all bytes of these archives.
 * False for archives without any bytes.
 */
export function areBytesNeededElsewhere(archives: Archives, records: readonly ArchiveRecord[]): boolean {
  const holds = records.some(({ parts }) => parts.some(({ streamId }) => streamId !== null))
  return holds && archives.freedBytes(records) === 0
}

/**
 * Erases facts and messages that quote the transcripts of these sessions.
 * Returns the number of entries with quotes.
 */
function forgetSession(app: App, sessions: ReadonlySet<string>): number {
  const { store, home } = app
  let words = 0
  const recipients = new Set([...sessions].flatMap((sessionId) => recipientsOf(app, sessionId)))
  store.transaction(() => {
    for (const sessionId of sessions) words += store.eraseQuotes(sessionId)
  })
  for (const sessionId of recipients) if (!sessions.has(sessionId)) rewriteAnswers(app, sessionId)
  for (const sessionId of sessions) {
    for (const { liveFiles } of Object.values(agentClients)) liveFiles?.forget(home.live, sessionId)
    forgetMessages(app, sessionId)
    forgetFacts(home.facts, sessionId)
    forgetBriefs(home.briefs, { sessionId, briefs: store.briefs({ sessionId }) })
    store.transaction(() => {
      store.dropBriefs(sessionId)
      // Erase again, so that the database pages of the briefs are overwritten too.
      store.eraseQuotes(sessionId)
      const record = store.session(sessionId)
      if (record) store.putSession({ ...record, forgottenAt: app.now().toISOString() })
    })
  }
  return words
}

/** Returns the sessions that received a brief of this one. */
function recipientsOf({ store }: App, sessionId: string): string[] {
  const handoffs = store.handoffs({ sessionId }).map(({ newSessionId }) => newSessionId)
  return [...handoffs, ...store.briefs({ sessionId }).map(({ usedBySessionId }) => usedBySessionId)].filter(
    (id) => id !== null,
  )
}

export const hasStoredQuotes = (app: App, sessionId: string): boolean =>
  app.store.compactions(sessionId).length > 0 ||
  app.store.briefs({ sessionId, limit: 1 }).length > 0 ||
  app.store
    .handoffs({ sessionId })
    .some(({ draft, reason, trouble, question }) => draft ?? reason ?? trouble ?? question) ||
  hasFacts(app.home.facts, sessionId) ||
  messagesWithFiles(app, sessionId).length > 0

/**
 * Returns the sessions of a project: those with archives, and those whose transcripts were read.
 */
function sessionsOfProject(app: App, folder: string): Set<string> {
  const wanted = isInProject(folder)
  return new Set([...app.store.archives(), ...app.store.sessions()].filter(wanted).map(({ sessionId }) => sessionId))
}

function oneSession(app: App, id: string): Set<string> {
  const found = resolveSessionIds(app, id)
  if (found.length > 1)
    throw new BatonError(
      `${id} is a seat with ${found.length} sessions.`,
      `Name one session: baton archive list --session ${id} lists them.`,
      EXIT.usage,
    )
  return new Set(found)
}

/**
 * Erases quotes of a session, or of all sessions of a project, and returns their archives.
 * Throws when nothing is stored of these sessions.
 * A dry run erases nothing.
 */
export function eraseSessionQuotes(
  app: App,
  named: { session: string } | { project: string },
  dry: boolean,
): { records: ArchiveRecord[]; quoted: boolean; words: number } {
  const sessions = 'session' in named ? oneSession(app, named.session) : sessionsOfProject(app, named.project)
  const records = app.store.archives().filter(({ sessionId }) => sessions.has(sessionId))
  const quoted = [...sessions].some((sessionId) => hasStoredQuotes(app, sessionId))
  if (records.length === 0 && !quoted)
    throw new BatonError(
      `Nothing is stored of ${'session' in named ? named.session : `the project ${named.project}`}.`,
      'baton archive list lists all archives.',
      EXIT.notFound,
    )
  return { records, quoted, words: dry ? 0 : forgetSession(app, sessions) }
}
