import { BRIEF_TITLE, SECTIONS } from './sections.js'

/** Good and bad examples for sections of a brief. */
const EXAMPLES: Partial<Record<(typeof SECTIONS)[number]['name'], { good: string; bad: string }>> = {
  state: { good: '`npm test` fails in 2 of 214: src/login.test.ts, both since 3f1c9e2.', bad: 'Mostly works.' },
  next: {
    good: 'In src/login.ts, `refresh()`: pass the clock; then `npm test -- login` turns green.',
    bad: 'Fix the tests.',
  },
  decisions: {
    good: 'Tokens in a cookie, because the API has no CORS; local storage was rejected (XSS).',
    bad: 'Use cookies.',
  },
  failed: {
    good: 'Mocking Date: the library reads the clock at import, so nothing changed.',
    bad: 'Tried some things.',
  },
  verify: { good: '`npm run check` ends with 0; not run since the last change.', bad: 'Everything is tested.' },
  constraints: { good: '“Never touch the migrations.”', bad: 'The user has some wishes.' },
}

/** Description of the skill, which the client lists to its agent. */
export const SKILL_DESCRIPTION = [
  'How to write a brief of the work, so that a fresh session can continue from it alone.',
  'Use it when Baton asks for a brief, or when the user wants a handoff.',
].join(' ')

/** Returns the skill file that teaches an agent what a good handoff brief is. */
export function briefSkill(): string {
  const sections = SECTIONS.map(({ name, title, wants }) => {
    const shown = EXAMPLES[name]
    return `- **${title}**: ${wants}.${shown ? `\n  Good: ${shown.good}\n  Bad: ${shown.bad}` : ''}`
  })
  return `---
name: brief
description: ${SKILL_DESCRIPTION}
---

# A handoff brief

A fresh session reads only the brief, nothing else of this conversation.
It has the same files and tools. Write what it cannot find there.

## How to give it

Give the brief as your whole answer and end the turn. You need no file and no tool.
The first line is \`# ${BRIEF_TITLE}\`.
If you cannot answer with it, write it to a file, run \`baton handoff <file>\` and end the turn.

## What each section needs

Each section has a \`##\` heading. Write "none" where there is nothing.

${sections.join('\n')}

## What is checked

Baton compares the brief with the transcript: the last request, what the user required or forbade, open todos and
questions, failing tests, changed files, decisions, commits, the branch and the commands that verify. Baton asks
once more for missing facts, then adds them under a heading of its own. So:

- Quote the user's constraints and last request in the user's words.
- Name files with their paths, commands as they were typed, errors as they were printed, commits by their hash.
- Call a file changed only if you changed it. Give no figures of tokens.
- Say what you did not verify.
- Stay below 8,000 characters: no logs, no code that is in a file, no history of the work.
`
}
