import { describe, expect, test } from 'vitest'
import type { Fact } from '../../../src/contract/fact.js'
import { rankCorrelation } from './calibration.js'
import {
  answers,
  decisionGroup,
  isLastRequestRight,
  isReallyLost,
  matches,
  scoreChecks,
  scoreFiles,
  scoreLabels,
  scoreLosses,
  scoreNamedLosses,
  share,
  sum,
} from './real-score.js'

const fact = (kind: Fact['kind'], text: string, state: Fact['state'] = null, line = 1): Fact => ({
  kind,
  text,
  state,
  line,
  at: null,
  detail: {},
})

describe('scores of real sessions', () => {
  test('a reported item matches a label that it contains, whatever the case and markup', () => {
    expect(matches('Please **never** touch the `legacy` folder.', 'never touch the legacy folder')).toBe(true)
    expect(matches('never touch', 'never touch the legacy folder of the billing service')).toBe(false)
  })

  test('only the first 300 characters of a reported item count', () => {
    expect(matches(`${'word '.repeat(80)}never touch it`, 'never touch it')).toBe(false)
  })

  test('labels that are optional or were taken back are neither found nor missed', () => {
    const labels = [
      { text: 'keep the port', line: 1 },
      { text: 'use tabs', line: 2, optional: true },
      { text: 'no network', line: 3, until: 9 },
    ]
    const score = scoreLabels(['use tabs', 'no network', 'something else'], labels)
    expect([score.recall.found, score.recall.of]).toEqual([0, 1])
    expect([score.precision.found, score.precision.of]).toEqual([2, 3])
    expect(score.wrong).toEqual(['something else'])
  })

  test('a share has its Wilson interval, and no share without a case', () => {
    const { low, high } = share(5, 10)
    expect(low).toBeCloseTo(0.237, 2)
    expect(high).toBeCloseTo(0.763, 2)
    expect(share(0, 0).share).toBeNull()
    expect(sum([share(1, 2), share(3, 4)])).toMatchObject({ found: 4, of: 6 })
  })

  test('dialog answers and plans are a group of their own, whoever is named as author', () => {
    expect(decisionGroup({ by: 'user', how: 'dialog' })).toBe('dialog or plan')
    expect(decisionGroup({ by: 'user', how: 'plan refused' })).toBe('dialog or plan')
    expect(decisionGroup({ by: 'user', how: 'prompt' })).toBe('user')
    expect(decisionGroup({ by: 'agent' })).toBe('agent')
  })

  test('a failed check that is reported as passed is counted apart from an unknown one', () => {
    const checks = [
      { command: 'make test', line: 1, outcome: 'failed' as const },
      { command: 'make lint', line: 2, outcome: 'failed' as const },
    ]
    const score = scoreChecks([fact('test', 'make test', 'passed'), fact('command', 'make lint', 'unknown')], checks)
    expect(score.failedToldPassed.map(({ command }) => command)).toEqual(['make test'])
    expect(score.right.found).toBe(0)
  })

  test('files match when one path is the end of the other', () => {
    const { recall, wrong } = scoreFiles(['src/a.ts', 'b.ts'], ['/work/src/a.ts'])
    expect(recall.found).toBe(1)
    expect(wrong).toEqual(['b.ts'])
  })

  test('a probe is answered by any one of its literal answers', () => {
    expect(answers('It waits 30 seconds.', { kind: 'recall', question: '', answers: ['45 s', '30 SECONDS'] })).toBe(
      true,
    )
    expect(answers('It waits.', { kind: 'recall', question: '', answers: ['30'] })).toBe(false)
  })

  test('an empty request is not the last request', () => {
    expect(isLastRequestRight('', { lastRequest: 'Fix it.' })).toBe(false)
    expect(isLastRequestRight('fix it', { lastRequest: 'Fix it.' })).toBe(true)
  })

  test('a named loss is real only if a label in force confirms it and the summary lacks it', () => {
    const labels = {
      file: '',
      language: 'en',
      lastRequest: '',
      constraints: [
        { text: 'never touch the legacy folder', line: 5 },
        { text: 'keep the port at 80', line: 6 },
        { text: 'no network', line: 7, until: 8 },
      ],
      decisions: [],
      questionsOpen: [],
      checks: [],
      filesChanged: [],
      commits: [],
      todosOpen: [],
    }
    const lost = labels.constraints.map(({ text }) => fact('constraint', text, 'required'))
    const score = scoreLosses([...lost, fact('file', 'a.ts')], labels, 'The user wants to keep the port at 80.', 20)
    expect(score).toEqual({ named: 4, real: 1, unreal: 2 })
  })

  test('a named loss is real only if its needed words stand together nowhere in the rest', () => {
    const rest = 'Summary\n- The worker retries uploads\n  three times with a pause.\n\n\n\n\n- src/upload/worker.ts'
    const lost = (kind: Fact['kind'], text: string) => isReallyLost(fact(kind, text), rest)
    expect(lost('decision', 'Uploads are retried by the worker, with a pause')).toBe(false)
    expect(lost('decision', 'Uploads are encrypted by the gateway with a pause')).toBe(true)
    expect(lost('file', 'app/src/upload/worker.ts')).toBe(false)
    expect(lost('file', 'src/upload/queue.ts')).toBe(true)
    expect(lost('request', 'three times')).toBe(false)
    expect(lost('request', 'times, uploads')).toBe(true)
    const [files] = scoreNamedLosses([fact('file', 'worker.ts'), fact('file', 'queue.ts')], rest)
    expect(files).toMatchObject({ kind: 'file', share: { found: 1, of: 2 } })
  })

  test('the rank correlation is 1 for the same order, -1 for the opposite one, and shares equal ranks', () => {
    expect(
      rankCorrelation([
        [1, 10],
        [2, 20],
        [3, 21],
      ]),
    ).toBe(1)
    expect(
      rankCorrelation([
        [1, 9],
        [2, 5],
        [3, 1],
      ]),
    ).toBe(-1)
    expect(
      rankCorrelation([
        [1, 5],
        [2, 5],
        [3, 5],
      ]),
    ).toBeNull()
    expect(
      rankCorrelation([
        [1, 1],
        [1, 2],
        [2, 3],
      ]),
    ).toBeCloseTo(0.866, 2)
    expect(rankCorrelation([[1, 1]])).toBeNull()
  })
})
