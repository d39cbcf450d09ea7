import { existsSync } from 'node:fs'
import { readAddendum } from '../briefs/addendum.js'
import { withoutHashComment } from '../briefs/complete-brief.js'
import { readFrontMatter, splitFrontMatter, withoutFrontMatter } from '../briefs/front-matter.js'
import { type BriefVerdict, readBrief } from '../briefs/read-brief.js'
import { ADDITIONS_TITLE } from '../briefs/sections.js'
import { type SignatureVerdict, verifyBrief } from '../briefs/sign.js'
import type { BriefDetail, BriefRow } from '../contract/api/briefs.js'
import { BRIEF_STATUSES, type BriefOrigin, type BriefRecord } from '../contract/records/brief.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import type { SessionRecord } from '../contract/records/session.js'
import { readAndStoreFacts as readAll } from '../engine/compaction/brief-sources.js'
import type { ReadFacts } from '../engine/compaction/read-facts.js'
import { type Caller, requireReviewer } from '../engine/handoff/authorize-caller.js'
import {
  approveBrief,
  beginEditing,
  dropBrief,
  dropHandoff,
  endEditing,
  reviseBrief,
} from '../engine/handoff/handoff-calls.js'
import type { App } from '../engine/open-engine.js'
import { viewBrief } from '../engine/views/brief-view.js'
import { ambiguousId } from '../lib/ambiguous-id.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { machineKey } from '../lib/machine-key.js'

interface BriefQuery {
  seat?: string | undefined
  session?: string | undefined
  status?: string | undefined
  limit?: number | undefined
}

export interface BriefUseCases {
  /** Lists briefs, newest first. */
  briefs(query: BriefQuery): BriefRow[]
  brief(id: string): BriefDetail
  editBrief(id: string, text: string): BriefRow
  holdBrief(id: string, editing: boolean): BriefRow
  approveBrief(id: string): BriefRow
  cancelBrief(id: string): BriefRow
}

const USUAL = 200
/** The caller of a route counts as the user, because it has the token. */
const USER = null

export function briefUseCases(app: App): BriefUseCases {
  const { store } = app
  const { deps } = app.engine
  const rowOf = (brief: BriefRecord): BriefRow => viewRow(app, brief)
  /** Returns the row of the brief as it is now. */
  const again = ({ briefId }: BriefRecord): BriefRow => rowOf(store.brief(briefId)!)
  return {
    briefs: (query) => selectBriefs(app, query).map(rowOf),
    brief(id) {
      const record = briefNamed(app, id)
      const { verdict, text, addenda } = readBriefFiles(app, record)
      const parent = record.parentBriefId === null ? null : store.brief(record.parentBriefId)
      const before = parent && readBriefFiles(app, parent).text
      const handoff = store.handoffs({ seatId: record.seatId }).findLast(({ briefId }) => briefId === record.briefId)
      return {
        ...rowOf(record),
        verdict,
        text,
        added: textAddedByBaton(text)?.split('\n') ?? [],
        addenda_text: addenda.map((late) => ({ at: late.at, text: late.text })),
        parent:
          parent && before !== null ? { brief_id: parent.briefId, sequence: parent.sequence, text: before } : null,
        handoff_id: handoff?.handoffId ?? null,
        handoff_state: handoff?.state ?? null,
      }
    },
    editBrief(id, text) {
      const old = briefNamed(app, id)
      const before = editableText(app, USER, old)
      return again(replaceBriefText(app, USER, old, before, briefBodyOf(app, 'The text', text)).brief)
    },
    holdBrief(id, editing) {
      const brief = briefNamed(app, id)
      if (editing) {
        editableText(app, USER, brief)
        beginEditing(deps, brief.briefId)
      } else endEditing(deps, brief.briefId)
      return again(brief)
    },
    approveBrief: (id) => again(approveBrief(deps, { briefId: briefNamed(app, id).briefId, caller: USER }).brief),
    cancelBrief: (id) => again(cancelBrief(app, USER, briefNamed(app, id)).brief),
  }
}

function viewRow({ store }: App, brief: BriefRecord): BriefRow {
  const waits = (handoff: HandoffRecord): boolean => handoff.state === 'review' && handoff.briefId === brief.briefId
  return {
    ...viewBrief(brief),
    seat_name: store.seat(brief.seatId)?.name ?? null,
    review_until:
      brief.status === 'review' ? (store.openHandoffs({ seatId: brief.seatId }).find(waits)?.dueAt ?? null) : null,
  }
}

