import type { Archive } from '../../contract/archive.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { bytesText } from '../render/bytes.js'
import { projectName } from '../render/paths.js'
import { type Column, table } from '../render/table.js'
import { age, stamp } from '../render/times.js'
import { harmless } from '../render/width.js'
import { wrap } from '../render/wrap.js'
import { among } from './among.js'
import { inArchives } from './open-archives.js'

export async function list(call: Call, cli: Cli): Promise<number> {
  return inArchives(call, cli, ({ house, archives }) => {
    const wanted = among(call, cli, house)
    const records = house.store.archives()
    const shown = archives.view(wanted ? records.filter(wanted) : records).reverse()
    const sizes = archives.sizes()
    if (call.json) {
      cli.print(JSON.stringify({ archives: shown, total_bytes: sizes.bytes, index_bytes: sizes.indexBytes }))
      return EXIT.done
    }
    if (shown.length === 0) {
      const none = 'No archives. A transcript is kept before it is compacted; baton archive keep <session> keeps one now.'
      cli.print(wrap(none, cli.screen.columns, 0).join('\n'))
      return EXIT.done
    }
    const { columns, paint } = cli.screen
    cli.print(archiveTable(shown, cli).join('\n'))
    const troubles = shown.filter(({ reason }) => reason !== null)
    for (const { archive_id: id, reason } of troubles)
      cli.print(wrap(paint(harmless(`${id}: ${reason}`), 'yellow'), columns, 2).join('\n'))
    const all = wanted ? ' all' : ''
    const total = `${bytesText(sizes.bytes)} on the disk for${all} ${sizes.archives}, ${bytesText(sizes.indexBytes)} for searching them`
    cli.print(wrap(paint(total, 'dim'), columns, 0).join('\n'))
    return EXIT.done
  })
}

export function archiveTable(archives: readonly Archive[], cli: Cli): string[] {
  const { screen, env } = cli
  const created: Column<Archive> = screen.terminal
    ? { title: 'AGE', dropAt: 4, align: 'right', cell: (a) => age(a.created_at, cli.now()) }
    : { title: 'CREATED', dropAt: 4, cell: (a) => stamp(a.created_at) }
  const columns: Column<Archive>[] = [
    { title: 'ARCHIVE', dropAt: 0, cell: (a) => a.archive_id },
    created,
    { title: 'SESSION', dropAt: 2, cell: (a) => harmless(a.session_id.slice(0, 8)) },
    { title: 'PROJECT', dropAt: 5, shrinkTo: 12, cutFrom: 'start', cell: (a) => projectName(a.project, env.HOME) },
    { title: 'TRIGGER', dropAt: 3, cell: (a) => a.trigger },
    { title: 'SIZE', dropAt: 1, align: 'right', cell: (a) => (a.status === 'failed' ? '–' : bytesText(a.bytes)) },
    { title: 'STORED', dropAt: 6, align: 'right', cell: (a) => (a.status === 'kept' ? bytesText(a.stored_bytes) : '–') },
    {
      title: 'STATUS',
      dropAt: 0,
      cell: (a) => screen.paint(a.status, a.status === 'failed' ? 'red' : a.status === 'kept' ? 'green' : 'yellow'),
    },
  ]
  return table(archives, columns, screen.columns, screen.paint)
}
