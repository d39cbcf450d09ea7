import { expect, test } from 'vitest'
import { hasToken, tokensIn } from './specific-tokens.js'

const ROOT = '/home/me/shop'
const found = (text: string): string[] => [...tokensIn(text, ROOT)]

test.each([
  ['a path below the root, without the root', `cat ${ROOT}/src/orders.ts`, ['src/orders.ts']],
  ['a path elsewhere', 'ls /var/lib/orders', ['/var/lib/orders']],
  ['a file name', 'see invoice.go:12', ['invoice.go']],
  ['a number', 'order 4471120098 is late', ['4471120098']],
  ['a commit', 'git show 4d6090d0aa', ['4d6090d0aa']],
  [
    'an identifier in capitals, camel case and snake case',
    'ORDER_LIMIT parseOrder order_count',
    ['ORDER_LIMIT', 'parseOrder', 'order_count'],
  ],
  ['the long parts of a member expression', 'orders.parseOrder()', ['parseOrder']],
  ['the path of an address', 'https://shop.example/v2/orders', ['shop.example/v2/orders']],
])('a token is %s', (_, text, tokens) => {
  expect(found(text)).toEqual(tokens)
})

test.each([
  ['plain words', 'implementation continues and/or input/output'],
  ['short names', 'a.ts foo_1 x12'],
  ['the root and its parents', `${ROOT} /home/me/`],
  ['names that most repositories have', 'package.json node_modules README.md'],
  ['devices and addresses of people', 'x 2>/dev/null someone@example.com'],
  ['members of libraries with short parts', 'fmt.Errorf time.Now Promise.all'],
])('%s are no tokens', (_, text) => {
  expect(found(text)).toEqual([])
})

test('a text has a token as a word of its own or as the end of a path, not as a part of a word', () => {
  expect(hasToken('in /srv/shop/src/orders.ts:4', 'src/orders.ts')).toBe(true)
  expect(hasToken('parseOrders', 'parseOrder')).toBe(false)
  expect(hasToken('reparseOrder, parseOrder', 'parseOrder')).toBe(true)
})
