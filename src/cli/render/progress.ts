import { bytesText } from './bytes.js'

export interface Progress {
  /** More bytes of `what` are done. */
  add(what: string, bytes: number): void
  /** Takes the line away again. */
  end(): void
}

const QUIET_MS = 400
const EVERY_MS = 100

/** One line on a terminal's standard error, for work that takes longer than a moment. Elsewhere nothing is drawn. */
export function progressOn(
  stream: { isTTY?: boolean; write(text: string): unknown },
  shown: boolean,
  now: () => number = () => performance.now(),
): Progress {
  if (!shown || stream.isTTY !== true) return { add() {}, end() {} }
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
