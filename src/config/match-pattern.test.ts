import { describe, expect, test } from 'vitest'
import { matchesPath, matchesText } from './policy-for.js'

describe('matchesText', () => {
  test.each([
    ['claude-opus-4-6', 'claude-opus-4-6'],
    ['*opus*', 'claude-opus-4-6'],
    ['claude-*', 'claude-'],
    ['*', ''],
    ['*', 'anything/at all'],
    ['**', 'anything'],
    ['claude-opus-?-6', 'claude-opus-4-6'],
    ['*[1m]', 'claude-sonnet-4-5[1m]'],
    ['a*b*c', 'axxbxxbxc'],
    ['*a', 'aaa'],
    ['a.c', 'a.c'],
  ])('%s matches %s', (pattern, text) => {
    expect(matchesText(pattern, text)).toBe(true)
  })

  test.each([
    ['opus', 'claude-opus-4-6'],
    ['claude-opus-?-6', 'claude-opus--6'],
    ['a.c', 'abc'],
    ['a*b', 'a'],
    ['*b', 'abc'],
    ['', 'a'],
    ['[1m]', 'm'],
    ['A*', 'abc'],
  ])('%s does not match %s', (pattern, text) => {
    expect(matchesText(pattern, text)).toBe(false)
  })

  test('a pattern made to be slow is answered; trying every way to match it would never end', () => {
    expect(matchesText(`${'*a'.repeat(30)}*b`, 'a'.repeat(5_000))).toBe(false)
    expect(matchesPath(`${'**a*/'.repeat(20)}b`, '/a'.repeat(500))).toBe(false)
  })
})

describe('matchesPath', () => {
  test.each([
    ['/home/me/shop', '/home/me/shop'],
    ['/home/me/shop', '/home/me/shop/'],
    ['/home/me/*', '/home/me/shop'],
    ['/home/me/**', '/home/me/shop/web'],
    ['/home/me/**', '/home/me'],
    ['/home/**/web', '/home/me/shop/web'],
    ['shop', '/home/me/shop'],
    ['sh*', '/home/me/shop'],
    ['me/*', '/home/me/shop'],
    ['**/shop', '/home/me/shop'],
    ['shop/**', '/home/me/shop/web/src'],
    ['shop/**', '/home/me/shop'],
    ['*', '/home/me/shop'],
  ])('%s matches %s', (pattern, path) => {
    expect(matchesPath(pattern, path)).toBe(true)
  })

  test.each([
    ['/home/me/*', '/home/me/shop/web'],
    ['/home/me/*', '/home/me'],
    ['shop', '/home/me/workshop'],
    ['shop', '/home/shop/me'],
    ['/home/me/**', '/home/merlin'],
    ['sh?p', '/home/me/sh/p'],
    ['/home', '/home/me'],
  ])('%s does not match %s', (pattern, path) => {
    expect(matchesPath(pattern, path)).toBe(false)
  })
})
