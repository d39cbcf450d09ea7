import type { BriefView } from '../../engine/view-brief.js'
import type { Cli } from '../command.js'
import { scoreText, statusText } from './brief-lines.js'
import { projectName } from './paths.js'
import { type Column, table } from './table.js'
import { age, stamp } from './times.js'
import { harmless } from './width.js'

/** One line a brief. `seatOf`: how people call a seat. */
export function briefTable(
  briefs: readonly BriefView[],
  seatOf: (seatId: string) => string,
  cli: Pick<Cli, 'screen' | 'env' | 'now'>,
): string[] {
  const { screen, env } = cli
  const taken: Column<BriefView> = screen.terminal
    ? { title: 'AGE', dropAt: 3, align: 'right', cell: (b) => age(b.taken_at, cli.now()) }
    : { title: 'TAKEN', dropAt: 3, cell: (b) => stamp(b.taken_at) }
  const columns: Column<BriefView>[] = [
    { title: 'BRIEF', dropAt: 0, shrinkTo: 12, cell: (b) => b.brief_id },
    taken,
    { title: 'SEAT', dropAt: 4, shrinkTo: 9, cell: (b) => harmless(seatOf(b.seat_id)) },
    { title: 'NO', dropAt: 2, align: 'right', cell: (b) => String(b.sequence) },
    { title: 'SESSION', dropAt: 6, cell: (b) => harmless(b.session_id.slice(0, 8)) },
    { title: 'PROJECT', dropAt: 7, shrinkTo: 12, cutFrom: 'start', cell: (b) => projectName(b.project, env.HOME) },
    { title: 'AUTHOR', dropAt: 5, cell: (b) => b.author },
    { title: 'AS GIVEN', dropAt: 1, align: 'right', cell: (b) => scoreText(b.coverage) },
    { title: 'STATUS', dropAt: 0, cell: (b) => statusText(b.status, screen.paint) },
  ]
  return table(briefs, columns, screen.columns, screen.paint)
}
