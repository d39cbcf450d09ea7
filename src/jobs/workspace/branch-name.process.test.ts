import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { branchName, hasBranchName } from './set-up.js'

const named = (pattern: string, workItem: string | null = null, agent: string | null = 'coder') =>
  branchName(pattern, { agent, job: 'j-1', workItem })

test('a branch name is filled with agent, job and work item, and the job replaces missing ones', () => {
  expect(named('agent/{agent}/{workItem}', 'lin-42')).toBe('agent/coder/lin-42')
  expect(named('agent/{agent}/{workItem}')).toBe('agent/coder/j-1')
  expect(named('{job}-{agent}', null, null)).toBe('j-1-job')
})

test.each([
  'Fix the  login: it’s broken!',
  'a..b',
  '../../etc',
  'x.lock',
  'x.lock.lock',
  '-rf',
  '@{upstream}',
  'a~b^c:d?e*f[g\\h',
  'ends.',
  'a/b/',
  '.hidden',
  '@',
  '',
  '   ',
  '…',
  'x'.repeat(500),
  'línea-ñ',
  'HEAD',
  '修'.repeat(120),
  '𠮷'.repeat(120),
  `${'x'.repeat(114)}.lock-1`,
  `${'x'.repeat(102)}.lock-1`,
])('the work item %j gives a branch name that git accepts', (workItem) => {
  for (const pattern of ['agent/{agent}/{workItem}', '{workItem}', '//{workItem}//', 'x/{workItem}.lock']) {
    const name = named(pattern, workItem)
    expect(() => execFileSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' })).not.toThrow()
    // Each level is a file name of at most 255 bytes, including git's own suffix.
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120)
    expect(name).not.toMatch(/\uFFFD|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
    expect(name).not.toBe('@')
    expect(name).not.toMatch(/\s/)
  }
})

test('a slash in a work item does not create a level of the branch name', () => {
  expect(named('agent/{workItem}', 'feat/login')).toBe('agent/feat-login')
})

test('names built from a pattern are recognized, with and without a suffix', () => {
  expect(hasBranchName('a/b', 'a/b')).toBe(true)
  expect(hasBranchName('a/b-2', 'a/b')).toBe(true)
  expect(hasBranchName('a-b-12', 'a/b')).toBe(true)
  expect(hasBranchName('a/b-c', 'a/b')).toBe(false)
  expect(hasBranchName('main', 'a/b')).toBe(false)
})
