import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Order, OrderAnswer } from '../../contract/records/handoff.js'
import { writeFileAtomic } from '../../lib/atomic-file.js'
import { readNamedText } from '../../lib/named-file.js'
import { number, parseObject, text } from './fields.js'

/**
 * Orders to the plugin module, as files in the live folder:
 *
 *   <session>.order.json               the one order of a session; a newer one replaces it
 *   <session>.<order>.answer.json      written by the module; exists once the order was started
 *   <session>.<order>.seen.json        written by the module: the order is known, and its obstacle
 *   <session>.request.json             the user typed /handoff
 *
 * The module can neither rename nor remove a file. Therefore both sides first leave a mark and then
 * check for the other's mark. The module writes its answer and checks that the order still exists.
 * Baton removes the order and checks for an answer. At least one of them sees the other.
 * For an order that Baton has withdrawn, Baton writes the answer: `refused`, `withdrawn`.
 */

/** A request that the user typed as /handoff. */
export interface HandoffRequest {
  session: string
  /** Time by the client's clock, in milliseconds. */
  at: number
  /** The text after the command, '' when there is none. */
  words: string
}

const NAME = /^[\w-]{1,100}$/
const LARGEST = 1024 * 1024
const KEEP_ANSWERS_MS = 24 * 60 * 60 * 1000

/** Writes an order. Throws when it cannot be written. */
export function giveOrder(liveDir: string, order: Order): void {
  for (const name of [order.session, order.orderId])
    if (!NAME.test(name)) throw new RangeError(`not a valid file name: ${name}`)
  writeFileAtomic(orderFile(liveDir, order.session), `${JSON.stringify(order)}\n`, { mode: 0o600 })
  removeOldAnswers(liveDir, order.session, Date.now() - KEEP_ANSWERS_MS)
}

/** Returns whether the order is stored for the module to find. */
export function hasOrder(liveDir: string, session: string, orderId: string): boolean {
  return NAME.test(session) && parseOrderId(readSmall(orderFile(liveDir, session))) === orderId
}

/**
 * Withdraws an order.
 * True when it will never be executed, even if another process writes it after this call.
 * False when it was started; its answer says what happened.
 */
export function withdrawOrder(liveDir: string, session: string, orderId: string): boolean {
  if (!NAME.test(session) || !NAME.test(orderId)) return false
  takeAway(orderFile(liveDir, session), orderId)
  const withdrawn: OrderAnswer = { format: 1, orderId, session, state: 'refused', reason: 'withdrawn', at: Date.now() }
  try {
    // An order with an answer is never started again.
    writeFileSync(answerFile(liveDir, session, orderId), JSON.stringify(withdrawn), { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    // The answer exists already, or cannot be written.
  }
  const answer = readOrderAnswer(liveDir, session, orderId)
  if (answer === null) return true
  return answer.state === 'refused' && !answer.reason?.startsWith('failed')
}

function takeAway(file: string, orderId: string): void {
  if (parseOrderId(readSmall(file)) !== orderId) return
  const away = `${file}.${orderId}.withdrawn`
  try {
    renameSync(file, away)
  } catch {
    return
  }
  // Restore a newer order that was written between the read and the rename.
  if (parseOrderId(readSmall(away)) !== orderId) renameSync(away, file)
  rmSync(away, { force: true })
}

/**
 * Reads an order's answer.
 * Null when the order was not started.
 * An answer that cannot be parsed (yet) counts as `begun`, because its existence is decisive.
 */
export function readOrderAnswer(liveDir: string, session: string, orderId: string): OrderAnswer | null {
  if (!NAME.test(session) || !NAME.test(orderId)) return null
  const file = answerFile(liveDir, session, orderId)
  const begun = statSync(file, { throwIfNoEntry: false })
  if (begun === undefined) return null
  // The client writes in place, so an answer that is incomplete is read a second time.
  const read = () => parseAnswer(readSmall(file), session, orderId)
  return read() ?? read() ?? { format: 1, orderId, session, state: 'begun', reason: null, at: begun.mtimeMs }
}

/** Returns the module's last reason for not executing an order. Null when it reported none. */
export function readHindrance(liveDir: string, session: string, orderId: string): string | null {
  if (!NAME.test(session) || !NAME.test(orderId)) return null
  const seen = seenFile(liveDir, session, orderId)
  if (!existsSync(seen)) return null
  // The client writes in place, so the existence of the file is decisive.
  return text(parseObject(readSmall(seen) ?? '')?.by) ?? 'unknown'
}

/**
 * Returns the user's request, until it is dropped. Null when there is none, or not of this session.
 */
export function readRequest(liveDir: string, session: string): HandoffRequest | null {
  return NAME.test(session) ? parseRequest(readSmall(requestFile(liveDir, session)), session) : null
}

/** Drops the request of that time. A later one stays. */
export function dropRequest(liveDir: string, session: string, at: number): void {
  if (readRequest(liveDir, session)?.at === at) rmSync(requestFile(liveDir, session), { force: true })
}

/** Removes all orders, answers and requests of a session, because prompts are conversation text. */
export function forgetOrders(liveDir: string, session: string): void {
  if (!NAME.test(session)) return
  removeOldAnswers(liveDir, session, Number.POSITIVE_INFINITY)
  for (const file of [orderFile(liveDir, session), requestFile(liveDir, session)]) rmSync(file, { force: true })
}

const orderFile = (liveDir: string, session: string): string => join(liveDir, `${session}.order.json`)
const requestFile = (liveDir: string, session: string): string => join(liveDir, `${session}.request.json`)
const answerFile = (liveDir: string, session: string, orderId: string): string =>
  join(liveDir, `${session}.${orderId}.answer.json`)
const seenFile = (liveDir: string, session: string, orderId: string): string =>
  join(liveDir, `${session}.${orderId}.seen.json`)

function removeOldAnswers(liveDir: string, session: string, before: number): void {
  for (const name of existsSync(liveDir) ? readdirSync(liveDir) : []) {
    if (!name.startsWith(`${session}.`) || !/\.(answer|seen)\.json$/.test(name)) continue
    const file = join(liveDir, name)
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat && stat.mtimeMs < before) rmSync(file, { force: true })
  }
}

/**
 * Reads a file. Null when it is missing or larger than anything that the module or Baton writes.
 */
const readSmall = (file: string): string | null => readNamedText(file, { owner: 'this-user', most: LARGEST })

function parseOrderId(json: string | null): string | null {
  return text(parseObject(json ?? '')?.orderId)
}

function parseAnswer(json: string | null, session: string, orderId: string): OrderAnswer | null {
  const answer = parseObject(json ?? '')
  if (answer === null || answer.format !== 1 || answer.session !== session || answer.orderId !== orderId) return null
  const state = (['begun', 'done', 'refused'] as const).find((one) => one === answer.state)
  const at = number(answer.at)
  return state === undefined || at === null
    ? null
    : { format: 1, orderId, session, state, reason: text(answer.reason), at }
}

function parseRequest(json: string | null, session: string): HandoffRequest | null {
  const request = parseObject(json ?? '')
  const at = number(request?.at)
  if (request === null || request.format !== 1 || request.session !== session || at === null) return null
  return { session, at, words: text(request.words) ?? '' }
}
