import type { ScriptInput } from '../model/script.js'

export const DEMO_MODEL = 'claude-opus-4-6'
/** The rule that the user gives, and that the scripted summary leaves out. */
export const DEMO_RULE = 'Never change the file prices.csv'
export const DEMO_PROMPT = `Work through the list and note each item in done.txt. ${DEMO_RULE}.`
export const HANDOFF_PROMPT = `Write an offer for each item into offers.txt. ${DEMO_RULE}.`
export const DEMO_SEAT = 'offers'
/**
 * A reason that only the first agent knows. In the second session it proves that the brief arrived.
 */
export const DEMO_REASON = 'because the shop opens on Monday'
export const LAST_ANSWER = 'All offers are written.'

/** A decision of the first agent that the scripted brief leaves out. */
export const OFFERS_DECISION = 'I decided on one offer a line rather than a table, because the shop reads them so.'

/** A typical brief: good, but it leaves out what the agent takes for granted. */
const BRIEF = `# Handoff brief

## Goal and why
An offer for each item of the list in offers.txt, ${DEMO_REASON}.

## State
Offers 1 to 4 of 6 stand in offers.txt, the number of them in plan.txt. Nothing is broken, nothing half done.

## Next exact step
Append offer 5 to offers.txt, then offer 6.

## Files
Changed:
- offers.txt
- plan.txt

## Last user request
> ${HANDOFF_PROMPT}
`

const offer = (n: number, used: number) => ({ bash: `echo "offer ${n}" >> offers.txt`, used, delay_ms: 250 })

/**
 * The script of the first two acts.
 * The first session climbs through all levels, and the client compacts it at 167,000 tokens.
 * The compaction's summary leaves out facts, as real ones do. The first session climbs again.
 * The second session climbs to the handoff level and writes its brief.
 * The third session continues from that brief.
 */
export const DEMO_SESSIONS_SCRIPT: ScriptInput = {
  steps: [
    {
      text: 'I decided to append to done.txt rather than rewrite it, because others may be reading it.',
      bash: 'echo "an item" >> done.txt',
      used: 22_008,
      delay_ms: 250,
    },
    { bash: 'echo "the next item" >> done.txt', used: 40_008, grow: 18_000, repeat: 8, delay_ms: 250 },
    { bash: 'echo "one more item" >> done.txt', used: 184_008, delay_ms: 700 },
    'That was the list.',
  ],
  summary: { text: 'The user wants the list worked through. 10 items stand in done.txt.', delay_ms: 900 },
  after_compaction: [
    { bash: 'echo "one of the rest" >> done.txt', used: 31_008, grow: 30_000, repeat: 3, delay_ms: 250 },
    'All items are done.',
  ],
  conversations: [
    {
      when: 'Write an offer',
      steps: [
        { text: OFFERS_DECISION, ...offer(1, 60_008) },
        { ...offer(2, 105_008), bash: 'echo "offer 2" >> offers.txt; echo "six offers in all" > plan.txt' },
        offer(3, 146_008),
        offer(4, 149_008),
        { text: BRIEF, used: 152_008, delay_ms: 600 },
      ],
    },
    {
      when: 'Continue the work',
      steps: [offer(5, 21_008), offer(6, 22_008), { text: LAST_ANSWER, used: 22_508, delay_ms: 250 }],
    },
  ],
}

export const JOB_AGENT = 'clerk'
export const JOB_PROMPT = `Write the shop's report into report.md: six parts, and a list of contents. ${DEMO_RULE}.`
export const REPORT_PARTS = 6
/**
 * A decision in the first session that its brief leaves out.
 * In the second session it proves that Baton added it.
 */
export const JOB_DECISION =
  'I decided on one sentence a part rather than a page, because the owner reads it on a phone.'
/** Output of the check that fails first. */
export const FAILED_CHECK_OUTPUT = 'report.md has no list of contents'
const JOB_LAST_WORDS = 'Now the list of contents is there too.'

/** Configuration of the job, as a user would write it. */
export const JOB_CONFIG = `agents:
  - name: ${JOB_AGENT}
    prompt: "${JOB_PROMPT}"
    model: ${DEMO_MODEL}
    allowed_tools: [Bash]
    checks:
      - name: six parts
        command: test "$(grep -c '^## Part' report.md)" = ${REPORT_PARTS}
      - name: a list of contents
        command: grep -q '^# Contents' report.md || { echo "${FAILED_CHECK_OUTPUT}"; exit 1; }
`

const brief = (done: string, next: number): string => `# Handoff brief

## Goal and why
The shop's report in report.md: six parts, and a list of contents.

## State
${done} of ${REPORT_PARTS} stand in report.md. Nothing is broken, nothing half done.

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
 * A job of three sessions. Two of them fill up after two parts each and hand off.
 * The third says that it is done too early, and receives the output of the failed check.
 */
export const JOB_CONVERSATIONS: NonNullable<ScriptInput['conversations']> = [
  {
    when: { seen: 'Part 5 comes next' },
    steps: [
      part(5, 24_008),
      part(6, 26_008),
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
