/**
 * Detects whether the session may be changed now.
 * The client reports turns, subagents, drafts and, after a turn, background tasks to a module.
 * Only the client's own list (`sessions/<pid>.json` in its folder) says whether the client is
 * idle, and names open dialogs.
 * Without the list, an empty addition to the draft is tried, which an open dialog refuses.
 */

// Time after which a turn counts as ended, because a queued prompt starts its own turn at once.
const SETTLE_MS = 100

let turn = null
let turnEnded = 0
let background = []
let ownPath = null

export function onTurnStart(e) {
  turn = { id: e.turnId, at: Date.now() }
}

export function onTurnEnd() {
  turn = null
  turnEnded = Date.now()
}

export function onStop(_$, e, next) {
  if (e.agent_id === undefined) background = Array.isArray(e.background_tasks) ? e.background_tasks : []
  return next(e)
}

/**
 * Returns what prevents an order from being executed.
 * Null when nothing prevents it.
 * Background work prevents only a handoff, which would end it.
 */
export async function hindrance($, kind, session) {
  const before = turn
  const own = await ownEntry($, session)
  if (own !== null && own.status === 'waiting') return 'dialog'
  if (own !== null && own.status !== 'idle') return 'turn'
  // A turn whose end was never reported is over when the client has reported idle since.
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
  // Read the draft last, because the user can change it at any moment.
  if (kind === 'hand-off' && (await $.prompt.read()).text !== '') return 'draft'
  return turn !== null && turn !== before ? 'turn' : null
}

/**
 * Reads this session's entry in the list. Null when there is no list, or the session is not in it.
 */
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
