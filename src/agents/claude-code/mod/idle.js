/**
 * Knows whether the session may be touched just now. The client tells a module about turns,
 * subagents, the draft and, at the end of a turn, background tasks; whether it is idle stands only in
 * its own list of running clients (`sessions/<pid>.json` in its folder), which also knows open
 * dialogs. Where that list is not found, an empty addition to the draft is tried: the client refuses
 * it while a dialog holds the keys.
 */

// A prompt that was typed during the turn begins its own turn at once, so an end of turn counts only
// after this time.
const SETTLE_MS = 100

let turn = null
let turnEnded = 0
let background = []
let ownPath = null

export function turnStarts(e) {
  turn = { id: e.turnId, at: Date.now() }
}

export function turnEnds() {
  turn = null
  turnEnded = Date.now()
}

export function stopped(_$, e, next) {
  if (e.agent_id === undefined) background = Array.isArray(e.background_tasks) ? e.background_tasks : []
  return next(e)
}

/**
 * Returns what keeps an order from being begun; null when nothing does. Only a handoff takes the
 * conversation away from what still runs in it.
 */
export async function hindrance($, kind, session) {
  const before = turn
  const own = await ownEntry($, session)
  if (own !== null && own.status === 'waiting') return 'dialog'
  if (own !== null && own.status !== 'idle') return 'turn'
  // A turn whose end was never reported is over when the client has said so since.
  if (turn !== null && (own === null || !(own.statusUpdatedAt > turn.at))) return 'turn'
  if (Date.now() - turnEnded < SETTLE_MS) return 'turn'
  if (kind === 'hand-off') {
    if (background.length > 0) return 'background'
    const agents = await $.agent.list()
    if (agents.some((agent) => ['pending', 'running', 'waiting'].includes(agent.status))) return 'subagent'
  }
  if (own === null) {
    const tried = await $.prompt.fill({ text: '', mode: 'append' })
    if (tried.refusal === 'dialog') return 'dialog'
  }
  // The user can change the draft at any moment, so it is asked for last.
  if (kind === 'hand-off' && (await $.prompt.read()).text !== '') return 'draft'
  return turn !== null && turn !== before ? 'turn' : null
}

/** Null when the client keeps no such list, or this session is not in it. */
async function ownEntry($, session) {
  try {
    if (ownPath !== null) {
      const entry = await entryAt($, ownPath)
      if (entry?.sessionId === session) return entry
    }
    const folder = (await $.env.get('CLAUDE_CONFIG_DIR')) || `${await $.env.get('HOME')}/.claude`
    for (const { name } of await $.fs.list(`${folder}/sessions`)) {
      if (!name.endsWith('.json')) continue
      const path = `${folder}/sessions/${name}`
      const entry = await entryAt($, path)
      if (entry?.sessionId !== session || entry.kind !== 'interactive') continue
      ownPath = path
      return entry
    }
  } catch {
    // The folder does not exist.
  }
  return null
}

async function entryAt($, path) {
  try {
    return JSON.parse(await $.fs.read(path))
  } catch {
    return null
  }
}