/** Selects briefs, newest first. */
function selectBriefs(app: App, { seat, session, status, limit }: BriefQuery): BriefRecord[] {
  if (status !== undefined && !BRIEF_STATUSES.some((one) => one === status))
    throw new BatonError(
      `status: must be one of ${BRIEF_STATUSES.join(', ')}.`,
      'Leave it out to get all briefs.',
      EXIT.usage,
    )
  const briefs = app.store.briefs({
    ...(seat === undefined ? {} : { seatId: seatOf(app, seat) }),
    ...(session === undefined ? {} : { sessionId: found(app, session).sessionId }),
  })
  const wanted = status === undefined ? briefs : briefs.filter((brief) => brief.status === status)
  return wanted.sort((a, b) => (a.takenAt < b.takenAt ? 1 : -1)).slice(0, limit ?? USUAL)
}

/** Returns a seat (terminal or job) by its id or name, or by a session in it. */
function seatOf(app: App, name: string): string {
  const seat = app.store.seat(name) ?? app.store.seatByName(name)
  return seat?.seatId ?? found(app, name).seatId
}

function found(app: App, id: string) {
  const record = app.find(id)
  if (record) return record
  throw new BatonError(`There is no session or seat "${id}".`, 'baton status --all lists them.', EXIT.notFound)
}

/** Minimum length of the beginning of an id, without the prefix. */
const SHORTEST = 4
const PREFIX = 'brief_'

/**
 * Finds a brief by its id or the id's beginning. Null when none matches. Throws when several match.
 * The id may be copied from a table that cut it, so it may end in an ellipsis.
 */
export function findBriefNamed({ store }: Pick<App, 'store'>, written: string): BriefRecord | null {
  const id = written.replace(/…$/, '')
  const exact = store.brief(id)
  if (exact) return exact
  const beginning = id.startsWith(PREFIX) ? id : `${PREFIX}${id}`
  if (beginning.length < PREFIX.length + SHORTEST) return null
  const alike = store.briefs().filter(({ briefId }) => briefId.startsWith(beginning))
  if (alike.length < 2) return alike[0] ?? null
  throw ambiguousId(
    'briefs',
    id,
    alike.map(({ briefId }) => briefId),
  )
}

export function briefNamed(app: Pick<App, 'store'>, id: string): BriefRecord {
  const found = findBriefNamed(app, id)
  if (found) return found
  throw new BatonError(
    `There is no brief "${id}".`,
    `${id.replace(PREFIX, '').length < SHORTEST ? 'Give at least four characters of the id. ' : ''}baton handoffs ` +
      'list --all lists all briefs.',
    EXIT.notFound,
  )
}

interface WholeBrief {
  verdict: BriefVerdict
  /** Body of the brief. Null when the file is missing. Unless genuine, it is data to show only. */
  body: string | null
  /** The body of a genuine brief. */
  text: string | null
  origin: BriefOrigin | null
  addenda: { at: string; path: string; text: string | null }[]
}

/** Reads a brief's files. */
export function readBriefFiles({ home }: Pick<App, 'home'>, record: BriefRecord): WholeBrief {
  const key = machineKey(home.key)
  const { verdict, body, origin } = readBrief(record.path, key, record.sha256)
  const isGenuine = verdict === 'genuine'
  const addenda = record.addenda.map(({ at, path, sha256 }) => {
    const late = readAddendum(path, key, { briefId: record.briefId, sha256 })
    return { at, path, text: late.verdict === 'genuine' ? late.body : null }
  })
  return {
    verdict,
    body,
    text: isGenuine && body !== null ? withoutHashComment(body) : null,
    origin: isGenuine ? origin : null,
    addenda,
  }
}

/** Returns the part that Baton added to an author's brief. Null when it added nothing. */
export function textAddedByBaton(text: string | null): string | null {
  const at = text?.lastIndexOf(`\n## ${ADDITIONS_TITLE}\n`) ?? -1
  return at < 0 ? null : text!.slice(at).trim()
}

const OVER = new Set<BriefRecord['status']>(['used', 'superseded', 'cancelled', 'failed'])
/** Display names of statuses whose stored name is unclear to users. */
const OVER_TEXTS: Partial<Record<BriefRecord['status'], string>> = { used: 'in use', superseded: 'replaced' }

/**
 * Returns the text of a brief that may be edited.
 * Called before editing starts. Saving checks the conditions again.
 */
