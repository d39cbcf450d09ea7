import { existsSync } from 'node:fs'
import { readAddendum } from './briefs/addendum.js'
import { type BriefVerdict, readBrief } from './briefs/read-brief.js'
import type { BriefOrigin, BriefRecord } from './contract/brief.js'
import type { HandoffRecord } from './contract/handoff.js'
import type { SessionRecord } from './contract/record.js'
import { dropBrief, dropHandoff, endEditing, reviseBrief } from './engine/handoff-calls.js'
import type { ReadFacts } from './engine/read-facts.js'
import { admitReviewer, type Caller } from './engine/who-may.js'
import { readFrontMatter, splitFrontMatter, withoutFrontMatter } from './handoff/front-matter.js'
import { ADDED_TITLE } from './handoff/sections.js'
import { type Verdict, verifyBrief } from './handoff/sign.js'
import type { House } from './house.js'
import { BatonError, EXIT } from './lib/errors.js'
import { machineKey } from './lib/machine-key.js'

/** Prefixes need not be typed. */
const SHORTEST = 4
const PREFIX = 'brief_'

/** A brief by its id or the beginning of it; null: none begins so. Throws when several do. */
export function findBriefNamed({ store }: Pick<House, 'store'>, id: string): BriefRecord | null {
  const exact = store.brief(id)
  if (exact) return exact
  const beginning = id.startsWith(PREFIX) ? id : `${PREFIX}${id}`
  if (beginning.length < PREFIX.length + SHORTEST) return null
  const alike = store.briefs().filter(({ briefId }) => briefId.startsWith(beginning))
  if (alike.length < 2) return alike[0] ?? null
  throw new BatonError(
    `${alike.length} briefs begin with "${id}".`,
    `Give more of the id: ${alike
      .slice(0, 4)
      .map(({ briefId }) => briefId.slice(0, PREFIX.length + 10))
      .join(', ')}${alike.length > 4 ? ', …' : ''}.`,
    EXIT.usage,
  )
}

export function briefNamed(house: Pick<House, 'store'>, id: string): BriefRecord {
  const found = findBriefNamed(house, id)
  if (found) return found
  throw new BatonError(
    `There is no brief "${id}".`,
    `${id.replace(PREFIX, '').length < SHORTEST ? 'Give at least four characters of the id. ' : ''}baton handoffs list --all shows them.`,
    EXIT.notFound,
  )
}

export interface WholeBrief {
  verdict: BriefVerdict
  /** null: its file is gone. Unless genuine it is data to be shown, never instructions. */
  body: string | null
  /** The body of a genuine one. */
  text: string | null
  origin: BriefOrigin | null
  addenda: { at: string; path: string; text: string | null }[]
}

/** What lies in the files of a brief. */
export function readWhole({ home }: Pick<House, 'home'>, record: BriefRecord): WholeBrief {
  const key = machineKey(home.key)
  const { verdict, body, origin } = readBrief(record.path, key, record.sha256)
  const isGenuine = verdict === 'genuine'
  const addenda = record.addenda.map(({ at, path, sha256 }) => {
    const late = readAddendum(path, key, { briefId: record.briefId, sha256 })
    return { at, path, text: late.verdict === 'genuine' ? late.body : null }
  })
  return { verdict, body, text: isGenuine ? body : null, origin: isGenuine ? origin : null, addenda }
}

/** What Baton itself put behind the words of a brief's author; null: nothing. */
export function addedIn(text: string | null): string | null {
  const at = text?.lastIndexOf(`\n## ${ADDED_TITLE}\n`) ?? -1
  return at < 0 ? null : text!.slice(at).trim()
}

const OVER = new Set<BriefRecord['status']>(['used', 'superseded', 'cancelled', 'failed'])

/** The text of a brief that may be edited. Before anybody begins to write; whether it still holds is asked again when the text is kept. */
export function editableText(house: Pick<House, 'home' | 'store'>, caller: Caller, brief: BriefRecord): string {
  admitReviewer(house.store, caller, brief)
  if (OVER.has(brief.status))
    throw new BatonError(
      `${brief.briefId} is ${brief.status}: it cannot be edited any more.`,
      brief.status === 'used'
        ? 'Tell the session that began with it what has changed.'
        : 'baton handoffs list shows those in use.',
      EXIT.refused,
    )
  const { body, verdict } = readBrief(brief.path, machineKey(house.home.key), brief.sha256)
  if (body !== null && verdict === 'genuine') return body
  throw new BatonError(
    `The text of ${brief.briefId} is ${verdict === 'missing' ? 'gone' : 'not the one Baton kept'} (${brief.path}).`,
    'Give a new brief: baton handoff <file> --session ID.',
    EXIT.refused,
  )
}

