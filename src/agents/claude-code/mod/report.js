import { LIVE } from './settings.js'

/**
 * The reported session, empty before the first report; its number of compactions; and the problem
 * that the next report names, null when there is none.
 */
export const state = { session: '', epoch: 0, problem: null }

let reports = 0
let stamp = 0
let running = false
let waiting = null
let limits = null
let limitsOf = ''
let figure = null
let figureOf = ''
let last = null

/**
 * Reports the session's figures, one report at a time.
 * Requests that arrive meanwhile are merged into one more report, so that an earlier figure never
 * overwrites a later one.
 */
export async function report($, request) {
  waiting = {
    begins: waiting?.begins || request.begins,
    detail: waiting?.detail || request.detail,
    reset: waiting?.reset || request.reset,
    inTurn: request.inTurn === true && (waiting === null || waiting.inTurn),
  }
  if (running) return
  running = true
  while (waiting !== null) {
    const next = waiting
    waiting = null
    try {
      await measure($, next)
    } catch (error) {
      await reportFailure($, error)
    }
  }
  running = false
}

/** Reports a problem immediately. */
export async function reportProblem($, problem) {
  state.problem = problem
  await report($, {})
}

/**
 * Reports a new session after /clear.
 * The new session gets its id and figure only later, so its figure is reported as unknown.
 */
export async function reportCleared($, before) {
  try {
    for (let tries = 0; tries < 50 && (await $.session.id()) === before; tries++) await $.clock.sleep(20)
    if ((await $.session.id()) !== before) await report($, { begins: true, detail: true, reset: true })
  } catch {
    // The client is shutting down.
  }
}

async function measure($, request) {
  // Within a turn neither session nor model changes, and every call delays the client a little.
  const same = request.inTurn && last !== null && last.session === state.session
  const session = same ? state.session : await $.session.id()
  // Only a start introduces a session.
  // Any other report about a new id may still have the previous session's figure.
  if (request.begins) state.session = session
  else if (state.session !== session) return
  const model = same ? last.figures.model : await $.session.model()
  const usage = await $.session.usage()
  const { tokens, window } = usage.context
  const key = `${model} ${window}`
  if (request.detail || limitsOf !== key) {
    limits = limitsIn(await $.session.usage({ breakdown: 'summary' }))
    limitsOf = key
  }
  const cycle = `${session} ${state.epoch}`
  if (request.reset || figureOf !== cycle) figure = null
  figureOf = cycle
  // During shutdown the client reports no figure. Only a new session or a compaction resets it.
  if (!request.reset) figure = tokens ?? figure
  const figures = {
    epoch: state.epoch,
    tokens: figure,
    window,
    model,
    cost: usage.cost?.usd ?? null,
    compaction: limits,
    problem: state.problem,
  }
  await write($, session, figures, same)
  state.problem = null
}

function limitsIn(usage) {
  const { breakdown } = usage.context
  if (breakdown === undefined) return null
  return {
    threshold: breakdown.autoCompactThreshold ?? null,
    effective: breakdown.rawMaxTokens,
    by: breakdown.autocompactSource,
    enabled: breakdown.isAutoCompactEnabled,
  }
}

async function write($, session, figures, same) {
  const now = same ? Date.now() : await $.clock.now()
  // After a /clear the figures may belong to either session, so they are written for neither.
  if (!same && (await $.session.id()) !== session) return
  stamp = Math.max(stamp + 1, now)
  reports++
  last = { session, figures }
  const known = { format: 1, session, mod: import.meta.url, seen: true, seq: reports, at: stamp, ...figures }
  await $.fs.write(`${LIVE}/${session}.json`, JSON.stringify(known))
}

const UNKNOWN = { tokens: null, window: null, model: null, cost: null, compaction: null }

/** Repeats the last known figures, with the failure. */
async function reportFailure($, error) {
  try {
    const session = await $.session.id()
    const known = last?.session === session ? last.figures : { epoch: state.epoch, ...UNKNOWN }
    await write($, session, { ...known, problem: String(error) })
  } catch {
    // Nothing remains to report the failure with, and it must not reach the session.
  }
}
