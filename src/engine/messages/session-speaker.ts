import type { SessionRecord } from '../../contract/records/session.js'
import { sanitizeName } from '../../lib/quote.js'
import type { TextSubject } from '../../policy/texts.js'

/**
 * Names a session in texts for users and agents.
 * Others choose the names of seats and folders.
 * Therefore such names are reduced to one line without marks of Baton.
 */
export function speakerFor(
  { sessionId, project }: Pick<SessionRecord, 'sessionId' | 'project'>,
  seatName: string | null,
): TextSubject {
  return {
    sessionId,
    seatName: seatName === null ? null : sanitizeName(seatName),
    project: project === null ? null : sanitizeName(project),
  }
}
