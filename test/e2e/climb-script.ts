import type { ScriptInput } from '../../src/model/script.js'

const BRIEF =
  '# Handoff brief\n\n## Goal and why\n\nAll steps, each once, on the branch main. The request: Do all steps.\n\n## Next exact step\n\nThe next one.\n'

export interface Climb {
  steps: number
  /** Tokens a step adds. */
  grow: number
  /** What a step does before it is done. */
  first?: string
}

/**
 * A task of many steps, each of which writes its number into a file. A session's brief says which step is next, and the session that begins
 * with it goes on there: `from 5, at 3` is the third step of a session that began after five. Told that nobody knows how a step ended, it
 * looks, and does it if it was not done.
 */
export function climb({ steps, grow, first = '' }: Climb): ScriptInput {
  const from = (done: number) => ({
    steps: [
      ...Array.from({ length: steps - done }, (_, index) => ({
        bash: `${first}echo ${done + index + 1} >> steps`,
        used: 20_008 + grow * index,
      })),
      'All steps are done.',
    ],
    replies: [
      { when: 'as your whole answer', text: BRIEF.replace('The next one.', `from ${done}, at {{step}}.`) },
      { when: 'nobody knows how they ended', bash: `n=$((${done} + {{step}} - 1)); grep -qx $n steps || echo $n >> steps` },
    ],
  })
  const begun = (done: number): string => {
    const ways = Array.from({ length: done }, (_, began) => `from ${began}, at ${done - began + 1}\\.`)
    return `/${ways.join('|')}/`
  }
  const later = Array.from({ length: steps }, (_, index) => index + 1)
  return { ...from(0), conversations: later.map((done) => ({ when: { seen: begun(done) }, ...from(done) })) } as ScriptInput
}
