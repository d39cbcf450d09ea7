import { expect, test } from 'vitest'
import { KeptOutput } from './run-command.js'

const kept = (head: number, tail: number, ...chunks: string[]): KeptOutput => {
  const output = new KeptOutput(head, tail)
  for (const chunk of chunks) output.take(Buffer.from(chunk))
  return output
}

test('output that fits is kept completely, however it was split into chunks', () => {
  expect(kept(4, 4, 'ab', 'cdef', 'gh').text()).toBe('abcdefgh')
  expect(kept(4, 4).text()).toBe('')
  expect(kept(0, 4, 'abcd').text()).toBe('abcd')
  expect(kept(3, 3, 'é', 'é').text()).toBe('éé')
})

test('longer output keeps its beginning and end and reports how many bytes are missing', () => {
  expect(kept(2, 3, 'abcdefghij').text()).toBe('ab\n… 5 bytes omitted …\nhij')
  expect(kept(2, 3, ...'abcdefghij').text()).toBe('ab\n… 5 bytes omitted …\nhij')
  expect(kept(0, 3, 'abcdef').text()).toBe('… 3 bytes omitted …\ndef')
})

test('output is never cut inside a character', () => {
  expect(kept(3, 3, 'ééééé').text()).toBe('é\n… 4 bytes omitted …\né')
})

test('output of 288,890 bytes is held in about 2,000', () => {
  const output = new KeptOutput(1_000, 1_000)
  for (let i = 0; i < 50_000; i++) output.take(Buffer.from(`${i}\n`))
  expect(output.text().length).toBeLessThan(2_100)
  expect(output.text().endsWith('49999\n')).toBe(true)
  expect(output.bytes).toBe(288_890)
})
