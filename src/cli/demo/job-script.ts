import type { ScriptInput } from '../../model/script.js'
import { DEMO_MODEL, DEMO_RULE } from './script.js'

export const JOB_AGENT = 'clerk'
export const JOB_PROMPT = `Write the shop's report into report.md: six parts, and a list of contents. ${DEMO_RULE}.`
export const PARTS = 6
/** Said in the first session only, and left out of its brief: where the second one reads it, Baton added it. */
export const JOB_DECISION = 'I decided on one sentence a part rather than a page, because the owner reads it on a phone.'
/** What the check prints that fails first. */
export const COMPLAINT = 'report.md has no list of contents'
export const JOB_LAST_WORDS = 'Now the list of contents is there too.'

/** As a person writes it for a job of their own. */
export const JOB_CONFIG = `agents:
  - name: ${JOB_AGENT}
    prompt: "${JOB_PROMPT}"
    model: ${DEMO_MODEL}
    allowed_tools: [Bash]
    checks:
      - name: six parts
        command: test "$(grep -c '^## Part' report.md)" = ${PARTS}
      - name: a list of contents
        command: grep -q '^# Contents' report.md || { echo "${COMPLAINT}"; exit 1; }
`

const brief = (done: string, next: number): string => `# Handoff brief

## Goal and why
The shop's report in report.md: six parts, and a list of contents.

## State
${done} of ${PARTS} stand in report.md. Nothing is broken, nothing half done.

## Next exact step
Part ${next} comes next.

## Constraints
${DEMO_RULE}.

## Files
Changed:
- report.md

## Last user request
> ${JOB_PROMPT}
`

const part = (n: number, used: number) => ({ bash: `echo "## Part ${n}" >> report.md`, used, delay_ms: 250 })
const asked = (text: string) => [{ when: 'as your whole answer', text, delay_ms: 600 }]
const CONTENTS = '{ echo "# Contents"; cat report.md; } > new.md && mv new.md report.md'

/**
 * A job of three sessions: two are full after two parts each and hand over; the third says that it is done before it is, and hears what
 * the check found.
 */
export const JOB_CONVERSATIONS: NonNullable<ScriptInput['conversations']> = [
  {
    when: { seen: 'Part 5 comes next' },
    steps: [
      ...[part(5, 24_008), part(6, 26_008)],
      { text: 'The report is written.', used: 27_008, delay_ms: 250 },
      { bash: CONTENTS, used: 29_008, delay_ms: 250 },
      { text: JOB_LAST_WORDS, used: 30_008, delay_ms: 250 },
    ],
  },
  {
    when: { seen: 'Part 3 comes next' },
    steps: [part(3, 84_008), part(4, 152_008)],
    replies: asked(brief('Parts 1 to 4', 5)),
  },
  {
    when: { seen: JOB_PROMPT },
    steps: [{ text: JOB_DECISION, ...part(1, 80_008) }, part(2, 151_008)],
    replies: asked(brief('Parts 1 and 2', 3)),
  },
]
