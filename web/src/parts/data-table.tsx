import type { ReactNode } from 'react'
import { Link } from './navigation.js'

export interface Column<Row> {
  id: string
  head: ReactNode
  cell: (row: Row) => ReactNode
  /** True for a column of numbers, which are aligned to the right. */
  figure?: boolean
  /** True for the column that takes the remaining width. At most one per table. */
  wide?: boolean
  /** On a narrow screen, `bare` hides the column's name and `hide` the whole column. */
  narrow?: 'bare' | 'hide'
  /** True for a column that is hidden when the table has no room for all columns. */
  spare?: boolean
}

/**
 * Table that becomes a list on a narrow screen.
 * With `href` the first column is the link, and the keys j and k move between rows.
 */
export function DataTable<Row>(props: {
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  rowKey: (row: Row) => string
  href?: (row: Row) => string | null
  caption: string
}) {
  const { rows, columns, rowKey, href, caption } = props
  return (
    <table className="data-table">
      <caption className="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.id}
              scope="col"
              data-figure={column.figure || undefined}
              data-wide={column.wide || undefined}
              data-spare={column.spare || undefined}
            >
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const target = href?.(row) ?? null
          return (
            <tr key={rowKey(row)} data-linked={target !== null || undefined}>
              {columns.map((column, place) => (
                <td
                  key={column.id}
                  data-head={typeof column.head === 'string' ? column.head : undefined}
                  data-figure={column.figure || undefined}
                  data-wide={column.wide || undefined}
                  data-spare={column.spare || undefined}
                  data-narrow={place === 0 ? 'bare' : column.narrow}
                >
                  {place === 0 && target !== null ? (
                    <Link href={target} data-item="">
                      {column.cell(row)}
                    </Link>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
