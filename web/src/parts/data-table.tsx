import type { ReactNode } from 'react'
import { Link } from './navigation.js'

export interface Column<Row> {
  id: string
  head: ReactNode
  cell: (row: Row) => ReactNode
  /** Figures stand at the right, under each other. */
  figure?: boolean
  /** Takes what is left. One column at most. */
  wide?: boolean
  /** On a narrow screen: its name is left out, or all of it. */
  narrow?: 'bare' | 'hide'
  /** Left out where there is no room for all of it; a bare one only where a table is drawn. */
  spare?: boolean
}

/** A table that becomes a list where there is no room for one. With `href` the first column is the link, and j and k move between rows. */
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
