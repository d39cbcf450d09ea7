/**
 * Runs every variant once per round in a new random order, so that other work on the machine
 * affects all variants alike.
 */
export async function interleave(variants, { rounds, warm = 2, until = Number.POSITIVE_INFINITY }) {
  const samples = new Map(variants.map(({ name }) => [name, []]))
  for (let round = -warm; round < rounds; round++) {
    if (round > 2 && Date.now() > until) break
    for (const variant of shuffled(variants)) {
      const sample = await variant.run(round)
      if (round >= 0) samples.get(variant.name).push(sample)
    }
  }
  return samples
}

export function shuffled(list) {
  const copy = [...list]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[copy[i], copy[j]] = [copy[j], copy[i]]
  }
  return copy
}

export function quantile(values, q) {
  if (values.length === 0) return Number.NaN
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = Math.floor(at)
  return sorted[low] + (sorted[Math.ceil(at)] - sorted[low]) * (at - low)
}

export const median = (values) => quantile(values, 0.5)

/**
 * Makes one line of the table. `bound` is the upper bound with its rule in words; a figure without
 * one is only shown for comparison. With `least` the bound is a lower one.
 */
export function row(
  name,
  value,
  { unit = 'ms', bound = null, rule = '', least = false, n = null, p90 = null, note = '' } = {},
) {
  const holds = bound === null ? null : least ? value >= bound : value <= bound
  return { name, value, unit, bound, rule, least, holds, n, p90, note }
}

/** Makes a line of the table from samples. */
export function rowOf(name, values, options = {}) {
  return row(name, median(values), { ...options, n: values.length, p90: quantile(values, 0.9) })
}
