import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { FaultPoint } from '../../src/lib/fault-point.js'
import { until } from './wait.js'

/**
 * A FIFO that a process must read before it continues. The test decides how long the process is
 * held there.
 */
export interface Gate {
  path: string
  /** True if a process is held here; it stays held until `pass` or `open`. */
  isReached(): boolean
  /** Returns once a process is held here. */
  reached(): Promise<void>
  /** Lets the processes continue that are held here; the next ones are held again. */
  pass(): void
  /** Lets every process continue, also later ones. */
  open(): void
}

export function makeGate(folder: string, name: string): Gate {
  const fifo = path.join(folder, `gate-${name}`)
  execFileSync('mkfifo', [fifo])
  let writer: number | null = null
  const pass = (): void => {
    if (writer !== null) closeSync(writer)
    writer = null
  }
  const isReached = (): boolean => {
    writer ??= openIfRead(fifo)
    return writer !== null
  }
  return {
    path: fifo,
    isReached,
    reached: async () => void (await until(`a process is held at ${name}`, isReached, { every: 5 })),
    pass,
    open: () => {
      // A reader that opened the FIFO before it is removed needs a writer that closes it.
      const last = openSync(fifo, constants.O_RDWR)
      rmSync(fifo)
      closeSync(last)
      pass()
    },
  }
}

/**
 * A gate at a fault point of the program; `env` is the environment of the processes that are to be
 * held.
 */
export function faultGate(folder: string, point: FaultPoint): Gate & { env: Record<string, string> } {
  const gate = makeGate(folder, point)
  return { ...gate, env: { [`BATON_FAULT_${point}`]: gate.path } }
}

/**
 * A gate after the first call of a function of `node:fs` whose arguments match, in a process
 * started with `env`.
 */
export function callGate(folder: string, call: string, match: RegExp): Gate & { env: Record<string, string> } {
  const gate = makeGate(folder, call)
  const preload = path.join(import.meta.dirname, 'hold-after.cjs')
  const hold = { HOLD_CALL: call, HOLD_MATCH: match.source, HOLD_GATE: gate.path }
  return { ...gate, env: { ...hold, NODE_OPTIONS: `--require ${preload}` } }
}

/** Opens the FIFO for writing, or returns null while no process has it open for reading. */
function openIfRead(fifo: string): number | null {
  try {
    return openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') return null
    throw error
  }
}
