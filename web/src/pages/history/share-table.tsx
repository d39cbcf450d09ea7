import { moneyText, plural } from '../../format.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import type { Figures } from './bars.js'
import { figureColumns } from './figure-columns.js'

/** Who took how much: a bar for the share, and every figure beside it. By spend where it is known, else by steps. */
export function ShareTable<Row extends Figures>({
  rows,
  name,
  rowKey,
  head,
  caption,
}: {
  rows: readonly Row[]
  name: (row: Row) => React.ReactNode
  rowKey: (row: Row) => string
  head: string
  caption: string
}) {
  const byCost = rows.some((row) => (row.cost_usd ?? 0) > 0)
  const weight = (row: Row): number => (byCost ? (row.cost_usd ?? 0) : row.steps)
  const all = rows.reduce((sum, row) => sum + weight(row), 0)
  const sorted = [...rows].sort((a, b) => weight(b) - weight(a) || b.sessions - a.sessions)
  const columns: Column<Row>[] = [
    { id: 'name', head, cell: (row) => <span className="share-name cell-name">{name(row)}</span> },
    {
      id: 'share',
      head: byCost ? 'Share of spend' : 'Share of steps',
      cell: (row) => (
        <span
          className="share"
          title={`${byCost ? moneyText(row.cost_usd) : plural(row.steps, 'step')}, ${percent(weight(row), all)}`}
        >
          <span className="share-part" style={{ inlineSize: all === 0 ? '0%' : `${(weight(row) / all) * 100}%` }} />
        </span>
      ),
      wide: true,
      narrow: 'bare',
    },
    ...figureColumns<Row>(),
  ]
  return <DataTable rows={sorted} columns={columns} rowKey={rowKey} caption={caption} />
}

const percent = (part: number, all: number): string => (all === 0 ? '0%' : `${Math.round((part / all) * 100)}%`)
