import type { ReactNode } from 'react'
import { groupedText, moneyText, percentText, tokensText } from '../../format.js'
import type { Column } from '../../parts/data-table.js'
import type { Figures } from './bars.js'

/** What went in: fresh, written to the cache, and read from it. */
export const inputOf = (figures: Figures): number =>
  figures.input_tokens + figures.cache_creation_tokens + figures.cache_read_tokens

const some = (count: number): ReactNode => (count === 0 ? <span className="quiet">0</span> : groupedText(count))
const tokens = (count: number): ReactNode => <span title={`${groupedText(count)} tokens`}>{tokensText(count)}</span>

/** The figures of a day, a project, a model, as columns of a table. What is left out where room is scarce stands in the totals. */
export function figureColumns<Row extends Figures>(): Column<Row>[] {
  return [
    { id: 'sessions', head: 'Sessions', cell: (row) => some(row.sessions), figure: true },
    { id: 'steps', head: 'Steps', cell: (row) => some(row.steps), figure: true },
    { id: 'in', head: 'Input', cell: (row) => tokens(inputOf(row)), figure: true, spare: true },
    { id: 'out', head: 'Output', cell: (row) => tokens(row.output_tokens), figure: true },
    { id: 'cache', head: 'Cache hits', cell: (row) => rateText(row.cache_hit_rate), figure: true, spare: true },
    { id: 'compactions', head: 'Compactions', cell: (row) => some(row.compactions), figure: true, spare: true },
    { id: 'handoffs', head: 'Handoffs', cell: (row) => some(row.handoffs), figure: true, spare: true },
    { id: 'saved', head: 'Saved', cell: (row) => tokens(row.tokens_saved), figure: true },
    { id: 'cost', head: 'Spend', cell: (row) => moneyText(row.cost_usd), figure: true },
  ]
}

/** The client's rate goes from 0 to 1. */
export const rateText = (rate: number | null): string => percentText(rate === null ? null : rate * 100)
