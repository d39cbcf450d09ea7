const TRIES = 4

/** Milliseconds of this process's own work: others may be at work beside it. */
export function spent(work: () => unknown): number {
  const began = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}

/**
 * How much longer one text takes than the same amount of text in pieces: about 1 where the work is in proportion to its input, about
 * `times` where it grows with the square. Both sides read as many bytes, so what the machine does to one it does to the other; the best
 * of a few tries counts on either side, as other programs only ever add.
 */
export function growth(work: (size: number) => () => unknown, size: number, times: number, enough: number): number {
  const [whole, piece] = [work(size * times), work(size)]
  let [large, small] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let i = 0; i < TRIES && !(large / small < enough); i++) {
    small = Math.min(
      small,
      spent(() => {
        for (let n = 0; n < times; n++) piece()
      }),
    )
    large = Math.min(large, spent(whole))
    // Beneath it nothing is told from the ticks of the clock.
    small = Math.max(small, 20)
  }
  return large / small
}
