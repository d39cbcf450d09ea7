import type { HandoffShown } from '../../../src/contract/api/sessions.js'

const WAIT_REASONS: Readonly<Record<string, string>> = {
  turn: 'its turn goes on',
  dialog: 'a dialog in it wants an answer',
  draft: 'a draft stands in the composer',
  background: 'something runs in the background',
  subagent: 'its subagents are at work',
}

/** Says what a handoff waits for before it can clear the client. Null when none is reported. */
export function handoffWaitText({ hindered_by: by }: Pick<HandoffShown, 'hindered_by'>): string | null {
  return by === null ? null : (WAIT_REASONS[by] ?? null)
}
