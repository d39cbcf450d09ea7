import type { ScriptInput } from '../../model/script.js'

export const DEMO_MODEL = 'claude-opus-4-6'
export const DEMO_PROMPT = 'Work through the list, one item at a time.'

/** One session that climbs through all levels, is compacted by the client at 167,000 tokens, and climbs again. */
export const DEMO_SCRIPT: ScriptInput = {
  steps: [{ bash: 'echo "item {{n}} done"', used: 22_008, grow: 11_600, repeat: 14, delay_ms: 300 }, 'That was the list.'],
  summary: { text: 'The user wants the list worked through, one item at a time. Items 1 to 14 are done.', delay_ms: 900 },
  after_compaction: [
    { bash: 'echo "item {{n}} of the rest done"', used: 31_008, grow: 21_000, repeat: 5, delay_ms: 300 },
    'All items are done.',
  ],
}
