import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { finishAll, inArchives } from './open-archives.js'

/** For a process nobody waits for: keeps what is planned, makes it searchable, drops what the configuration says is too much. */
export async function finish(call: Call, cli: Cli): Promise<number> {
  return inArchives(
    call,
    cli,
    (opened) => {
      const { archives, house } = opened
      const settled = finishAll(opened)
      const dropped = archives.retain(
        (project) => house.policyOf({ agent: 'claude-code', project, model: null, seat: null }).policy.archive,
      )
      opened.progress.end()
      const shown = settled.flatMap((record) => archives.view([record]))
      if (call.json) cli.print(JSON.stringify({ archives: shown, pruned: dropped.archives, freed_bytes: dropped.freedBytes }))
      else
        cli.print(
          shown.length === 0
            ? 'Nothing was waiting.'
            : shown.map((one) => `${one.archive_id} ${one.status}${one.reason ? `: ${one.reason}` : ''}`).join('\n'),
        )
      return EXIT.done
    },
    { finish: false },
  )
}
