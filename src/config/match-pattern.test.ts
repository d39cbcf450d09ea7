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
  ])('the pattern %s matches the text %s', (pattern, text) => {
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
  ])('the pattern %s does not match the text %s', (pattern, text) => {
    expect(matchesText(pattern, text)).toBe(false)
  })

  test('a pattern with 30 stars is matched without trying every combination', () => {
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
  ])('the pattern %s matches the path %s', (pattern, path) => {
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
  ])('the pattern %s does not match the path %s', (pattern, path) => {
    expect(matchesPath(pattern, path)).toBe(false)
  })
})
