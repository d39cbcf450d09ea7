import type { FactKind } from '../../contract/fact.js'
import { formatCount } from '../../lib/format-count.js'
import { formatTokens } from '../../policy/numbers.js'
import type { Share } from '../../proof/arms.js'
import type { Interval } from '../../proof/intervals.js'
import type { PlantedArmReport, PlantedReport } from '../../proof/planted-report.js'
import { PLANTED_KINDS } from '../../proof/planted-script.js'
import { type ArmReport, percent, type ReplayReport } from '../../proof/replay-report.js'
import type { Screen } from './screen.js'
import { table } from './table.js'
import { wrap } from './text.js'

const orDash = (value: number | null): string => (value === null ? '–' : formatTokens(value))
const shareText = ({ kept, of }: Share): string => `${kept} of ${of}`
const pointsText = (interval: Interval): string =>
  interval === null ? '–' : `${Math.round(interval[0] * 100)} to ${Math.round(interval[1] * 100)}%`

/** Renders the comparison of all replayed compactions. */
export function replayLines({ arms, compactions, intervals, verdict, calls_after }: ReplayReport, screen: Screen) {
  const { columns, paint } = screen
  const kinds = [...new Set(arms.flatMap(({ facts }) => Object.keys(facts) as FactKind[]))]
  const text = (words: string): string[] => wrap(words, columns, 0)
  return [
    paint(`${formatCount(compactions, 'compaction')} replayed`, 'bold'),
    '',
    ...table<ArmReport>(
      arms,
      [
        { title: 'TEXT AFTER THE COMPACTION', cell: ({ name }) => name, dropAt: 0 },
        { title: 'CHARACTERS', cell: ({ characters }) => orDash(characters), align: 'right', dropAt: 4 },
        { title: 'NEEDED', cell: ({ needed }) => shareText(needed), align: 'right', dropAt: 0 },
        { title: 'KEPT', cell: percent, align: 'right', dropAt: 1 },
        { title: '95%', cell: ({ name }) => pointsText(intervals.needed[name]), align: 'right', dropAt: 3 },
        { title: 'REREADS', cell: ({ rereads }) => orDash(rereads), align: 'right', dropAt: 6 },
        { title: 'RERUNS', cell: ({ reruns }) => orDash(reruns), align: 'right', dropAt: 6 },
        { title: 'AVOIDABLE', cell: ({ avoidable }) => orDash(avoidable), align: 'right', dropAt: 5 },
      ],
      columns,
      paint,
    ),
    '',
    paint("Facts kept, by Baton's own extractor", 'bold'),
    '',
    ...table<FactKind>(
      kinds,
      [
        { title: 'KIND', cell: (kind) => kind, dropAt: 0 },
        ...arms.map(({ name, facts }) => ({
          title: name.toUpperCase(),
          cell: (kind: FactKind) => shareText(facts[kind] ?? { kept: 0, of: 0 }),
          align: 'right' as const,
          dropAt: 1,
        })),
      ],
      columns,
      paint,
    ),
    '',
    ...text(verdict),
    '',
    ...text(
      'NEEDED: paths, numbers and identifiers that only the time before had introduced and that the agent used ' +
        `within ${calls_after} calls. REREADS, RERUNS: as they happened. AVOIDABLE: those whose used parts stand in ` +
        'the text. ' +
        `Intervals: ${intervals.method}, ${formatTokens(intervals.replicates)} replicates, seed ${intervals.seed}.`,
    ),
  ]
}

/** Renders what the scripted reader received over the generations. */
export function plantedLines(report: PlantedReport, screen: Screen): string[] {
  const { columns, paint } = screen
  const { arms, generations, replicates, seed, hostile, intervals, skipped, mismatches, verdict } = report
  const ran = arms.filter(({ characters }) => characters !== null)
  const runs = `${formatCount(generations, 'generation')}, ${formatCount(replicates, 'replicate')}, seed ${seed}`
  const text = (words: string): string[] => wrap(words, columns, 0)
  return [
    paint(`Planted facts over ${runs}`, 'bold'),
    '',
    ...table<PlantedArmReport>(
      ran,
      [
        { title: 'HOW', cell: ({ name }) => name, dropAt: 0 },
        { title: 'CHARACTERS', cell: ({ characters }) => orDash(characters), align: 'right', dropAt: 4 },
        { title: 'RECEIVED', cell: ({ needed }) => shareText(needed), align: 'right', dropAt: 0 },
        { title: '95%', cell: ({ name }) => pointsText(intervals.needed[name]), align: 'right', dropAt: 3 },
        ...PLANTED_KINDS.map((kind) => ({
          title: kind.toUpperCase(),
          cell: ({ facts }: PlantedArmReport) => shareText(facts[kind]),
          align: 'right' as const,
          dropAt: 1,
        })),
      ],
      columns,
      paint,
    ),
    '',
    ...table<PlantedArmReport>(
      ran,
      [
        { title: 'RECEIVED IN GENERATION', cell: ({ name }) => name, dropAt: 0 },
        ...Array.from({ length: generations }, (_, i) => ({
          title: String(i + 1),
          cell: ({ by_generation: all }: PlantedArmReport) => shareText(all[i] ?? { kept: 0, of: 0 }),
          align: 'right' as const,
          dropAt: 1,
        })),
      ],
      columns,
      paint,
    ),
    '',
    ...text(verdict),
    ...text(
      'A tool result asked the summariser to drop the rule, and the scripted one obeyed. That text stood ' +
        `outside of a quotation in ${hostile.repeated} of ${formatCount(hostile.requests, 'request')}.`,
    ),
    ...skipped.flatMap(({ arm, reason }) => text(`Left out: ${arm}, because ${reason}.`)),
    ...mismatches.flatMap((one) => text(`Not as decided: ${one}.`)),
  ]
}
