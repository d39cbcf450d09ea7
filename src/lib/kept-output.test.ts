import { expect, test } from 'vitest'
import { KeptOutput } from './run-command.js'

const kept = (head: number, tail: number, ...chunks: string[]): KeptOutput => {
  const output = new KeptOutput(head, tail)
  for (const chunk of chunks) output.take(Buffer.from(chunk))
  return output
}

test('keeps all that fits, wherever it was cut into pieces', () => {
  expect(kept(4, 4, 'ab', 'cdef', 'gh').text()).toBe('abcdefgh')
  expect(kept(4, 4).text()).toBe('')
  expect(kept(0, 4, 'abcd').text()).toBe('abcd')
  expect(kept(3, 3, 'é', 'é').text()).toBe('éé')
})

test('of more it keeps both ends and says how much is gone', () => {
  expect(kept(2, 3, 'abcdefghij').text()).toBe('ab\n… 5 bytes left out …\nhij')
  expect(kept(2, 3, ...'abcdefghij').text()).toBe('ab\n… 5 bytes left out …\nhij')
  expect(kept(0, 3, 'abcdef').text()).toBe('… 3 bytes left out …\ndef')
})

test('does not break a letter at its edges', () => {
  expect(kept(3, 3, 'ééééé').text()).toBe('é\n… 4 bytes left out …\né')
})

test('holds little of much', () => {
  const output = new KeptOutput(1_000, 1_000)
  for (let i = 0; i < 50_000; i++) output.take(Buffer.from(`${i}\n`))
  expect(output.text().length).toBeLessThan(2_100)
  expect(output.text().endsWith('49999\n')).toBe(true)
  expect(output.bytes).toBe(288_890)
})
