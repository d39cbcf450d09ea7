import { OUTCOME_UNKNOWN } from '../../src/jobs/attempt-prompts.js'
import type { ScriptInput } from '../../src/model/script.js'

const BRIEF =
  '# Handoff brief\n\n## Goal and why\n\nAll steps, each once, on the branch main. The request: Do all steps.\n\n' +
  '## Next exact step\n\nThe next one.\n'

export interface Climb {
  steps: number
  /** Tokens that each step adds to the context. */
  grow: number
  /** Steps that wait for the file `go-<step>` before they finish. */
  held?: number[]
}

/**
 * A task of many steps, each of which writes its number into a file. A session continues at the
 * step that its brief names: `from 5, at 3` is the third step of a session that began after step
 * five. If the outcome of calls is unknown, the session checks every step it has called and repeats
 * those that were not done.
 */
export function climb({ steps, grow, held = [] }: Climb): ScriptInput {
  const gate = (step: number): string => (held.includes(step) ? `until [ -e go-${step} ]; do sleep 0.05; done; ` : '')
  // A client whose runner was killed may ask for more steps than there are, but runs none of them.
  const repair = (done: number): string =>
    `last=$((${done} + {{step}} - 1)); [ $last -le ${steps} ] || last=${steps}; ` +
    `for n in $(seq ${done + 1} $last); do grep -qx $n steps || echo $n >> steps; done`
  const from = (done: number) => ({
    steps: [
      ...Array.from({ length: steps - done }, (_, index) => ({
        bash: `${gate(done + index + 1)}echo ${done + index + 1} >> steps`,
        used: 20_008 + grow * index,
      })),
      'All steps are done.',
    ],
    replies: [
      { when: 'as your whole answer', text: BRIEF.replace('The next one.', `from ${done}, at {{step}}.`) },
      { when: OUTCOME_UNKNOWN, bash: repair(done) },
    ],
  })
  const begun = (done: number): string => {
    const ways = Array.from({ length: done }, (_, began) => `from ${began}, at ${done - began + 1}\\.`)
    return `/${ways.join('|')}/`
  }
  const later = Array.from({ length: steps }, (_, index) => index + 1)
  return {
    ...from(0),
    conversations: later.map((done) => ({ when: { seen: begun(done) }, ...from(done) })),
  } as ScriptInput
}
