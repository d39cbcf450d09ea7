import { rmSync, writeFileSync } from 'node:fs'
import type { RawSignal } from '../contract/signal.js'
import { BatonError, reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import { patience } from '../lib/patience.js'
import { dropSpooled, isAwaited, listSpool, putAside, readSpooled, type Spooled, sessionOf } from './spool.js'

const LIFE_MS = 30_000
const SETTLE_MS = 250
const STEP_MS = 10

export interface DrainOptions {
  /** Wait for a transcript that lags. */
  wait?: boolean
  /** Leave younger ones: a hook may be telling a server of them this very moment. */
  youngestMs?: number
}

/** The part of an engine that spooled signals are given to. */
interface SignalTaker {
  take(
    raw: RawSignal,
    options: { deliver: 'answer' | 'outbox'; signalId: string; unserved: true; origin: 'hook' | 'user' },
  ): { answer: string }
  /** False while the transcript lacks what the signal speaks of. */
  settled(raw: RawSignal): boolean
  readonly deps: { log: Log }
}

/** Takes everything the spool holds, oldest first, each signal in its own transaction and once, then removes its file. */
export function drainSpool(engine: SignalTaker, spool: string, options: DrainOptions = {}): number {
  let taken = 0
  const end = Date.now() + LIFE_MS
  for (;;) {
    const before = taken
    const ids = listSpool(spool, new Date(), options.youngestMs)
    const held = new Set(ids.filter((id) => isAwaited(id, new Date())).map(sessionOf))
    const lastOf = new Map(ids.map((id) => [sessionOf(id), id]))
    for (const id of ids) {
      if (Date.now() > end) return taken
      if (held.has(sessionOf(id))) continue
      const signal = readSpooled(spool, id)
      if (!signal) continue
      if (options.wait && lastOf.get(sessionOf(id)) === id) settle(engine, signal)
      takeSpooled(engine, signal, 'outbox')
      taken++
    }
    if (taken === before) return taken
  }
}

function takeSpooled(engine: SignalTaker, signal: Spooled, deliver: 'answer' | 'outbox'): string {
  try {
    // Only the engine that answers a hook was started by that hook.
    const origin = deliver === 'answer' ? 'hook' : 'user'
    const { answer } = engine.take(signal.raw, { deliver, signalId: signal.id, unserved: true, origin })
    dropSpooled(signal.path)
    return answer
  } catch (error) {
    // A store that cannot be used is everybody's trouble: the signal waits. Anything else is this one's.
    if (error instanceof BatonError) throw error
    engine.deps.log('error', 'a signal could not be taken and was put aside', {
      id: signal.id,
      reason: reasonOf(error),
    })
    putAside(signal.path)
    return ''
  }
}

/** The client writes its transcript a little after its events; nobody waits for this process, so it can. */
function settle(engine: SignalTaker, signal: Spooled): void {
  const end = Date.now() + patience(SETTLE_MS)
  while (!engine.settled(signal.raw) && Date.now() < end) pause(STEP_MS)
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Takes what hooks of one session left before: its start, above all, comes before its first status line. */
export function drainSession(engine: SignalTaker, spool: string, session: string): void {
  for (const id of listSpool(spool, new Date()).filter((one) => sessionOf(one) === session)) {
    if (isAwaited(id, new Date())) return
    const signal = readSpooled(spool, id)
    if (signal) takeSpooled(engine, signal, 'outbox')
  }
}

/** Takes one signal whose hook waits, after the earlier ones of its session; its answer. */
export function answerOne(engine: SignalTaker, spool: string, id: string): string {
  const session = sessionOf(id)
  for (const other of listSpool(spool, new Date())) {
    if (other === id || sessionOf(other) !== session) continue
    if (isAwaited(other, new Date())) break
    const signal = readSpooled(spool, other)
    if (signal) takeSpooled(engine, signal, 'outbox')
  }
  const own = readSpooled(spool, id)
  if (!own) return ''
  settle(engine, own)
  return takeSpooled(engine, own, 'answer')
}

/**
 * The launcher made the lock and this process took its place under the same pid. A signal written while the lock is being
 * given up would be left behind: so after giving it up the spool is looked at once more.
 */
export function drainUnderLock(engine: SignalTaker, spool: string, lock: string): void {
  for (;;) {
    drainSpool(engine, spool, { wait: true })
    rmSync(lock, { force: true })
    if (!listSpool(spool, new Date()).some((id) => !isAwaited(id, new Date()) && readSpooled(spool, id) !== null))
      return
    try {
      writeFileSync(lock, `${process.pid} ${Math.floor(Date.now() / 1000) + 35}\n`, { flag: 'wx', mode: 0o600 })
    } catch {
      return
    }
  }
}
