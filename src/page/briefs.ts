import { addedIn, bodyOf, briefNamed, cancelBrief, editableText, readWhole, reviseText } from '../briefs-of.js'
import type { BriefRow } from '../contract/api/briefs.js'
import { BRIEF_STATUSES, type BriefRecord } from '../contract/brief.js'
import type { HandoffRecord } from '../contract/handoff.js'
import { approveBrief, beginEditing, endEditing } from '../engine/handoff-calls.js'
import { viewBrief } from '../engine/view-brief.js'
import type { House } from '../house.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { BriefQuery, BriefRooms } from '../server/rooms.js'

const USUAL = 200
/** Whoever has the token is the person. */
const PERSON = null

export function briefPage(house: House): BriefRooms {
  const { store } = house
  const { parts } = house.engine
  const rowOf = (brief: BriefRecord): BriefRow => viewRow(house, brief)
  /** As it stands now. */
  const again = ({ briefId }: BriefRecord): BriefRow => rowOf(store.brief(briefId)!)
  return {
    briefs: (query) => chosen(house, query).map(rowOf),
    brief(id) {
      const record = briefNamed(house, id)
      const { verdict, text, addenda } = readWhole(house, record)
      const parent = record.parentBriefId === null ? null : store.brief(record.parentBriefId)
      const before = parent && readWhole(house, parent).text
      const handoff = store.handoffs({ seatId: record.seatId }).findLast(({ briefId }) => briefId === record.briefId)
      return {
        ...rowOf(record),
        verdict,
        text,
        added: addedIn(text)?.split('\n') ?? [],
        addenda_text: addenda.map((late) => ({ at: late.at, text: late.text })),
        parent: parent && before !== null ? { brief_id: parent.briefId, sequence: parent.sequence, text: before } : null,
        handoff_id: handoff?.handoffId ?? null,
        handoff_state: handoff?.state ?? null,
      }
    },
    editBrief(id, text) {
      const old = briefNamed(house, id)
      const before = editableText(house, PERSON, old)
      return again(reviseText(house, PERSON, old, before, bodyOf(house, 'The text', text)).brief)
    },
    holdBrief(id, editing) {
      const brief = briefNamed(house, id)
      if (editing) {
        editableText(house, PERSON, brief)
        beginEditing(parts, brief.briefId)
      } else endEditing(parts, brief.briefId)
      return again(brief)
    },
    approveBrief: (id) => again(approveBrief(parts, { briefId: briefNamed(house, id).briefId, caller: PERSON }).brief),
    cancelBrief: (id) => again(cancelBrief(house, PERSON, briefNamed(house, id)).brief),
  }
}

function viewRow({ store }: House, brief: BriefRecord): BriefRow {
  const waits = (handoff: HandoffRecord): boolean => handoff.state === 'review' && handoff.briefId === brief.briefId
  return {
    ...viewBrief(brief),
    seat_name: store.seat(brief.seatId)?.name ?? null,
    review_until: brief.status === 'review' ? (store.openHandoffs({ seatId: brief.seatId }).find(waits)?.dueAt ?? null) : null,
  }
}

/** Newest first. */
function chosen(house: House, { seat, session, status, limit }: BriefQuery): BriefRecord[] {
  if (status !== undefined && !BRIEF_STATUSES.some((one) => one === status))
    throw new BatonError(`status: must be one of ${BRIEF_STATUSES.join(', ')}.`, 'Left out, all are told.', EXIT.usage)
  const briefs = house.store.briefs({
    ...(seat === undefined ? {} : { seatId: seatOf(house, seat) }),
    ...(session === undefined ? {} : { sessionId: found(house, session).sessionId }),
  })
  const wanted = status === undefined ? briefs : briefs.filter((brief) => brief.status === status)
  return wanted.sort((a, b) => (a.takenAt < b.takenAt ? 1 : -1)).slice(0, limit ?? USUAL)
}

/** By its id or name, or that of a session in it. */
function seatOf(house: House, name: string): string {
  const seat = house.store.seat(name) ?? house.store.seatNamed(name)
  return seat?.seatId ?? found(house, name).seatId
}

function found(house: House, id: string) {
  const record = house.find(id)
  if (record) return record
  throw new BatonError(`No session or seat ${id}`, 'baton status --all lists them', EXIT.notFound)
}
