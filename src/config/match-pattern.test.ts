import { describe, expect, it } from 'vitest'
import { spent } from '../../test/harness/growth.js'
import { matchesPath, matchesText } from './match-pattern.js'

describe('matchesText', () => {
  it.each([
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

  it.each([
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

  it('takes no time for a pattern made to be slow', () => {
    const slow = () => {
      expect(matchesText(`${'*a'.repeat(30)}*b`, 'a'.repeat(5_000))).toBe(false)
      expect(matchesPath(`${'**a*/'.repeat(20)}b`, '/a'.repeat(500))).toBe(false)
    }
    expect(spent(slow)).toBeLessThan(1_000)
  })
})

describe('matchesPath', () => {
  it.each([
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

  it.each([
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
