/**
 * The part of the mod's program that carries out orders (`orders.ts` gives them). An order is looked for after every turn and once a
 * second, in a terminal only. It waits while something hinders it, and what does is told beside it: an order of which nothing is told for
 * long was not noticed. Begun, it has an answer, and what has an answer is never begun again, whatever dies. Nothing in here is awaited by the session, and no failure leaves it.
 */
export const ORDERS_SOURCE = `
const LOOK_MS = 1000
const SOON_MS = [110, 250, 450, 700]
// Whoever asks for more is caught in a circle.
const HANDOFFS_AN_HOUR = 60
const HOUR_MS = 3600000
const NEW_SESSION_TRIES = 500

let watching = false
let looking = false
let settled = ''
// The order that waits, and what hindered it last.
let held = null
const handoffs = []

function watch($) {
  if (watching) return
  watching = true
  $.clock.every(LOOK_MS, () => look($))
}

// The program may have been loaded anew within a session: then nobody tells it how the session began.
async function watchIfTerminal($) {
  try {
    if (watching || (await $.session.surface()) !== 'terminal') return
    watch($)
    offerCommand($)
  } catch {
    // the next turn asks again
  }
}

function lookSoon($) {
  if (!watching) return
  for (const ms of SOON_MS) $.clock.after(ms, () => look($))
}

async function look($) {
  if (looking || began === '') return
  looking = true
  try {
    await takeOrder($, began, LIVE + '/' + began + '.order.json')
  } catch (error) {
    await grumble($, 'order: ' + error)
  }
  looking = false
}

async function takeOrder($, session, path) {
  const stat = await $.fs.stat(path).catch(() => null)
  if (stat === null) return
  const mark = path + ' ' + stat.mtimeMs + ' ' + stat.size
  if (mark === settled) return
  const order = held?.mark === mark ? held.order : parsed(await $.fs.read(path))
  if (order === null) {
    settled = mark
    return grumble($, 'an order of unknown format lies in ' + path)
  }
  if (held?.mark !== mark) held = { mark, order, by: 'late' }
  const fault = faultOf(order, session)
  if (fault === null) {
    // A draft may stand for hours: while it does, nothing else is asked.
    if (held.by === 'draft' && (await $.prompt.read()).text !== '') return
    const hinder = await hindrance($, order.do, session)
    if (hinder !== null) {
      const isKnown = held.by === hinder
      held.by = hinder
      if (!isKnown) await tellSeen($, session, order, hinder)
      return
    }
  }
  settled = mark
  if (await $.fs.exists(answerAt(session, order))) return
  if (fault !== null) return answer($, session, order, 'refused', fault)
  await answer($, session, order, 'begun', null)
  let refused
  try {
    refused = await carryOut($, session, order, path)
  } catch (error) {
    refused = 'failed: ' + error
  }
  await answer($, session, order, refused === null ? 'done' : 'refused', refused)
  if (refused !== null && refused.startsWith('failed')) await grumble($, 'order: ' + refused)
}

// Null: done. Else why not; everything that begins with 'failed' went wrong on the way, after 'failed after the clear' the old session is gone.
async function carryOut($, session, order, path) {
  const now = parsed(await $.fs.read(path).catch(() => ''))
  if (now?.orderId !== order.orderId) return 'withdrawn'
  if ((await $.session.id()) !== session) return 'session'
  const hinder = await hindrance($, order.do, session)
  if (hinder !== null) return hinder
  if (order.do === 'say') return said(await $.prompt.submit({ text: order.prompt, asUser: true }), 'failed')
  handoffs.push({ at: Date.now(), counts: typeof order.perHour === 'number' })
  await $.command.run({ command: 'clear' })
  for (let tries = 0; (await $.session.id()) === session; tries++) {
    if (tries === NEW_SESSION_TRIES) return 'failed: the session was not cleared'
    await $.clock.sleep(20)
  }
  try {
    return said(await $.prompt.submit({ text: order.prompt, asUser: true }), 'failed after the clear')
  } catch (error) {
    return 'failed after the clear: ' + error
  }
}

function said(result, failure) {
  return result.drop === undefined ? null : failure + ': ' + result.drop
}

// Null: it may be begun as soon as nothing hinders it.
function faultOf(order, session) {
  const known = order.format === 1 && ['hand-off', 'say'].includes(order.do) && typeof order.until === 'number'
  if (!known || typeof order.prompt !== 'string' || !order.prompt.startsWith('[baton]')) return 'format'
  if (order.session !== session) return 'session'
  if (Date.now() > order.until) return held.by
  if (order.do !== 'hand-off') return null
  const lately = handoffs.filter(({ at }) => Date.now() - at < HOUR_MS)
  if (lately.length >= HANDOFFS_AN_HOUR) return 'guard'
  return lately.filter(({ counts }) => counts).length >= (order.perHour ?? Infinity) ? 'guard' : null
}

// Null: not even its name can be read.
function parsed(json) {
  try {
    const order = JSON.parse(json)
    return typeof order?.orderId === 'string' && /^[\\w-]{1,100}$/.test(order.orderId) ? order : null
  } catch {
    return null
  }
}

function answerAt(session, order) {
  return LIVE + '/' + session + '.' + order.orderId + '.answer.json'
}

async function tellSeen($, session, order, by) {
  await $.fs.write(LIVE + '/' + session + '.' + order.orderId + '.seen.json', JSON.stringify({ format: 1, orderId: order.orderId, session, by, at: Date.now() }))
}

async function answer($, session, order, state, reason) {
  await $.fs.write(answerAt(session, order), JSON.stringify({ format: 1, orderId: order.orderId, session, state, reason, at: Date.now() }))
}

// Told with the next report, and a report is made at once.
async function grumble($, what) {
  trouble = what
  await report($, {})
}
`
