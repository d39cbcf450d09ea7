/**
 * The part of the mod's program that knows whether the session may be touched just now. The client tells a mod turns, subagents, the
 * draft and, at the end of a turn, background tasks; whether it is idle stands only in its own list of running clients
 * (`sessions/<pid>.json` in its folder), which also knows open dialogs. Where that list is not found, an empty addition to the draft
 * is tried: the client refuses it while a dialog holds the keys.
 */
export const IDLE_SOURCE = `
// A prompt that was typed during the turn begins its own turn at once: an end of turn is believed only after this.
const SETTLE_MS = 100

let turnOf = null
let turnEnded = 0
let background = []
let listed = null

function turnStarts(e) {
  turnOf = { id: e.turnId, at: Date.now() }
}

function turnEnds() {
  turnOf = null
  turnEnded = Date.now()
}

function stopped($, e, next) {
  if (e.agent_id === undefined) background = Array.isArray(e.background_tasks) ? e.background_tasks : []
  return next(e)
}

// What keeps an order from being begun; null: nothing does. Only a handoff takes the conversation away from what still runs in it.
async function hindrance($, kind, session) {
  const turn = turnOf
  const own = await ownEntry($, session)
  if (own !== null && own.status === 'waiting') return 'dialog'
  if (own !== null && own.status !== 'idle') return 'turn'
  // A turn whose end was never told is over when the client has said so since.
  if (turnOf !== null && (own === null || !(own.statusUpdatedAt > turnOf.at))) return 'turn'
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
  // What a person can change at any moment comes last.
  if (kind === 'hand-off' && (await $.prompt.read()).text !== '') return 'draft'
  return turnOf !== null && turnOf !== turn ? 'turn' : null
}

// Null: the client keeps no such list, or this session is not in it.
async function ownEntry($, session) {
  try {
    if (listed !== null) {
      const entry = await entryAt($, listed)
      if (entry?.sessionId === session) return entry
    }
    const folder = (await $.env.get('CLAUDE_CONFIG_DIR')) || (await $.env.get('HOME')) + '/.claude'
    for (const { name } of await $.fs.list(folder + '/sessions')) {
      if (!name.endsWith('.json')) continue
      const entry = await entryAt($, folder + '/sessions/' + name)
      if (entry?.sessionId !== session || entry.kind !== 'interactive') continue
      listed = folder + '/sessions/' + name
      return entry
    }
  } catch {
    // no such folder
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
`
