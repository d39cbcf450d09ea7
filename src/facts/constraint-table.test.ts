import { describe, expect, test } from 'vitest'
import { said } from '../testing/sample-conversation.js'
import { CONSTRAINT_FORMS, NO_RULES } from './constraint-table.js'
import { WITHDRAWALS } from './constraint-withdrawals.js'
import { demandOf } from './constraint-words.js'
import { watchConstraints } from './facts.js'
import type { Language } from './language.js'

const rows = Object.entries(CONSTRAINT_FORMS).flatMap(([language, forms]) =>
  forms.map((form) => ({ language: language as Language, form })),
)

describe('forms of constraints', () => {
  test.each(rows.flatMap(({ language, form }) => form.examples.map((example) => ({ language, form, example }))))(
    'a form recognises its example ($language): $example',
    ({ language, form, example }) => {
      expect(form.pattern.test(example)).toBe(true)
      expect(demandOf(example, false, language)).not.toBeNull()
    },
  )

  test.each(rows.flatMap(({ language, form }) => form.counterexamples.map((example) => ({ language, form, example }))))(
    'a form leaves its counterexample alone ($language): $example',
    ({ form, example }) => {
      expect(form.pattern.test(example)).toBe(false)
    },
  )

  test('every form has an example and a counterexample', () => {
    expect(rows.filter(({ form }) => form.examples.length === 0 || form.counterexamples.length === 0)).toEqual([])
  })
})

describe('forms that look like constraints and are none', () => {
  const noRules = NO_RULES.flatMap(({ pattern, examples }) => examples.map((example) => ({ pattern, example })))
  test.each(noRules)('a sentence of no form states no rule: $example', ({ pattern, example }) => {
    expect(pattern.test(example)).toBe(true)
    expect(demandOf(example, /[?？]$/.test(example), /[ぁ-ん]/.test(example) ? 'ja' : 'en')).toBeNull()
  })

  test.each(NO_RULES.flatMap(({ pattern, counterexamples }) => counterexamples.map((one) => ({ pattern, one }))))(
    'a sentence like it is not excluded: $one',
    ({ pattern, one }) => {
      expect(pattern.test(one)).toBe(false)
    },
  )
})

test('a long text that the user passes on states no rule of his', () => {
  const review = 'The loader should not be called twice, because the second call overwrites the list. '.repeat(3)
  const rules = (text: string): string[] => {
    const watcher = watchConstraints()
    watcher.said!(said('user', text))
    return watcher.facts().map((fact) => fact.text)
  }
  expect(rules(review)).toEqual([])
  expect(rules(`can you also check this comment: ${review}`)).toEqual([])
  expect(rules(`check the following: you must never call the loader twice. ${review}`)).not.toEqual([])
})

describe('constraints that are taken back', () => {
  test.each(WITHDRAWALS.map(({ pattern, examples, counterexamples }) => ({ pattern, examples, counterexamples })))(
    'a form of withdrawal fits its examples only: $examples',
    ({ pattern, examples, counterexamples }) => {
      expect(examples.filter((one) => !pattern.test(one))).toEqual([])
      expect(counterexamples.filter((one) => pattern.test(one))).toEqual([])
    },
  )

  test('a constraint that the user takes back is no longer in force, others are', () => {
    const watcher = watchConstraints()
    for (const text of ['Never change the parser module.', 'Do not push to trunk.']) watcher.said!(said('user', text))
    watcher.said!(said('user', 'The log looks fine now.'))
    expect(watcher.facts()).toHaveLength(2)
    watcher.said!(said('user', 'ok, you can change the parser module now'))
    expect(watcher.facts().map(({ text }) => text)).toEqual(['Do not push to trunk.'])
  })
})
