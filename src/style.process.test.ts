import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from './testing/source-files.js'

/** The last commit before this rule. */
const BEFORE_THE_RULE = 'f759049d4bc69cdfa8e3bd87ff1a83cbaed640de'
const SUBJECT = /^(feat|fix|perf|refactor|docs|test|build|chore|ci)(\([^()]+\))?!?: \S/
const LONGEST = 72

const breaksRule = (subject: string): boolean => !SUBJECT.test(subject) || subject.length > LONGEST

const git = (...args: string[]): string =>
  execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** Returns false in a shallow clone and in a package without history. */
function hasHistory(): boolean {
  try {
    git('merge-base', '--is-ancestor', BEFORE_THE_RULE, 'HEAD')
    return true
  } catch {
    return false
  }
}

test.skipIf(!hasHistory())('commit subjects have a type and at most 72 characters', () => {
  const subjects = git('log', '--format=%s', `${BEFORE_THE_RULE}..HEAD`).split('\n').filter(Boolean)
  expect(subjects.filter(breaksRule)).toEqual([])
})

test('a commit subject without a type, with an unknown type or with 73 characters is found', () => {
  const subject = (length: number): string => 'fix(store): '.padEnd(length, 'x')
  const samples = [
    'Keep step sizes',
    'feature: keep sizes',
    'fix(jobs):keep',
    'fix(jobs): ',
    "Merge branch 'a'",
    subject(73),
  ]
  expect(samples.filter((sample) => !breaksRule(sample))).toEqual([])
  expect(
    ['fix(jobs): keep step sizes', 'docs: explain levels', 'feat(cli)!: drop a flag', subject(72)].filter(breaksRule),
  ).toEqual([])
})
