import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Order, OrderAnswer } from '../../contract/records/handoff.js'
import { writeFileAtomic } from '../../lib/atomic-file.js'
import { readNamedText } from '../../lib/named-file.js'
import { asNumber, asText, parseObject } from './fields.js'

/**
 * Orders to the plugin module (clear the session, submit a prompt), as files in the live folder:
 *
 * <session>.order.json               the one order of a session; a newer one replaces it
 * <session>.<order>.answer.json      written by the module; exists once the order was started
 * <session>.<order>.seen.json        written by the module: the order is known, and its obstacle
 * <session>.request.json             the user typed /handoff
 *
 * The module can neither rename nor remove a file.
 * Therefore both sides first leave a mark and then check for the other's mark.
 * The module writes its answer and checks that the order still exists.
 * Baton removes the order and checks for an answer. At least one of them sees the other.
 * For an order that Baton has withdrawn, Baton writes the answer: `refused`, `withdrawn`.
 */

/** A handoff request that the user typed as /handoff. */
export interface TypedHandoffRequest {
  session: string
  /** Time by the client's clock, in milliseconds. */
  at: number
  /** The text that the user typed after /handoff, '' when there is none. */
  words: string
}

const NAME = /^[\w-]{1,100}$/
const LARGEST = 1024 * 1024
const KEEP_ANSWERS_MS = 24 * 60 * 60 * 1000

/** Writes an order for the plugin module. Throws when it cannot be written. */
export function writeOrder(liveDir: string, order: Order): void {
  for (const name of [order.session, order.orderId])
    if (!NAME.test(name)) throw new RangeError(`not a valid file name: ${name}`)
  writeFileAtomic(orderFile(liveDir, order.session), `${JSON.stringify(order)}\n`, { mode: 0o600 })
  removeOldAnswers(liveDir, order.session, Date.now() - KEEP_ANSWERS_MS)
}

/** Returns whether the order is stored where the plugin module finds it. */
export function isOrderStored(liveDir: string, session: string, orderId: string): boolean {
  return NAME.test(session) && parseOrderId(readSmall(orderFile(liveDir, session))) === orderId
}

/**
 * Withdraws an order to the plugin module.
 * True when the order will never be executed, even if another process writes it after this call.
 * False when the module has started the order. Its answer then says what happened.
 */
export function withdrawOrder(liveDir: string, session: string, orderId: string): boolean {
  if (!NAME.test(session) || !NAME.test(orderId)) return false
  takeAway(orderFile(liveDir, session), orderId)
  const withdrawn: OrderAnswer = { format: 1, orderId, session, state: 'refused', reason: 'withdrawn', at: Date.now() }
  try {
    // The plugin module never starts an order that has an answer.
    writeFileSync(answerFile(liveDir, session, orderId), JSON.stringify(withdrawn), { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    // The answer exists already, or it cannot be written.
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
  // Restore a newer order that was written between the check and the rename.
  if (parseOrderId(readSmall(away)) !== orderId) renameSync(away, file)
  rmSync(away, { force: true })
}

/**
 * Reads the plugin module's answer to an order.
 * Null when the module has not started the order.
 * An answer that cannot be parsed (yet) counts as `begun`, because its existence is decisive.
 */
export function readOrderAnswer(liveDir: string, session: string, orderId: string): OrderAnswer | null {
  if (!NAME.test(session) || !NAME.test(orderId)) return null
  const file = answerFile(liveDir, session, orderId)
  const begun = statSync(file, { throwIfNoEntry: false })
  if (begun === undefined) return null
  // The client does not write atomically, so an incomplete answer is read a second time.
  const read = () => parseAnswer(readSmall(file), session, orderId)
  return read() ?? read() ?? { format: 1, orderId, session, state: 'begun', reason: null, at: begun.mtimeMs }
}

/** Returns the plugin module's last reason for not executing an order. Null when it gave none. */
export function readOrderHindrance(liveDir: string, session: string, orderId: string): string | null {
  if (!NAME.test(session) || !NAME.test(orderId)) return null
  const seen = seenFile(liveDir, session, orderId)
  if (!existsSync(seen)) return null
  // The client does not write atomically, so the existence of the file is decisive.
  return asText(parseObject(readSmall(seen) ?? '')?.by) ?? 'unknown'
}

/**
 * Returns the user's handoff request, until it is dropped.
 * Null when there is none, or it is of another session.
 */
export function readTypedHandoffRequest(liveDir: string, session: string): TypedHandoffRequest | null {
  return NAME.test(session) ? parseRequest(readSmall(requestFile(liveDir, session)), session) : null
}

/** Drops the user's handoff request of that time. A later request stays. */
export function dropTypedHandoffRequest(liveDir: string, session: string, at: number): void {
  if (readTypedHandoffRequest(liveDir, session)?.at === at) rmSync(requestFile(liveDir, session), { force: true })
}

/** Removes all orders, answers and requests of a session, because they quote the conversation. */
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

/** Reads a file of orders or answers. Null when it is missing or implausibly large. */
const readSmall = (file: string): string | null => readNamedText(file, { owner: 'this-user', most: LARGEST })

function parseOrderId(json: string | null): string | null {
  return asText(parseObject(json ?? '')?.orderId)
}

function parseAnswer(json: string | null, session: string, orderId: string): OrderAnswer | null {
  const answer = parseObject(json ?? '')
  if (answer === null || answer.format !== 1 || answer.session !== session || answer.orderId !== orderId) return null
  const state = (['begun', 'done', 'refused'] as const).find((one) => one === answer.state)
  const at = asNumber(answer.at)
  return state === undefined || at === null
    ? null
    : { format: 1, orderId, session, state, reason: asText(answer.reason), at }
}

function parseRequest(json: string | null, session: string): TypedHandoffRequest | null {
  const request = parseObject(json ?? '')
  const at = asNumber(request?.at)
  if (request === null || request.format !== 1 || request.session !== session || at === null) return null
  return { session, at, words: asText(request.words) ?? '' }
}
