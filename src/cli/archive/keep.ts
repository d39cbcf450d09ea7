import { basename } from 'node:path'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { sessionNamed } from '../open-house.js'
import { wrong } from '../parse-call.js'
import { bytesText } from '../render/bytes.js'
import { finishAll, inArchives } from './open-archives.js'
import { waitForOther } from './wait-for-other.js'

/** Keeps a session's transcript now. */
export async function keep(call: Call, cli: Cli): Promise<number> {
  const id = call.words[1] ?? cli.env.CLAUDE_CODE_SESSION_ID
  if (!id) throw wrong({ name: 'archive' }, 'Which session? baton archive keep <session>.', 'baton status lists them.')
  return inArchives(call, cli, async (opened) => {
    const { house, archives } = opened
    const session = sessionNamed(house, id)
    const { policy } = house.policyOf({ agent: session.agent, project: session.project, model: session.model, seat: null })
    if (!policy.archive.enabled)
      throw new BatonError('Archiving is turned off here (archive.enabled).', 'baton config explain tells where.', EXIT.refused)
    const { sessionId, agent, project, transcriptPath } = session
    const planned = house.store.transaction(() =>
      house.planArchive({ sessionId, agent, project, trigger: 'request', transcript: transcriptPath }),
    )!
    finishAll(opened)
    const record = await waitForOther({
      store: house.store,
      archiveId: planned.archiveId,
      finish: () => void finishAll(opened),
      tell: () => cli.note('Another process is keeping transcripts of this session; waiting for it …'),
    })
    opened.progress.end()
    const archive = record && archives.view([record])[0]
    if (!archive)
      throw new BatonError(`${planned.archiveId} was forgotten meanwhile.`, 'Keep the session again if you still want it.')
    if (call.json) cli.print(JSON.stringify(archive))
    else if (archive.status === 'kept')
      cli.print(
        `Kept ${bytesText(archive.bytes)} as ${archive.archive_id}${archive.path === null ? '' : ` (${basename(archive.path)})`}.`,
      )
    if (archive.status === 'kept') return EXIT.done
    if (archive.status === 'pending')
      throw new BatonError(
        `${archive.archive_id} is not kept yet: another process is still working on this session’s archives.`,
        `It is kept once that one is done (baton archive show ${archive.archive_id}).`,
      )
    throw new BatonError(
      `${archive.archive_id} was not kept: ${archive.reason ?? 'for no known reason'}.`,
      record.retryAt === null ? 'baton doctor tells what is wrong.' : 'It is tried again later.',
    )
  })
}
