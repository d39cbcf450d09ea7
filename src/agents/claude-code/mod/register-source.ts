import { COMMAND_SOURCE } from './command-source.js'
import { COMPACTION_SOURCE } from './compaction-source.js'
import { IDLE_SOURCE } from './idle-source.js'
import { ORDERS_SOURCE } from './orders-source.js'

/**
 * The program of the mod, run by the client in a worker of its own. It reports what the client itself knows about the session and
 * carries out orders: no hook waits for either, no failure reaches the session. Only a compaction waits for it, and only for a moment.
 * Plain JavaScript, because the client loads the file as it is; `$` may only be handed to functions at the top level.
 * `requestPrompt`: what the agent is told when the user types /handoff; '': nothing.
 */
export function registerSource(liveDir: string, requestPrompt = ''): string {
  return `const LIVE = ${JSON.stringify(liveDir)}
const REQUEST = ${JSON.stringify(requestPrompt)}

let reports = 0
let stamp = 0
let epoch = 0
let running = false
let waiting = null
let told = null
let toldFor = ''
let figure = null
let figureOf = ''
let began = ''
let last = null
let trouble = null

export const register = (on) => {
  on('session.start', ($, e, next) => {
    report($, { begins: true, detail: true })
    if (e.isInteractive) {
      watch($)
      offerCommand($)
    }
    return next(e)
  })
  on('turn.start', ($, e, next) => {
    if (e.agentId === undefined) {
      turnStarts(e)
      report($, { begins: true, detail: true })
      watchIfTerminal($)
    }
    return next(e)
  })
  on('tool.call', ($, e, next) => {
    if (e.agentId === undefined) report($, { inTurn: true })
    return next(e)
  })
  on('turn.complete', ($, e, next) => {
    if (e.agentId === undefined) {
      turnEnds()
      report($, {})
      lookSoon($)
    }
    return next(e)
  })
  on('session.measure', ($, e, next) => {
    report($, {})
    return next(e)
  })
  on('session.compact', compact)
  on('session.end', async ($, e, next) => {
    const before = await $.session.id()
    const result = await next(e)
    if (e.reason === 'clear') introduce($, before)
    return result
  })
  try {
    on('classic.SubagentStop', summarised)
    on('classic.PostCompact', compacted)
  } catch {
    // a client without these tells the summary when the compaction has ended
  }
  try {
    on('classic.Stop', stopped)
    on('command.run', { command: 'handoff' }, handoffTyped)
  } catch {
    // a client without these knows no background tasks or takes no commands
  }
}

// After /clear the session gets a new id a moment later, and keeps the old figure for another: the new one is told as unknown.
async function introduce($, before) {
  try {
    for (let tries = 0; tries < 50 && (await $.session.id()) === before; tries++) await $.clock.sleep(20)
    if ((await $.session.id()) !== before) await report($, { begins: true, detail: true, reset: true })
  } catch {
    // the client is going away
  }
}

// One report at a time: what comes meanwhile is folded into one more, so that a later figure is never overwritten by an earlier one.
async function report($, wish) {
  waiting = {
    begins: waiting?.begins || wish.begins,
    detail: waiting?.detail || wish.detail,
    reset: waiting?.reset || wish.reset,
    inTurn: wish.inTurn === true && (waiting === null || waiting.inTurn),
  }
  if (running) return
  running = true
  while (waiting !== null) {
    const now = waiting
    waiting = null
    try {
      await write($, now)
    } catch (error) {
      await complain($, error)
    }
  }
  running = false
}

async function write($, wish) {
  // Within a turn neither session nor model changes, and every question holds the client up a little.
  const same = wish.inTurn && last !== null && last.session === began
  const session = same ? began : await $.session.id()
  // Only a beginning introduces a session: any other report about a new id may still carry the figure of the one before.
  if (wish.begins) began = session
  else if (began !== session) return
  const model = same ? last.figures.model : await $.session.model()
  const usage = await $.session.usage()
  const { tokens, window } = usage.context
  const key = model + ' ' + window
  if (wish.detail || toldFor !== key) {
    const detailed = await $.session.usage({ breakdown: 'summary' })
    const { breakdown } = detailed.context
    told = breakdown === undefined ? null : {
      threshold: breakdown.autoCompactThreshold ?? null,
      effective: breakdown.rawMaxTokens,
      by: breakdown.autocompactSource,
      enabled: breakdown.isAutoCompactEnabled,
    }
    toldFor = key
  }
  const chapter = session + ' ' + epoch
  if (wish.reset || figureOf !== chapter) figure = null
  figureOf = chapter
  // While it shuts down the client knows no figure any more; only a new session or a compaction really takes it away.
  if (!wish.reset) figure = tokens ?? figure
  await put($, session, {
    epoch,
    tokens: figure,
    window,
    model,
    cost: usage.cost?.usd ?? null,
    compaction: told,
    problem: trouble,
  }, same)
  trouble = null
}

async function put($, session, figures, same) {
  const now = same ? Date.now() : await $.clock.now()
  // Cleared meanwhile: the figures may belong to either session, so they are given to neither.
  if (!same && (await $.session.id()) !== session) return
  stamp = Math.max(stamp + 1, now)
  reports++
  last = { session, figures }
  await $.fs.write(LIVE + '/' + session + '.json', JSON.stringify({ format: 1, session, mod: import.meta.url, seen: true, seq: reports, at: stamp, ...figures }))
}

// What was known stays in the report, beside what went wrong.
async function complain($, error) {
  try {
    const session = await $.session.id()
    const known = last?.session === session ? last.figures : { epoch, tokens: null, window: null, model: null, cost: null, compaction: null }
    await put($, session, { ...known, problem: String(error) })
  } catch {
    // nothing is left to tell it with, and the session must not notice
  }
}
${COMPACTION_SOURCE}${IDLE_SOURCE}${ORDERS_SOURCE}${COMMAND_SOURCE}`
}
