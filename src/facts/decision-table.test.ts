import { expect, test } from 'vitest'
import { AGREES, DECISION_FORMS } from './decision-table.js'

const forms = Object.entries(DECISION_FORMS).flatMap(([language, list]) =>
  list.map((form, i) => [`${language} ${i + 1} (${form.by})`, form] as const),
)

test.each(forms)('the form %s recognises its examples and leaves its counterexamples alone', (_, form) => {
  expect(form.examples.filter((one) => !form.pattern.test(one))).toEqual([])
  expect(form.counterexamples.filter((one) => form.pattern.test(one))).toEqual([])
  expect(form.examples.length).toBeGreaterThan(0)
  expect(form.counterexamples.length).toBeGreaterThan(0)
})

test('a prompt that only agrees is told from one that says more', () => {
  for (const text of ['yes please', 'Ok, sounds good!', 'はい、お願いします', '好的', 'ja, genau', 'sure, go ahead'])
    expect(AGREES.test(text), text).toBe(true)
  for (const text of ['yes, but keep the port', 'ok what is next?', 'no', 'jacket', 'list the files'])
    expect(AGREES.test(text), text).toBe(false)
})
