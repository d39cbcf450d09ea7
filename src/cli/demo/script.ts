import type { ScriptInput } from '../../model/script.js'

export const DEMO_MODEL = 'claude-opus-4-6'
/** What the person forbids, and what the summary below forgets. */
export const DEMO_RULE = 'Never change the file prices.csv'
export const DEMO_PROMPT = `Work through the list and note each item in done.txt. ${DEMO_RULE}.`

/**
 * One session that climbs through all levels, is compacted by the client at 167,000 tokens, and climbs again. The summary is as
 * forgetful as real ones can be: what the person forbade is not in it.
 */
export const DEMO_SCRIPT: ScriptInput = {
  steps: [
    {
      text: 'I decided to append to done.txt rather than rewrite it, because others may be reading it.',
      ...{ bash: 'echo "an item" >> done.txt', used: 22_008, delay_ms: 300 },
    },
    { bash: 'echo "the next item" >> done.txt', used: 33_608, grow: 11_600, repeat: 13, delay_ms: 300 },
    'That was the list.',
  ],
  summary: { text: 'The user wants the list worked through. 14 items stand in done.txt.', delay_ms: 900 },
  after_compaction: [
    { bash: 'echo "one of the rest" >> done.txt', used: 31_008, grow: 21_000, repeat: 5, delay_ms: 300 },
    'All items are done.',
  ],
}
