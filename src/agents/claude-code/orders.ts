import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Order, OrderAnswer } from '../../contract/records/handoff.js'
import { writeFileAtomic } from '../../lib/atomic-file.js'
import { readNamedText } from '../../lib/named-file.js'
import { number, parseObject, text } from './fields.js'

/**
 * Orders to the mod, as files in the live folder:
 *
 *   <session>.order.json               the one order of a session; a newer one takes its place
 *   <session>.<order>.answer.json      written by the mod; that it is there means the order was begun
 *   <session>.<order>.seen.json        written by the mod: the order is known, and what hinders it
 *   <session>.request.json             the user typed /handoff
 *
 * The mod can neither rename nor remove a file, so both sides leave a mark first and look for the other's mark then: the mod writes
 * its answer and looks whether the order still lies there, Baton takes the order away and looks whether there is an answer. At least
 * one of them sees the other. What Baton has taken back it gives an answer itself: `refused`, `withdrawn`.
 */

/** What the user asked for by /handoff. */
export interface HandoffRequest {
  session: string
  /** By the client's clock, milliseconds. */
  at: number
  /** What was typed behind the command; '': nothing. */
  words: string
}

const NAME = /^[\w-]{1,100}$/
const LARGEST = 1024 * 1024
const KEEP_ANSWERS_MS = 24 * 60 * 60 * 1000

/** Throws when the order cannot be written. */
export function giveOrder(liveDir: string, order: Order): void {
  for (const name of [order.session, order.orderId])
    if (!NAME.test(name)) throw new RangeError(`not a plain name: ${name}`)
  writeFileAtomic(orderFile(liveDir, order.session), `${JSON.stringify(order)}\n`, { mode: 0o600 })
  removeOldAnswers(liveDir, order.session, Date.now() - KEEP_ANSWERS_MS)
}

/** Whether the order lies there for the mod to find. */
export function hasOrder(liveDir: string, session: string, orderId: string): boolean {
  return NAME.test(session) && parseOrderId(readSmall(orderFile(liveDir, session))) === orderId
}

/**
 * True: it will never be carried out, not even if somebody who was about to give it does so after this. False: it was begun, and its
 * answer tells what became of it.
 */
export function withdrawOrder(liveDir: string, session: string, orderId: string): boolean {
  if (!NAME.test(session) || !NAME.test(orderId)) return false
  takeAway(orderFile(liveDir, session), orderId)
  const withdrawn: OrderAnswer = { format: 1, orderId, session, state: 'refused', reason: 'withdrawn', at: Date.now() }
  try {
    // Whatever has an answer is not begun any more.
    writeFileSync(answerFile(liveDir, session, orderId), JSON.stringify(withdrawn), { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    // There is one, or none can be written.
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
  // A newer order that was given between the look and the rename goes back to its place.
  if (parseOrderId(readSmall(away)) !== orderId) renameSync(away, file)
  rmSync(away, { force: true })
}

/** Null: not begun. An answer that cannot be read (yet) says `begun`: that it is there is what counts. */
export function readOrderAnswer(liveDir: string, session: string, orderId: string): OrderAnswer | null {
  if (!NAME.test(session) || !NAME.test(orderId)) return null
  const file = answerFile(liveDir, session, orderId)
  const begun = statSync(file, { throwIfNoEntry: false })
  if (begun === undefined) return null
  // The client writes in place: an answer read while it is written is torn, and whole a moment later.
  const read = () => parseAnswer(readSmall(file), session, orderId)
  return read() ?? read() ?? { format: 1, orderId, session, state: 'begun', reason: null, at: begun.mtimeMs }
}

/** What keeps an order from being begun, as the mod told it last; null: it has told nothing. */
export function readHindrance(liveDir: string, session: string, orderId: string): string | null {
  if (!NAME.test(session) || !NAME.test(orderId)) return null
  const seen = seenFile(liveDir, session, orderId)
  if (!existsSync(seen)) return null
  // It is written in place: that it is there is what counts.
  return text(parseObject(readSmall(seen) ?? '')?.by) ?? 'unknown'
}

/** What the user asked for. It stays until it is dropped. Null: nothing was asked, or not by this session. */
export function readRequest(liveDir: string, session: string): HandoffRequest | null {
  return NAME.test(session) ? parseRequest(readSmall(requestFile(liveDir, session)), session) : null
}

/** What the user asked for at that time has been taken; a later request stays. */
export function dropRequest(liveDir: string, session: string, at: number): void {
  if (readRequest(liveDir, session)?.at === at) rmSync(requestFile(liveDir, session), { force: true })
}

/** Removes all that was ordered, answered and asked in a session: prompts are plain conversation. */
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

/** Null: not there, or larger than anything the mod or Baton writes. */
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
