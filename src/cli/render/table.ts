import type { Paint } from './screen.js'
import { cutToWidth, padEnd, padStart, widthOf } from './text.js'

export interface Column<Row> {
  title: string
  /** Returns the text of a cell. Colours do not count for its width. */
  cell(row: Row): string
  align?: 'right'
  /** Columns with the highest number are dropped first on a narrow terminal. 0 is never dropped. */
  dropAt: number
  /** Width to which cells may be cut before any column is dropped. */
  shrinkTo?: number
  /** The end of a cell that is cut off. */
  cutFrom?: 'end' | 'start'
}

const GAP = 2

/** Renders rows under their titles within a width. Cuts long cells first, then drops columns. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number,
  paint: Paint,
): string[] {
  const laid = columns.map((column) => {
    const cells = rows.map((row) => column.cell(row))
    return { column, cells, width: Math.max(widthOf(column.title), ...cells.map(widthOf)) }
  })
  const kept = narrow(laid, width)
  const line = (texts: readonly string[]): string => texts.join(' '.repeat(GAP)).trimEnd()
  const put = (text: string, { column, width: wide }: Laid<Row>): string => {
    const short = cutToWidth(text, wide, column.cutFrom)
    return column.align === 'right' ? padStart(short, wide) : padEnd(short, wide)
  }
  const head = line(kept.map((one) => put(one.column.title, one)))
  const body = rows.map((_, index) => line(kept.map((one) => put(one.cells[index]!, one))))
  return [paint(head, 'dim'), ...body]
}

interface Laid<Row> {
  column: Column<Row>
  cells: string[]
  width: number
}

function narrow<Row>(laid: Laid<Row>[], width: number): Laid<Row>[] {
  let kept = laid
  for (;;) {
    const shrunk = shrink(kept, excess(kept, width))
    if (excess(shrunk, width) <= 0) return shrunk
    const next = kept.reduce((a, b) => (b.column.dropAt > a.column.dropAt ? b : a), kept[0]!)
    if (next.column.dropAt === 0) return shrunk
    kept = kept.filter((one) => one !== next)
  }
}

function excess(laid: readonly Laid<unknown>[], width: number): number {
  return laid.reduce((sum, one) => sum + one.width, 0) + GAP * (laid.length - 1) - width
}

/** Shrinks the widest column first, so that no cell becomes much shorter than its neighbours. */
function shrink<Row>(laid: Laid<Row>[], by: number): Laid<Row>[] {
  const shrunk = laid.map((one) => ({ ...one }))
  for (let left = by; left > 0; left--) {
    const giving = shrunk.filter((one) => one.column.shrinkTo !== undefined && one.width > one.column.shrinkTo)
    if (giving.length === 0) return shrunk
    giving.reduce((a, b) => (b.width > a.width ? b : a)).width--
  }
  return shrunk
}
