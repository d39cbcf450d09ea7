import { factsOf, verdictOf } from '../../briefs-of.js'
import type { SessionRecord } from '../../contract/record.js'
import { checkText } from '../../engine/handoff-calls.js'
import { viewCoverage } from '../../engine/view-brief.js'
import { withoutFrontMatter } from '../../handoff/front-matter.js'
import type { Verdict } from '../../handoff/sign.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { projectOf } from '../project-of.js'
import { coverageLines, scoreText } from '../render/brief-lines.js'
import { kindsText } from '../render/compaction-lines.js'
import { wrap } from '../render/wrap.js'
import { sessionMeant, textOf } from './find.js'

export async function check(call: Call, cli: Cli): Promise<number> {
  const bar = barOf(call.value('bar'))
  return inHouse(cli, (house) => {
    const text = textOf(cli, call.words[1]!)
    const record = sessionMeant(house, cli, call.value('session')) ?? newestHere(house, cli)
    const read = factsOf(house, record)
    if (read.trouble !== null)
      throw new BatonError(
        `There is nothing to check it against: ${read.trouble}.`,
        'Name another session: baton handoffs check <file> --session ID.',
        EXIT.notFound,
      )
    const verdict = verdictOf(house, text)
    const coverage = checkText(house.engine.parts, { sessionId: record.sessionId, body: withoutFrontMatter(text), read })
    const passed = bar === null || coverage.score >= bar
    if (call.json) {
      cli.print(JSON.stringify({ ...viewCoverage(coverage), session_id: record.sessionId, verdict, bar, passed }))
    } else {
      const { columns, paint } = cli.screen
      const score = paint(scoreText(coverage), passed && coverage.missing.length === 0 ? 'green' : 'yellow')
      const all = Object.values(coverage.byKind).reduce((sum, { total }) => sum + total, 0)
      const what = all === 0 ? 'Nothing happened that a brief had to carry' : `Carries ${score} of what happened`
      cli.print(
        [
          ...wrap(`${what} in session ${record.sessionId.slice(0, 8)}.`, columns, 2),
          ...(all === 0 ? [] : wrap(kindsText(coverage), columns, 2)),
          ...coverageLines(coverage, 'It lacks:', cli.screen, Number.POSITIVE_INFINITY),
          ...(verdict === null ? [] : wrap(VERDICTS[verdict], columns, 2)),
          ...(passed ? [] : wrap(paint(`Below the bar of ${bar}.`, 'red'), columns, 2)),
        ].join('\n'),
      )
    }
    return passed ? EXIT.done : EXIT.failed
  })
}

const VERDICTS: Record<Verdict, string> = {
  genuine: 'Its front matter is genuine: Baton kept this text, and nobody changed it since.',
  tampered: 'Its front matter is not to be believed: it was signed elsewhere, or changed since.',
  unsigned: 'Its front matter bears no signature: anybody may have written it.',
}

export function newestHere(house: House, cli: Cli): SessionRecord {
  const { spellings, project } = projectOf(house, cli.cwd)
  const here = house.store.sessions().filter((record) => record.project !== null && spellings.includes(record.project))
  const newest = here.reduce<SessionRecord | null>((a, b) => (a !== null && a.seenAt >= b.seenAt ? a : b), null)
  if (newest) return newest
  throw new BatonError(
    `No session was seen in ${project}.`,
    'Name one with --session ID; baton status --all lists them.',
    EXIT.notFound,
  )
}

function barOf(written: string | null): number | null {
  if (written === null) return null
  const bar = Number(written)
  if (written.trim() !== '' && bar >= 0 && bar <= 1) return bar
  throw new BatonError(`--bar cannot be "${written}".`, 'Give a number from 0 to 1, for instance 0.8.', EXIT.usage)
}
