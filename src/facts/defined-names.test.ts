import { expect, test } from 'vitest'
import { definedNames } from './defined-names.js'

test.each([
  ['export async function loadRates(day: Date) {}', ['loadRates']],
  ['const toCents = (text: string): number => 0', ['toCents']],
  ['const total = price * count', []],
  ['func (s *Store) Flush(ctx context.Context) error {', ['Flush']],
  ['def test_rounding_half_up(self):', ['test_rounding_half_up']],
  ['pub fn open_segment() {}\nstruct Segment {}', ['open_segment', 'Segment']],
  ['  public static List<Row> readRows(Path path) {', ['readRows']],
  ['rotate_logs() {\n  return\n}', ['rotate_logs']],
  ['CREATE TABLE IF NOT EXISTS rates (day date)', ['rates']],
  ["test('a rate of zero is refused', () => {})", ['a rate of zero is refused']],
  ['if (ready) return', []],
])('the names that source code defines are found: %s', (code, names) => {
  expect(definedNames(code)).toEqual(names)
})

test('a name is listed once, and code beyond the limit is not read', () => {
  const code = `function a1() {}\nfunction a1() {}\n${'x'.repeat(20_000)}\nfunction beyond() {}`
  expect(definedNames(code)).toEqual(['a1'])
})