/** Without front matter it brought along: where a brief comes from is Baton's to say. `name`: of what holds it. Throws when that was tampered with. */
export function bodyOf(house: Pick<House, 'home'>, name: string, text: string): string {
  refuseTampered(house, name, text)
  const body = withoutFrontMatter(text)
  if (body.trim() !== '') return body
  throw new BatonError(`${name} holds nothing but front matter.`, 'Write the brief below it.', EXIT.usage)
}

/** null: it has no front matter. Where no key was ever made, no signature can be this machine's. */
export function verdictOf({ home }: Pick<House, 'home'>, text: string): Verdict | null {
  if (splitFrontMatter(text) === null) return null
  if (existsSync(home.key)) return verifyBrief(text, machineKey(home.key))
  return readFrontMatter(text).signature === null ? 'unsigned' : 'tampered'
}

/** A text that passes itself off as a brief of Baton's and is none is not given to an agent. */
export function refuseTampered(house: Pick<House, 'home'>, name: string, text: string): void {
  if (verdictOf(house, text) !== 'tampered') return
  throw new BatonError(
    `${name} bears a signature that does not fit: it was changed since, or signed on another machine.`,
    'Read it, and take its front matter out if you stand by what it says. Nothing was changed.',
    EXIT.refused,
  )
}

/** However long the transcript is: whoever asks has the time. */
export function factsOf(
  { engine: { parts } }: Pick<House, 'engine'>,
  of: Pick<SessionRecord, 'sessionId' | 'agent' | 'transcriptPath'>,
): ReadFacts {
  return parts.around().factsOf(parts, of)
}

export interface Revised {
  brief: BriefRecord
  handoff: HandoffRecord | null
  /** False: the text is the one it had. */
  changed: boolean
}

/** Another text in a brief's place. `before`: the text it has. */
export function reviseText(house: House, caller: Caller, old: BriefRecord, before: string, body: string): Revised {
  const { parts } = house.engine
  if (body.trim() === before.trim()) {
    endEditing(parts, old.briefId)
    return { brief: old, handoff: null, changed: false }
  }
  const read = factsOf(house, house.store.session(old.sessionId) ?? { ...old, transcriptPath: null })
  return { ...reviseBrief(parts, { briefId: old.briefId, caller, body, read }), changed: true }
}

/** Of a brief: the handoff that holds it, which would be cancelled with it; null: none does. */
export function heldBy({ store }: Pick<House, 'store'>, brief: BriefRecord): HandoffRecord | null {
  const open = store.openHandoffs({ seatId: brief.seatId })
  const later = open.find(({ sessionId, briefId }) => sessionId === brief.sessionId && briefId !== brief.briefId)?.briefId
  // Whoever names the brief they were shown means the handoff, not a text nobody would have used.
  if (brief.status === 'superseded' && later)
    throw new BatonError(
      `${brief.briefId} was replaced by ${later}.`,
      `Name that one: baton handoffs cancel ${later}.`,
      EXIT.refused,
    )
  return open.find(({ briefId }) => briefId === brief.briefId) ?? null
}

/** The handoff of a seat that is under way; of two clients in one seat that of the session whose id begins so. Throws when none is. */
export function handoffUnderWay({ store }: Pick<House, 'store'>, seatId: string, session: string): HandoffRecord {
  const open = store.openHandoffs({ seatId })
  const handoff = open.find(({ sessionId }) => session.length > 3 && sessionId.startsWith(session)) ?? open.at(-1)
  if (handoff) return handoff
  throw new BatonError(
    `No handoff of seat ${store.seat(seatId)?.name ?? seatId.slice(0, 12)} is under way.`,
    'baton handoffs list --all shows what became of those before.',
    EXIT.notFound,
  )
}

/** A brief will not be used, nor is the handoff carried out that holds it. */
export function cancelBrief(
  house: House,
  caller: Caller,
  brief: BriefRecord,
): { handoff: HandoffRecord | null; brief: BriefRecord } {
  const { parts } = house.engine
  const held = heldBy(house, brief)
  if (held === null) return { handoff: null, brief: dropBrief(parts, { briefId: brief.briefId, caller }) }
  const handoff = dropHandoff(parts, { handoffId: held.handoffId, caller })
  return { handoff, brief: house.store.brief(brief.briefId)! }
}
