/** 118600 → `118,600`. Fixed grouping: the same text on every machine. */
export function grouped(tokens: number): string {
  return String(Math.round(tokens)).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** 118600 → `119k`, 1000000 → `1M`, 967000 → `967k`. */
export function short(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens))
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`
  return `${String(Math.round(tokens / 10_000) / 100)}M`
}

/** Whole percent where it is one, else one decimal. */
export function percentText(percent: number): string {
  return `${Number.isInteger(percent) ? percent : percent.toFixed(1)}%`
}
