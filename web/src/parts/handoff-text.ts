import type { HandoffView } from '../../../src/contract/api/sessions.js'

const WAIT_REASONS: Readonly<Record<string, string>> = {
  turn: 'the turn is still running',
  dialog: 'a dialog in the client needs an answer',
  draft: 'the prompt field holds unsent text',
  background: 'a background task is still running',
  subagent: 'its subagents are still working',
}

/** Says what a handoff waits for before it can clear the client. Null when none is reported. */
export function handoffWaitText({ hindered_by: by }: Pick<HandoffView, 'hindered_by'>): string | null {
  return by === null ? null : (WAIT_REASONS[by] ?? null)
}

/** Short name and full sentence for each state of a handoff. */
const STATES: Readonly<Record<HandoffView['state'], readonly [name: string, sentence: string]>> = {
  requested: ['brief requested', 'Baton asked the agent for a brief.'],
  written: ['brief written', 'The brief is written. Baton checks it next.'],
  checked: ['brief checked', 'The brief is checked.'],
  review: ['in review', 'The brief waits for your review.'],
  waiting: ['at the turn’s end', 'The brief is ready. The handoff waits for the end of the turn.'],
  clearing: ['starting session', 'A fresh session is starting.'],
  confirmed: ['session started', 'A fresh session has started.'],
  started: ['brief delivered', 'The fresh session has the brief.'],
  done: ['done', 'The handoff is complete.'],
  failed: ['failed', 'The handoff failed.'],
  cancelled: ['cancelled', 'The handoff was cancelled.'],
}

export const handoffStateText = ({ state }: Pick<HandoffView, 'state'>): string => STATES[state][0]
export const handoffSentence = ({ state }: Pick<HandoffView, 'state'>): string => STATES[state][1]
