/**
 * Executes orders, which `../orders.ts` gives.
 * Orders are read after every turn and once a second, in a terminal only.
 * An order waits while something prevents it, and a file beside it names the reason.
 * An order without such a file for long was not noticed.
 * An order that was started has an answer and is never started again, even after a crash.
 * The session never waits for this code, and no failure reaches it.
 */
import { hindrance } from './idle.js'
import { reportProblem, state } from './report.js'
import { LIVE } from './settings.js'

const LOOK_MS = 1000
const SOON_MS = [110, 250, 450, 700]
// More handoffs per hour than this count as a loop.
const HANDOFFS_AN_HOUR = 60
const HOUR_MS = 3_600_000
const NEW_SESSION_TRIES = 500

let watching = false
let looking = false
/** The order file that was processed last: path, time and size. */
let settled = ''
/** The order that waits, and the last reason. */
let held = null
const handoffs = []

export const isWatching = () => watching

export function watch($) {
  if (watching) return
  watching = true
  $.clock.every(LOOK_MS, () => look($))
}

export function lookSoon($) {
  if (!watching) return
  for (const ms of SOON_MS) $.clock.after(ms, () => look($))
}

async function look($) {
  if (looking || state.session === '') return
  looking = true
  try {
    await takeOrder($, state.session, `${LIVE}/${state.session}.order.json`)
  } catch (error) {
    await reportProblem($, `order: ${error}`)
  }
  looking = false
}

async function takeOrder($, session, path) {
  const stat = await $.fs.stat(path).catch(() => null)
  if (stat === null) return
  const mark = `${path} ${stat.mtimeMs} ${stat.size}`
  if (mark === settled) return
  const order = held?.mark === mark ? held.order : parseOrder(await $.fs.read(path))
  if (order === null) {
    settled = mark
    return reportProblem($, `the order in ${path} has an unknown format`)
  }
  if (held?.mark !== mark) held = { mark, order, by: 'late' }
  const fault = faultOf(order, session)
  if (fault === null) {
    // A draft may stay for hours. Nothing else is checked until it is gone.
    if (held.by === 'draft' && (await $.prompt.read()).text !== '') return
    const hinder = await hindrance($, order.do, session)
    if (hinder !== null) {
      const isKnown = held.by === hinder
      held.by = hinder
      if (!isKnown) await writeSeen($, session, order, hinder)
      return
    }
  }
  settled = mark
  if (await $.fs.exists(answerPath(session, order))) return
  if (fault !== null) return writeAnswer($, session, order, 'refused', fault)
  await writeAnswer($, session, order, 'begun', null)
  let refused
  try {
    refused = await carryOut($, session, order, path)
  } catch (error) {
    refused = `failed: ${error}`
  }
  await writeAnswer($, session, order, refused === null ? 'done' : 'refused', refused)
  if (refused?.startsWith('failed')) await reportProblem($, `order: ${refused}`)
}

/**
 * Executes an order.
 * Returns null when the order was done, otherwise the reason.
 * 'failed…' is a failure during execution; after 'failed after the clear' the old session is gone.
 */
async function carryOut($, session, order, path) {
  const now = parseOrder(await $.fs.read(path).catch(() => ''))
  if (now?.orderId !== order.orderId) return 'withdrawn'
  if ((await $.session.id()) !== session) return 'session'
  const hinder = await hindrance($, order.do, session)
  if (hinder !== null) return hinder
  if (order.do === 'say') return dropReason(await $.prompt.submit({ text: order.prompt, asUser: true }), 'failed')
  handoffs.push({ at: Date.now(), counts: typeof order.perHour === 'number' })
  await $.command.run({ command: 'clear' })
  for (let tries = 0; (await $.session.id()) === session; tries++) {
    if (tries === NEW_SESSION_TRIES) return 'failed: the session was not cleared'
    await $.clock.sleep(20)
  }
  try {
    return dropReason(await $.prompt.submit({ text: order.prompt, asUser: true }), 'failed after the clear')
  } catch (error) {
    return `failed after the clear: ${error}`
  }
}

/** Returns why the client dropped a prompt, after `failure`. Null when the client accepted it. */
export function dropReason(result, failure) {
  return result.drop === undefined ? null : `${failure}: ${result.drop}`
}

/** Returns why an order must be refused. Null when it may run as soon as nothing prevents it. */
function faultOf(order, session) {
  const known = order.format === 1 && ['hand-off', 'say'].includes(order.do) && typeof order.until === 'number'
  if (!known || typeof order.prompt !== 'string' || !order.prompt.startsWith('[baton]')) return 'format'
  if (order.session !== session) return 'session'
  if (Date.now() > order.until) return held.by
  if (order.do !== 'hand-off') return null
  const lately = handoffs.filter(({ at }) => Date.now() - at < HOUR_MS)
  if (lately.length >= HANDOFFS_AN_HOUR) return 'guard'
  return lately.filter(({ counts }) => counts).length >= (order.perHour ?? Number.POSITIVE_INFINITY) ? 'guard' : null
}

/** Parses an order. Null when not even its id can be read. */
function parseOrder(json) {
  try {
    const order = JSON.parse(json)
    return typeof order?.orderId === 'string' && /^[\w-]{1,100}$/.test(order.orderId) ? order : null
  } catch {
    return null
  }
}

function answerPath(session, order) {
  return `${LIVE}/${session}.${order.orderId}.answer.json`
}

async function writeSeen($, session, { orderId }, by) {
  const seen = { format: 1, orderId, session, by, at: Date.now() }
  await $.fs.write(`${LIVE}/${session}.${orderId}.seen.json`, JSON.stringify(seen))
}

async function writeAnswer($, session, order, outcome, reason) {
  const answer = { format: 1, orderId: order.orderId, session, state: outcome, reason, at: Date.now() }
  await $.fs.write(answerPath(session, order), JSON.stringify(answer))
}
