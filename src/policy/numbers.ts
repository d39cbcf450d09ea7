/** Formats 118600 as `118,600`. The grouping is fixed, so the text is the same on every machine. */
export function formatTokens(tokens: number): string {
  return String(Math.round(tokens)).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** Formats 118600 as `119k`, 1000000 as `1M` and 967000 as `967k`. */
export function shortenTokens(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens))
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`
  return `${String(Math.round(tokens / 10_000) / 100)}M`
}

/** Formats a percentage: without a decimal if it is whole, else with one. */
export function percentText(percent: number): string {
  return `${Number.isInteger(percent) ? percent : percent.toFixed(1)}%`
}
