import { expect, test } from 'vitest'
import type { Label, Labels } from './build/label.js'
import { type Score, type StatedFact, score, total } from './score.js'

const sheet = (facts: Omit<Label, 'line'>[], decoys: Labels['decoys'] = []): Labels => ({
  name: 'x',
  about: '',
  language: 'en',
  cwd: '/home/a/p',
  facts: facts.map((fact) => ({ line: 1, ...fact })),
  decoys,
})
const reportOf = (
  kind: StatedFact['kind'],
  text: string,
  state: StatedFact['state'] = null,
  detail?: StatedFact['detail'],
): StatedFact => ({
  kind,
  text,
  state,
  line: 1,
  detail,
})
const of = (scores: Score[], kind: string): Score => scores.find((one) => one.kind === kind)!

test('a missing fact lowers recall, and an invented fact lowers precision', () => {
  const labels = sheet([
    { kind: 'todo', text: 'Write it', state: 'open' },
    { kind: 'todo', text: 'Test it', state: 'done' },
  ])
  const one = of(score(labels, [reportOf('todo', 'Write  it', 'open'), reportOf('todo', 'Paint it', 'open')]), 'todo')
  expect(one).toMatchObject({ recall: 0.5, precision: 0.5 })
  expect(one.misses.map(({ text }) => text)).toEqual(['Test it'])
  expect(one.wrong).toMatchObject([{ text: 'Paint it', why: 'unknown' }])
})

test('a correct text with a wrong state counts as a miss and as a wrong report', () => {
  const labels = sheet([{ kind: 'command', text: 'npm test', state: 'failed' }])
  expect(of(score(labels, [reportOf('command', 'npm test', 'ok')]), 'command')).toMatchObject({
    recall: 0,
    precision: 0,
    wrong: [{ why: 'state' }],
  })
})

test('an optional fact does not change the score, but its state must be correct', () => {
  const labels = sheet([{ kind: 'question', text: 'Shall I commit?', state: 'answered', optional: true }])
  expect(of(score(labels, []), 'question')).toMatchObject({ recall: null, precision: null })
  expect(of(score(labels, [reportOf('question', 'Shall I commit?', 'answered')]), 'question')).toMatchObject({
    recall: null,
    precision: 1,
  })
  expect(of(score(labels, [reportOf('question', 'Shall I commit?', 'open')]), 'question')).toMatchObject({
    precision: 0,
  })
})

test('a constraint matches the sentence around it, but not a fragment of itself', () => {
  const labels = sheet([{ kind: 'constraint', text: 'never push to `main`', state: 'forbidden' }])
  const recall = (text: string): number | null =>
    of(score(labels, [reportOf('constraint', text, 'forbidden')]), 'constraint').recall
  expect(recall('And, please: Never push to main!')).toBe(1)
  expect(recall('push to main')).toBe(1)
  expect(recall('never')).toBe(0)
  expect(recall('')).toBe(0)
})

test('one sentence matches all the constraints in it', () => {
  const labels = sheet([
    { kind: 'constraint', text: 'use tabs', state: 'required' },
    { kind: 'constraint', text: 'never spaces', state: 'forbidden' },
  ])
  expect(of(score(labels, [reportOf('constraint', 'use tabs, never spaces', 'required')]), 'constraint')).toMatchObject(
    {
      recall: 1,
      precision: 1,
    },
  )
})

test('absolute and relative forms of a path are equal', () => {
  const labels = sheet([
    { kind: 'file', text: 'src/a.ts', state: 'changed' },
    { kind: 'file', text: 'src/b.ts', state: 'read' },
  ])
  const facts = [reportOf('file', '/home/a/p/src/a.ts', 'changed'), reportOf('file', './src/b.ts', 'read')]
  for (const one of score(labels, facts)) expect(one).toMatchObject({ recall: 1, precision: 1 })
})

test('a file that was read and then changed may be reported as both, one only read never as changed', () => {
  const labels = sheet([
    { kind: 'file', text: 'a.ts', state: 'changed' },
    { kind: 'file', text: 'b.ts', state: 'read' },
  ])
  const scores = score(labels, [
    reportOf('file', 'a.ts', 'read'),
    reportOf('file', 'a.ts', 'changed'),
    reportOf('file', 'b.ts', 'changed'),
  ])
  expect(of(scores, 'file-read')).toMatchObject({ precision: 1, recall: 0 })
  expect(of(scores, 'file-changed')).toMatchObject({ precision: 0.5, recall: 1 })
})

test('a commit matches by its long or short id or by its subject', () => {
  const labels = sheet([{ kind: 'commit', text: 'Fix it', state: null, id: 'abc1234' }])
  expect(of(score(labels, [reportOf('commit', 'other words', null, { id: 'abc1234def' })]), 'commit').recall).toBe(1)
  expect(of(score(labels, [reportOf('commit', 'Fix it')]), 'commit').recall).toBe(1)
  expect(of(score(labels, [reportOf('commit', 'Fix', null, { id: 'fff0000' })]), 'commit').recall).toBe(0)
})

test('a request must be reported literally', () => {
  const labels = sheet([{ kind: 'request', text: 'do it\nnow', state: null }])
  expect(of(score(labels, [reportOf('request', 'do it now')]), 'request').recall).toBe(1)
  expect(of(score(labels, [reportOf('request', 'do it')]), 'request').recall).toBe(0)
})

test('a reported decoy is listed as a decoy', () => {
  const labels = sheet([], [{ kind: 'constraint', text: 'never use tabs', why: 'a comment' }])
  expect(of(score(labels, [reportOf('constraint', 'Never use tabs.', 'forbidden')]), 'constraint').wrong).toMatchObject(
    [{ why: 'decoy' }],
  )
})

test('errors have no precision score', () => {
  const labels = sheet([{ kind: 'error', text: 'E0502', state: null }])
  const scores = score(labels, [reportOf('error', 'error[E0502]: cannot borrow'), reportOf('error', 'something else')])
  expect(of(scores, 'error')).toMatchObject({ recall: 1, precision: null, wrong: [] })
})

test('scores of many transcripts are computed from their summed counts', () => {
  const a = score(sheet([{ kind: 'branch', text: 'main', state: null }]), [reportOf('branch', 'main')])
  const b = score(sheet([{ kind: 'branch', text: 'dev', state: null }]), [
    reportOf('branch', 'main'),
    reportOf('branch', 'x'),
  ])
  expect(total([...a, ...b])).toMatchObject([{ kind: 'branch', labels: 2, reports: 3, recall: 0.5, precision: 1 / 3 }])
  expect(total([...a, ...b])[0]!.misses).toHaveLength(1)
})