export function editableText(app: Pick<App, 'home' | 'store'>, caller: Caller, brief: BriefRecord): string {
  requireReviewer(app.store, caller, brief)
  if (OVER.has(brief.status))
    throw new BatonError(
      `${brief.briefId} cannot be edited, because it is ${OVER_TEXTS[brief.status] ?? brief.status}.`,
      brief.status === 'used'
        ? 'Tell the session that uses it what has changed: baton send <session> <text>.'
        : 'baton handoffs list shows the briefs that are ready or in use.',
      EXIT.refused,
    )
  const { body, verdict } = readBrief(brief.path, machineKey(app.home.key), brief.sha256)
  if (body !== null && verdict === 'genuine') return withoutHashComment(body)
  throw new BatonError(
    `The file of ${brief.briefId} ` +
      `${verdict === 'missing' ? 'does not exist' : 'was changed after Baton stored it'} (${brief.path}).`,
    'Submit a new brief: baton handoff <file> --session ID.',
    EXIT.refused,
  )
}

/**
 * Returns the text without front matter, because only Baton states a brief's origin.
 * `name` names the source in errors.
 * Throws when the front matter was tampered with.
 */
export function briefBodyOf(app: Pick<App, 'home'>, name: string, text: string): string {
  refuseTampered(app, name, text)
  const body = withoutFrontMatter(text)
  if (body.trim() !== '') return body
  throw new BatonError(`${name} contains only front matter.`, 'Write the brief below the front matter.', EXIT.usage)
}

/**
 * Verifies the signature in the front matter.
 * Null when the text has no front matter.
 * Without a key on this machine, no signature can be valid.
 */
export function verifySignatureIn({ home }: Pick<App, 'home'>, text: string): SignatureVerdict | null {
  if (splitFrontMatter(text) === null) return null
  if (existsSync(home.key)) return verifyBrief(text, machineKey(home.key))
  return readFrontMatter(text).signature === null ? 'unsigned' : 'tampered'
}

/** Refuses a text with a wrong signature, so that no agent receives a forged brief. */
function refuseTampered(app: Pick<App, 'home'>, name: string, text: string): void {
  if (verifySignatureIn(app, text) !== 'tampered') return
  throw new BatonError(
    `${name} has an invalid signature: it was changed after signing, or signed on another machine.`,
    'Nothing was changed. Read the text; to use it anyway, remove its front matter.',
    EXIT.refused,
  )
}

/** Reads all facts of a session, without a time limit, because the caller can wait. */
export function allFactsOf(
  { engine: { deps } }: Pick<App, 'engine'>,
  of: Pick<SessionRecord, 'sessionId' | 'agent' | 'transcriptPath'>,
): ReadFacts {
  return readAll(deps, of)
}

interface Revised {
  brief: BriefRecord
  handoff: HandoffRecord | null
  /** False when the new text equals the old one. */
  changed: boolean
}

/** Replaces the text of a brief. `before` is its current text. */
export function replaceBriefText(app: App, caller: Caller, old: BriefRecord, before: string, body: string): Revised {
  const { deps } = app.engine
  if (body.trim() === before.trim()) {
    endEditing(deps, old.briefId)
    return { brief: old, handoff: null, changed: false }
  }
  const read = allFactsOf(app, app.store.session(old.sessionId) ?? { ...old, transcriptPath: null })
  return { ...reviseBrief(deps, { briefId: old.briefId, caller, body, read }), changed: true }
}

/** Returns the handoff that uses a brief and is cancelled with it. Null when there is none. */
function handoffWith({ store }: Pick<App, 'store'>, brief: BriefRecord): HandoffRecord | null {
  const open = store.openHandoffs({ seatId: brief.seatId })
  const later = open.find(
    ({ sessionId, briefId }) => sessionId === brief.sessionId && briefId !== brief.briefId,
  )?.briefId
  // A user who names the displayed brief means its handoff, not a text that was never used.
  if (brief.status === 'superseded' && later)
    throw new BatonError(
      `${brief.briefId} was replaced by ${later}.`,
      `Cancel that one: baton handoffs cancel ${later}.`,
      EXIT.refused,
    )
  return open.find(({ briefId }) => briefId === brief.briefId) ?? null
}

/** Cancels a brief and the handoff that uses it. */
export function cancelBrief(
  app: App,
  caller: Caller,
  brief: BriefRecord,
): { handoff: HandoffRecord | null; brief: BriefRecord } {
  const { deps } = app.engine
  const held = handoffWith(app, brief)
  if (held === null) return { handoff: null, brief: dropBrief(deps, { briefId: brief.briefId, caller }) }
  const handoff = dropHandoff(deps, { handoffId: held.handoffId, caller })
  return { handoff, brief: app.store.brief(brief.briefId)! }
}
