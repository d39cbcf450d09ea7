import type { ScriptStep } from './script.js'

/** An answer of the script with its token figures. */
export interface ScriptedAnswer {
  step: ScriptStep
  /** Number of the repetition of its step, from 1. */
  n: number
  /** Tokens in the context window with this answer. */
  used: number
  /** `used` of the answer before it in the cycle. 0 for the first. */
  previous: number
}

export interface Usage {
  input_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  output_tokens: number
}

export interface TokenDefaults {
  start: number
  grow: number
}

/** Expands repetitions and growth into one entry for each answer of a cycle. */
export function unrollSteps(steps: readonly ScriptStep[], defaults: TokenDefaults): ScriptedAnswer[] {
  const answers: ScriptedAnswer[] = []
  for (const step of steps) {
    for (let n = 1; n <= (step.repeat ?? 1); n++) answers.push(answerAfter(step, n, answers.at(-1) ?? null, defaults))
  }
  return answers
}

/** Returns the answer of a step that follows another answer. */
export function answerAfter(
  step: ScriptStep,
  n: number,
  before: ScriptedAnswer | null,
  defaults: TokenDefaults,
): ScriptedAnswer {
  const grow = step.grow ?? defaults.grow
  const given = step.iterations?.at(-1) ?? step.used
  const next = before ? before.used + grow : defaults.start
  const used = given === undefined ? next : given + (n - 1) * (step.grow ?? 0)
  return { step, n, used: Math.max(0, used), previous: before?.used ?? 0 }
}

/** Returns the `usage` field of an answer. */
export function usageOf(answer: ScriptedAnswer): Usage & { iterations?: (Usage & { type: 'message' })[] } {
  const { step } = answer
  if (!step.iterations || step.iterations.length === 0) return split(answer.used, answer)
  const iterations = step.iterations.map((used) => ({ type: 'message' as const, ...split(used, answer) }))
  const whole =
    step.used === undefined ? iterations.reduce((sum, one) => add(sum, one), zero) : split(step.used, answer)
  return { ...whole, iterations }
}

function split(used: number, { step, previous }: ScriptedAnswer): Usage {
  const input = Math.min(step.input ?? 8, used)
  const creation = Math.min(step.cache_creation ?? Math.max(0, used - previous), used - input)
  return {
    input_tokens: input,
    cache_creation_input_tokens: creation,
    cache_read_input_tokens: used - input - creation,
    output_tokens: step.output ?? 50,
  }
}

const zero: Usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }

function add(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
  }
}
