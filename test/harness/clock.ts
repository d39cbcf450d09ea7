import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * A clock that a test moves forward, in Node processes started with `env`. Timers keep their real
 * length.
 */
export interface Clock {
  env: Record<string, string>
  advance(ms: number): void
}

export function makeClock(folder: string): Clock {
  const file = path.join(folder, 'clock')
  let ahead = 0
  const advance = (ms: number): void => {
    ahead += ms
    // A process that reads the file sees either the old figure or the new one.
    writeFileSync(`${file}.new`, String(ahead))
    renameSync(`${file}.new`, file)
  }
  advance(0)
  const preload = path.join(import.meta.dirname, 'moved-clock.cjs')
  return { env: { CLOCK_FILE: file, NODE_OPTIONS: `--require ${preload}` }, advance }
}
