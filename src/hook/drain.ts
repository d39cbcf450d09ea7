import { rmSync, writeFileSync } from 'node:fs'
import type { Engine } from '../engine/engine.js'
import { dropSpooled, readSpool, type Spooled } from './spool.js'

const LIFE_MS = 30_000
const SETTLE_MS = 250
const STEP_MS = 10

/** Takes everything the spool holds, oldest first, each signal in its own transaction and once, then removes its file. */
export function drainSpool(engine: Engine, spool: string, options: { wait: boolean } = { wait: false }): number {
  let taken = 0
  const end = Date.now() + LIFE_MS
  for (;;) {
    const spooled = readSpool(spool, new Date())
    if (spooled.length === 0 || Date.now() > end) return taken
    for (const [index, signal] of spooled.entries()) {
      const last = !spooled.slice(index + 1).some((later) => sessionOf(later) === sessionOf(signal))
      if (options.wait && last) settle(engine, signal)
      engine.take(signal.raw, { deliver: 'outbox', signalId: signal.id, unserved: true })
      dropSpooled(signal.path)
      taken++
      if (Date.now() > end) return taken
    }
  }
}

const sessionOf = (signal: Spooled): string => signal.id.split('.', 1)[0]!

/** The client writes its transcript a little after its events; nobody waits for this process, so it can. */
function settle(engine: Engine, signal: Spooled): void {
  const end = Date.now() + SETTLE_MS
  while (!engine.settled(signal.raw) && Date.now() < end) pause(STEP_MS)
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Takes what hooks of one session left before: its start, above all, comes before its first status line. */
export function drainSession(engine: Engine, spool: string, session: string): void {
  for (const signal of readSpool(spool, new Date()).filter((one) => sessionOf(one) === session)) {
    engine.take(signal.raw, { deliver: 'outbox', signalId: signal.id, unserved: true })
    dropSpooled(signal.path)
  }
}

/** Takes one signal whose hook waits, after the earlier ones of its session; its answer. */
export function answerOne(engine: Engine, spool: string, id: string): string {
  let answer = ''
  for (const signal of readSpool(spool, new Date()).filter((one) => sessionOf(one) === id.split('.', 1)[0])) {
    const waits = signal.id === id
    if (waits) settle(engine, signal)
    const taken = engine.take(signal.raw, { deliver: waits ? 'answer' : 'outbox', signalId: signal.id, unserved: true })
    dropSpooled(signal.path)
    if (waits) answer = taken.answer
  }
  return answer
}

/**
 * The launcher made the lock and this process took its place under the same pid. A signal written while the lock is being
 * given up would be left behind: so after giving it up the spool is looked at once more.
 */
export function drainUnderLock(engine: Engine, spool: string, lock: string): void {
  for (;;) {
    drainSpool(engine, spool, { wait: true })
    rmSync(lock, { force: true })
    if (readSpool(spool, new Date()).length === 0) return
    try {
      writeFileSync(lock, `${process.pid} ${Math.floor(Date.now() / 1000) + 35}\n`, { flag: 'wx', mode: 0o600 })
    } catch {
      return
    }
  }
}
