import type { CompactionRecord, LossReport } from '../contract/loss.js'
import type { House } from '../house.js'
import { EXIT } from '../lib/errors.js'
import { parseLimit } from './archive/parse-limits.js'
import type { Call, Cli } from './command.js'
import { inHouse, sessionNamed } from './open-house.js'
import { keptLine, kindsText, whyNoReport } from './render/compaction-lines.js'
import { factLines, putBack } from './render/fact-line.js'
import { stamp } from './render/times.js'
import { harmless } from './render/width.js'
import { wrap } from './render/wrap.js'

type Scope = 'session' | 'seat' | 'all'
type Reported = CompactionRecord & { loss: LossReport }

/** `recall --lost`: what the newest compaction with a report dropped. */
export function recallLost(call: Call, cli: Cli): Promise<number> {
  const limit = parseLimit(call.value('limit'), Number.POSITIVE_INFINITY)
  const back = parseLimit(call.value('before-last'), 0)
  return inHouse(cli, (house) => {
    const { found, unreported, scope } = newest(house, call.value('session'), cli.env.CLAUDE_CODE_SESSION_ID, back)
    const words = call.words.join(' ').toLowerCase().split(/\s+/).filter(Boolean)
    const lost = (found?.loss.lost ?? []).filter(({ kind, text }) => {
      const all = `${kind} ${text}`.toLowerCase()
      return words.every((word) => all.includes(word))
    })
    const shown = lost.slice(0, limit)
    const archived = found !== null && found.archiveId !== null && house.store.archive(found.archiveId)?.status === 'kept'
    if (call.json) cli.print(JSON.stringify({ ...view(found, shown), scope }))
    else cli.print(page({ found, unreported, shown, matching: lost.length, archived }, cli).join('\n'))
    return EXIT.done
  })
}

interface Newest {
  /** The newest that has a report. */
  found: Reported | null
  /** A later one that has none. */
  unreported: CompactionRecord | null
  scope: Scope
}

/** Of the session or seat that is named; else of the agent's own seat; else of all. */
function newest(house: House, named: string | null, own: string | undefined, back: number): Newest {
  const { store } = house
  const among = (ids: readonly string[]): Omit<Newest, 'scope'> => {
    const all = ids.flatMap((id) => store.compactions(id)).sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
    const reported = all.filter((one): one is Reported => one.loss !== null)
    const found = reported.at(-1 - back) ?? null
    const last = all.at(-1) ?? null
    return { found, unreported: back > 0 || last === found ? null : last }
  }
  const chainOf = (seatId: string): string[] => store.chain(seatId).map(({ sessionId }) => sessionId)
  if (named !== null) {
    const seat = store.seatNamed(named) ?? store.seat(named)
    return { ...among(seat ? chainOf(seat.seatId) : [sessionNamed(house, named).sessionId]), scope: 'session' }
  }
  const record = own ? store.session(own) : null
  const near = record ? among(chainOf(record.seatId)) : null
  if (near && (near.found || near.unreported)) return { ...near, scope: 'seat' }
  return { ...among(store.sessions().map(({ sessionId }) => sessionId)), scope: 'all' }
}

function view(found: Reported | null, lost: LossReport['lost']): Record<string, unknown> {
  const back = found ? putBack(found) : () => false
  return {
    session_id: found?.sessionId ?? null,
    compaction_started_at: found?.startedAt ?? null,
    facts: found?.loss.total ?? null,
    facts_kept: found?.loss.kept ?? null,
    by_kind: found?.loss.byKind ?? {},
    hits: lost.map((fact) => ({
      archive_id: found?.archiveId ?? null,
      ...{ line: fact.line, kind: fact.kind, text: fact.text, state: fact.state },
      put_back: back(fact),
    })),
  }
}

interface Found extends Omit<Newest, 'scope'> {
  shown: LossReport['lost']
  matching: number
  /** Its archive is still there. */
  archived: boolean
}

function page({ found, unreported, shown, matching, archived }: Found, { screen }: Cli): string[] {
  const { columns, paint } = screen
  const note = unreported
    ? wrap(paint(`The compaction of ${stamp(unreported.startedAt)} has ${whyNoReport(unreported)}.`, 'yellow'), columns, 0)
    : []
  if (found === null) return unreported ? note : wrap('No compaction is known here.', columns, 0)
  const back = putBack(found)
  const more = matching - shown.length
  const place = archived ? `; the transcript before it is archive ${found.archiveId}` : ''
  const nothing = found.loss.lost.length === 0 ? 'Nothing was lost.' : 'Nothing that was lost has these words.'
  return [
    ...note,
    ...wrap(`${paint(harmless(found.sessionId.slice(0, 8)), 'bold')} compacted ${stamp(found.startedAt)}${place}`, columns, 0),
    ...wrap(keptLine(found.loss, paint), columns, 0),
    ...wrap(paint(kindsText(found.loss), 'dim'), columns, 0),
    '',
    ...(matching === 0 ? [nothing] : shown.flatMap((fact) => factLines(fact, back(fact), columns, paint))),
    ...(more > 0 ? [paint(`and ${more} more`, 'dim')] : []),
    ...(shown.some(back) ? ['', paint('↩ was put back into the conversation', 'dim')] : []),
  ]
}
