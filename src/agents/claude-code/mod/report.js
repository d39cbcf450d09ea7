import { LIVE } from './settings.js'

/**
 * The session that reports are about, empty before the first one; how many compactions it has had;
 * and the problem that the next report names, null when there is none.
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
 * Reports the session's figures. One report at a time: requests that arrive meanwhile are merged into
 * one more report, so that an earlier figure never overwrites a later one.
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

/** Names a problem in a report that is made at once. */
export async function reportProblem($, problem) {
  state.problem = problem
  await report($, {})
}

/**
 * After /clear the session gets a new id a moment later, and keeps the old figure for another: the
 * new session's figure is reported as unknown.
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
  // Within a turn neither session nor model changes, and every question delays the client a little.
  const same = request.inTurn && last !== null && last.session === state.session
  const session = same ? state.session : await $.session.id()
  // Only a beginning introduces a session: any other report about a new id may still carry the
  // figure of the session before.
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
  // While the client shuts down it knows no figure; only a new session or a compaction removes it.
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
  // Cleared meanwhile: the figures may belong to either session, so they are written for neither.
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
    // Nothing is left to report it with, and the session must not notice.
  }
}
