import { modFiles } from '../agents/claude-code/mod/mod.js'
import { briefSkill } from '../handoff/brief-skill.js'
import { requestText } from '../handoff/request-text.js'
import type { ModFile } from '../install/mod-folder.js'
import type { Home } from '../lib/home.js'
import { VERSION } from '../version.js'

/** The mod as this Baton writes it for this home. */
export function modHere(home: Home): ModFile[] {
  return modFiles({ liveDir: home.live, version: VERSION, requestPrompt: requestText(), briefSkill: briefSkill() })
}
