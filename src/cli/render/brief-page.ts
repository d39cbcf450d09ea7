import type { BriefVerdict } from '../../briefs/read-brief.js'
import { addedIn } from '../../briefs-of.js'
import type { BriefView, HandoffView } from '../../engine/view-brief.js'
import { grouped } from '../../policy/numbers.js'
import { coverageLines, handoffText, scoreText, statusText } from './brief-lines.js'
import { tilde } from './paths.js'
import type { Paint } from './screen.js'
import { age, stamp } from './times.js'
import { harmless, padEnd } from './width.js'
import { wrap } from './wrap.js'

export interface BriefPage {
  brief: BriefView
  verdict: BriefVerdict
  /** null: its file is gone, or is not as Baton kept it. */
  text: string | null
  /** What stands in a file that Baton did not keep so, every line marked. */
  untrusted: string | null
  addenda: { at: string; text: string | null }[]
  handoff: HandoffView | null
  seatName: string | null
}

const NAME_WIDTH = 12

const VERDICTS: Record<BriefVerdict, string> = {
  genuine: 'genuine: as Baton kept it',
  tampered: 'TAMPERED: it was changed since Baton kept it, and is not used',
  unsigned: 'TAMPERED: its signature is gone, and it is not used',
  missing: 'MISSING: its file is gone',
}

export function briefPage(page: BriefPage, on: { columns: number; paint: Paint; now: Date; home: string | undefined }): string[] {
  const { brief, text } = page
  const { columns, paint } = on
  const title = (words: string): string[] => ['', paint(words, 'bold')]
  const words = (all: string): string[] => all.split('\n').map((line) => harmless(line.replaceAll('\t', '  ')).trimEnd())
  return [
    `${paint(brief.brief_id, 'bold')}  ${statusText(brief.status, paint)}`,
    ...facts(page, on).flatMap(([name, value]) =>
      value === null ? [] : wrap(`  ${padEnd(name, NAME_WIDTH)}${harmless(value)}`, columns, NAME_WIDTH + 2),
    ),
    ...(brief.coverage ? coverageLines(brief.coverage, '  lacked, and added below by Baton:', on) : []),
    ...(text === null ? [] : [...title('Text'), ...words(text.trimEnd())]),
    ...(page.untrusted === null ? [] : [...title('Not the text Baton kept'), ...words(page.untrusted.trimEnd())]),
    ...page.addenda.flatMap(({ at, text: late }) => [
      ...title(`Found later, ${stamp(at)}`),
      ...words(late ?? 'its file is gone or was changed'),
    ]),
  ]
}

function facts({ brief, verdict, handoff, seatName, text }: BriefPage, { now, home }: { now: Date; home: string | undefined }) {
  const used = brief.used_tokens === null ? null : `${grouped(brief.used_tokens)} tokens used`
  const of = brief.compaction_tokens === null ? '' : `, compaction at ${grouped(brief.compaction_tokens)}`
  const added = addedIn(text)
  const rows: [string, string | null][] = [
    ['seat', `${seatName ? `${seatName} (${brief.seat_id})` : brief.seat_id}, brief ${brief.sequence}`],
    ['session', brief.session_id],
    ['parent', brief.parent_brief_id],
    [
      'author',
      { agent: 'the agent', fork: 'a fork of the session', user: 'the user', baton: 'Baton, from transcript and repository' }[
        brief.author
      ],
    ],
    ['taken', `${stamp(brief.taken_at)} (${age(brief.taken_at, now)} ago)`],
    ['reason', brief.reason],
    ['project', brief.project === null ? null : `${tilde(brief.project, home)}${brief.branch ? ` on ${brief.branch}` : ''}`],
    ['commit', brief.commit],
    ['model', [brief.agent, brief.model].filter(Boolean).join(', ')],
    ['context', used && `${used}${of}`],
    ['file', tilde(brief.path, home)],
    ['signature', VERDICTS[verdict]],
    ['used', brief.used_at === null ? null : `${stamp(brief.used_at)} by session ${brief.used_by_session_id ?? 'unknown'}`],
    ['handoff', handoff === null ? null : handoffText(handoff, now)],
    [
      'carries',
      brief.coverage === null
        ? 'not checked: there was no transcript to compare it with'
        : `${scoreText(brief.coverage)} of what happened, as it was given`,
    ],
    ['added', added === null ? null : `${added.split('\n').length} lines by Baton, at its end`],
  ]
  return rows
}
