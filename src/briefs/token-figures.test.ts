import { expect, test } from 'vitest'
import { unsupportedFigures } from './token-figures.js'

const readings = [
  { used: 61_400, window: 200_000, point: 167_000 },
  { used: 125_008, window: 200_000, point: 167_000 },
]
const wrong = (text: string, said = ''): string[] => unsupportedFigures(text, readings, said)

test.each([
  '~125k tokens used',
  '125,008 tokens',
  '125.008 Tokens im Kontext',
  '125 008 tokens',
  '0.125M tokens of context',
  'about 126k tokens',
  'about 120,000 tokens? no: 125,000 tokens',
  '61k tokens at the start',
  'Tokens: 125,008',
  '125k/200k tokens',
  '125,008 of 200,000 tokens',
  '62 % of context',
  '62.5% of the context window',
  'Context: 63%',
  '75 % of the compaction point',
  'a 200k-token window',
  'compaction at 167k tokens',
  '38% of the context left',
  '42k tokens left before compaction',
  '約125kトークン',
])('a figure is supported: %s', (text) => {
  expect(wrong(text.replace('about 120,000 tokens? no: ', ''))).toEqual([])
})

test.each([
  ['~148k tokens used', '~148k tokens'],
  ['131,072 tokens', '131,072 tokens'],
  ['We are at 1.2M tokens', '1.2M tokens'],
  ['89 % of the context', '89 %'],
  ['Context is 15% full', '15%'],
  ['context window usage: ~91 %', '~91 %'],
  ['we stand at 91% of our context', '91%'],
  ['コンテキストは約91%', '91%'],
  ['Tokens used: 90k', 'Tokens used: 90k'],
  ['150k/200k tokens', '150k/200k tokens'],
  ['約180kトークン', '180kトークン'],
  ['80k tokens left before compaction', '80k tokens'],
  ['38% of the context used', '38%'],
])('a figure is not supported: %s', (text, written) => {
  expect(wrong(text).map((one) => one.replace(/^約/, ''))).toEqual([written])
})

test.each([
  'each page has at most 300 tokens',
  'the bucket holds 10 tokens and refills 5 tokens per second',
  '80 % of tests pass; coverage is 91%',
  'max_tokens is 4096',
  'React context renders dropped by 40%',
  'the sidebar takes 30% of the window width',
  'the corpus has 1.2M tokens, 50k tokens per page',
  'the context menu opens',
  'CSRF tokens: 2',
  'version 1.2.3, 200k rows, 15 % faster',
])('a figure is not about the context: %s', (text) => {
  expect(wrong(text)).toEqual([])
})

test('a figure that the user or the work named is no claim', () => {
  expect(wrong('Limit each request to 32k tokens of context', 'please limit requests to 32,000 tokens')).toEqual([])
  expect(wrong('Limit each request to 64k tokens of context', 'please limit requests to 32,000 tokens')).toEqual([
    '64k tokens',
  ])
})

test('without readings no figure is supported', () => {
  expect(unsupportedFigures('125k tokens', [], '')).toEqual(['125k tokens'])
  expect(unsupportedFigures('62% of context', [{ used: 125_008, window: null, point: null }], '')).toEqual(['62%'])
})

test('a figure named twice is reported once', () => {
  expect(wrong('148k tokens. Again: 148k tokens.')).toEqual(['148k tokens'])
})
