/**
 * A form in which people or agents state a choice.
 * Each form lists sentences that it must recognise and sentences that it must not.
 * The test `decision-table.test.ts` runs all these sentences.
 */
export interface DecisionForm {
  by: 'user' | 'agent'
  /** True when the form counts only in a text that a change of a file follows. */
  beforeChange?: true
  /** True when the form also counts in a question: the user steers by asking. */
  asks?: true
  pattern: RegExp
  examples: readonly string[]
  counterexamples: readonly string[]
}
