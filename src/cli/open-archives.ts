import { NO_PROGRESS, type OpenedArchives, type ProgressReport } from '../app/archives.js'
import { withOpenArchives } from '../app/open-archives.js'
import type { Call, Cli } from './command.js'
import { bytesText } from './render/text.js'

/** Opens the archives for one command and shows progress on a terminal. */
export function withArchivesOpen<T>(
  call: Call,
  cli: Cli,
  work: (opened: OpenedArchives) => T | Promise<T>,
  options: { finish?: boolean } = {},
): Promise<T> {
  return withOpenArchives(cli, terminalProgress(process.stderr, !call.json), work, options)
}

const QUIET_MS = 400
const EVERY_MS = 100

/**
 * Draws a progress line on a terminal's standard error for work that takes longer than a moment.
 * Draws nothing without a terminal.
 */
export function terminalProgress(
  stream: { isTTY?: boolean; write(text: string): unknown },
  shown: boolean,
  now: () => number = () => performance.now(),
): ProgressReport {
  if (!shown || stream.isTTY !== true) return NO_PROGRESS
  const began = now()
  const done = new Map<string, number>()
  let drawn = 0
  return {
    add(what, bytes) {
      done.set(what, (done.get(what) ?? 0) + bytes)
      if (now() - began < QUIET_MS || now() - drawn < EVERY_MS) return
      drawn = now()
      stream.write(`\r\u001b[K${what} ${bytesText(done.get(what)!)} …`)
    },
    end() {
      if (drawn > 0) stream.write('\r\u001b[K')
    },
  }
}

/** Draws one line on a terminal's standard error that each step replaces. Nothing without one. */
export function terminalLine(
  stream: { isTTY?: boolean; write(text: string): unknown },
  shown: boolean,
): { show(text: string): void; end(): void } {
  if (!shown || stream.isTTY !== true) return { show() {}, end() {} }
  return {
    show: (text) => void stream.write(`\r\u001b[K${text}`),
    end: () => void stream.write('\r\u001b[K'),
  }
}
