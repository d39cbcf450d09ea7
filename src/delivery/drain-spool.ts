import { rmSync, writeFileSync } from 'node:fs'
import type { RawSignal } from '../contract/signal.js'
import { BatonError, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import { scaleTimeout } from '../lib/patience.js'
import {
  dropSpooled,
  isHookWaiting,
  listSpool,
  moveSignalAside,
  readSpooled,
  type SpooledSignal,
  sessionOfSpooled,
} from './spool.js'

const LIFE_MS = 30_000
const SETTLE_MS = 250
const STEP_MS = 10

export interface DrainOptions {
  /** True to wait for a transcript that lags behind the signal. */
  wait?: boolean
  /** Skip signals younger than this: their hook may be sending them to a server right now. */
  youngestMs?: number
}

/** The part of an engine that processes spooled signals. */
interface SignalTaker {
  take(
    raw: RawSignal,
    options: { deliver: 'answer' | 'outbox'; signalId: string; unserved: true; origin: 'hook' | 'own-process' },
  ): { answer: string }
  /** Returns false while the transcript lacks the entries that the signal refers to. */
  settled(raw: RawSignal): boolean
  readonly deps: { log: Log }
}

/** Processes all spooled signals, oldest first, each once in its own transaction. */
export function drainSpool(engine: SignalTaker, spool: string, options: DrainOptions = {}): number {
  let taken = 0
  const end = Date.now() + LIFE_MS
  for (;;) {
    const before = taken
    const ids = listSpool(spool, new Date(), options.youngestMs)
    const held = new Set(ids.filter((id) => isHookWaiting(id, new Date())).map(sessionOfSpooled))
    const lastOf = new Map(ids.map((id) => [sessionOfSpooled(id), id]))
    for (const id of ids) {
      if (Date.now() > end) return taken
      if (held.has(sessionOfSpooled(id))) continue
      const signal = readSpooled(spool, id)
      if (!signal) continue
      if (options.wait && lastOf.get(sessionOfSpooled(id)) === id) settle(engine, signal)
      takeSpooled(engine, signal, 'outbox')
      taken++
    }
    if (taken === before) return taken
  }
}

function takeSpooled(engine: SignalTaker, signal: SpooledSignal, deliver: 'answer' | 'outbox'): string {
  try {
    // Only the engine that answers a hook was started by that hook.
    const origin = deliver === 'answer' ? 'hook' : 'own-process'
    const { answer } = engine.take(signal.raw, { deliver, signalId: signal.id, unserved: true, origin })
    dropSpooled(signal.path)
    return answer
  } catch (error) {
    // An unusable store affects every signal, so this one stays in the spool.
    // Other errors concern only this signal.
    if (error instanceof BatonError) throw error
    engine.deps.log('error', 'a signal could not be processed and was put aside', {
      id: signal.id,
      reason: reasonOf(error),
    })
    moveSignalAside(signal.path)
    return ''
  }
}

/**
 * Waits until the transcript is complete.
 * The client writes it shortly after its events, and no client waits for this process.
 */
function settle(engine: SignalTaker, signal: SpooledSignal): void {
  const end = Date.now() + scaleTimeout(SETTLE_MS)
  while (!engine.settled(signal.raw) && Date.now() < end) pause(STEP_MS)
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Processes earlier signals of a session: its start comes before its first status line. */
export function drainSession(engine: SignalTaker, spool: string, session: string): void {
  for (const id of listSpool(spool, new Date()).filter((one) => sessionOfSpooled(one) === session)) {
    if (isHookWaiting(id, new Date())) return
    const signal = readSpooled(spool, id)
    if (signal) takeSpooled(engine, signal, 'outbox')
  }
}

/**
 * Processes earlier signals of the session and then the one whose hook waits. Returns its answer.
 */
export function answerWaitingHook(engine: SignalTaker, spool: string, id: string): string {
  const session = sessionOfSpooled(id)
  for (const other of listSpool(spool, new Date())) {
    if (other === id || sessionOfSpooled(other) !== session) continue
    if (isHookWaiting(other, new Date())) break
    const signal = readSpooled(spool, other)
    if (signal) takeSpooled(engine, signal, 'outbox')
  }
  const own = readSpooled(spool, id)
  if (!own) return ''
  settle(engine, own)
  return takeSpooled(engine, own, 'answer')
}

/**
 * Drains the spool under the launcher's lock.
 * The launcher created the lock and this process replaced it under the same pid.
 * The spool is read again after the release, because a signal may arrive just before it.
 */
export function drainUnderLock(engine: SignalTaker, spool: string, lock: string): void {
  for (;;) {
    drainSpool(engine, spool, { wait: true })
    rmSync(lock, { force: true })
    if (!listSpool(spool, new Date()).some((id) => !isHookWaiting(id, new Date()) && readSpooled(spool, id) !== null))
      return
    try {
      writeFileSync(lock, `${process.pid} ${Math.floor(Date.now() / 1000) + 35}\n`, { flag: 'wx', mode: 0o600 })
    } catch {
      return
    }
  }
}
