import { join } from 'node:path'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { harmless } from '../render/width.js'
import { wrap } from '../render/wrap.js'
import { inArchives } from './open-archives.js'

/** Ends with 1 when anything is wrong. What was never kept is told, but nothing can be wrong with it. */
export async function verify(call: Call, cli: Cli): Promise<number> {
  return inArchives(call, cli, ({ house, archives, progress }) => {
    const id = call.words[1]
    const records = id === undefined ? house.store.archives() : [archives.find(id)]
    const found = archives.verify(records, (bytes) => progress.add('checking:', bytes))
    progress.end()
    const extra = id === undefined ? found.extra.map((file) => join(archives.places.folder, file)) : []
    const wrong = found.archives.filter(({ state }) => state !== 'whole')
    const unkept = records.filter(({ status }) => status !== 'kept')
    const ok = wrong.length === 0 && extra.length === 0
    if (call.json) {
      cli.print(
        JSON.stringify({
          ok,
          archives: found.archives.map(({ archiveId, state, reason }) => ({
            archive_id: archiveId,
            state,
            reason: reason === '' ? null : reason,
          })),
          extra,
          not_kept: unkept.map(({ archiveId, status, reason }) => ({ archive_id: archiveId, status, reason })),
        }),
      )
    } else {
      const { paint, columns } = cli.screen
      const lines = [
        ...wrong.map(({ archiveId, state, reason }) => `${paint('×', 'red')} ${archiveId} ${state}: ${harmless(reason)}`),
        ...extra.map((path) => `${paint('×', 'red')} ${harmless(path)} belongs to no archive`),
        ...unkept.map(
          ({ archiveId, status, reason }) =>
            `${paint('–', 'yellow')} ${archiveId} ${status}${reason === null ? '' : `: ${harmless(reason)}`}`,
        ),
        summary(found.archives.length - wrong.length, wrong.length, extra.length),
      ]
      cli.print(lines.flatMap((line) => wrap(line, columns, 2)).join('\n'))
    }
    return ok ? EXIT.done : EXIT.failed
  })
}

function summary(whole: number, wrong: number, extra: number): string {
  const kept = whole === 1 ? '1 archive is whole' : `${whole} archives are whole`
  if (wrong + extra === 0) return `${kept}.`
  const parts = [wrong === 0 ? '' : `${wrong} not`, extra === 0 ? '' : `${extra} extra ${extra === 1 ? 'file' : 'files'}`]
  return `${kept}, ${parts.filter(Boolean).join(', ')}. What is damaged can be dropped (baton archive forget <id>); an extra file is yours to remove.`
}
