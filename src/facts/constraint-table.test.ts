import { describe, expect, test } from 'vitest'
import { CONSTRAINT_FORMS } from './constraint-table.js'
import { demandOf } from './constraint-words.js'
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
