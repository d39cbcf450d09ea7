import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'

type BriefRoute = 'briefs' | 'brief' | 'editBrief' | 'holdBrief' | 'approveBrief' | 'cancelBrief'

/** Briefs, and what a person says to them. */
export function briefs({ rooms }: ServerParts): Handlers<BriefRoute> {
  return {
    briefs: ({ query }) => ({ briefs: rooms.briefs(query) }),
    brief: ({ id }) => rooms.brief(id),
    editBrief: ({ id, body }) => rooms.editBrief(id, body.text),
    holdBrief: ({ id, body }) => rooms.holdBrief(id, body.editing),
    approveBrief: ({ id }) => rooms.approveBrief(id),
    cancelBrief: ({ id }) => rooms.cancelBrief(id),
  }
}
