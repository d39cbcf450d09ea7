import { expect, test } from 'vitest'
import { plain } from './screen.js'
import { type Column, table } from './table.js'
import { widthOf } from './text.js'

interface Row {
  id: string
  path: string
  n: number
}

const columns: Column<Row>[] = [
  { title: 'ID', dropAt: 0, cell: (row) => row.id },
  { title: 'PATH', dropAt: 1, shrinkTo: 6, cutFrom: 'start', cell: (row) => row.path },
  { title: 'N', dropAt: 2, align: 'right', cell: (row) => String(row.n) },
]
const rows: Row[] = [
  { id: 'a', path: '/home/me/shop', n: 5 },
  { id: 'bb', path: '/srv', n: 120 },
]

test('each column is as wide as its widest cell', () => {
  expect(table(rows, columns, 80, plain)).toEqual([
    'ID  PATH             N',
    'a   /home/me/shop    5',
    'bb  /srv           120',
  ])
})

test('long cells are cut before a column is dropped', () => {
  expect(table(rows, columns, 17, plain)).toEqual(['ID  PATH        N', 'a   …me/shop    5', 'bb  /srv      120'])
})

test('columns are dropped in the order of their dropAt, and those with 0 stay', () => {
  expect(table(rows, columns, 13, plain)).toEqual(['ID  PATH', 'a   …/me/shop', 'bb  /srv'])
  expect(table(rows, columns, 5, plain)).toEqual(['ID', 'a', 'bb'])
  expect(table(rows, columns, 1, plain)).toEqual(['ID', 'a', 'bb'])
})

test('no table line is wider than the terminal while one column fits', () => {
  for (let width = 2; width < 40; width++) {
    for (const line of table(rows, columns, width, plain)) expect(widthOf(line)).toBeLessThanOrEqual(width)
  }
})
