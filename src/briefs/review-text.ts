import type { HandoffState } from '../contract/records/handoff.js'

interface BriefForReview {
  briefId: string
  path: string
  /** ISO time at which it is used. Null when it waits for an approval. */
  dueAt: string | null
}

/** Returns the text for the user about a brief that waits for a review. */
export function reviewText({ briefId, path, dueAt }: BriefForReview): string {
  const when =
    dueAt === null ? 'It waits for your approval' : `It is used by itself at ${clockTime(dueAt)} unless you object`
  return `[baton] A brief for a fresh session is ready: ${path}. ${when}: baton handoffs approve ${briefId} uses it now, baton handoffs edit ${briefId} changes it, baton handoffs cancel ${briefId} drops it.`
}

/** Formats a time as local wall clock time: `14:05:30`. */
export function clockTime(iso: string): string {
  const at = new Date(iso)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** Explains each state of a handoff to the user. */
export const STATE_TEXTS: Record<HandoffState, string> = {
  requested: 'the agent is asked for its brief',
  written: 'the brief is being checked',
  checked: 'the brief is ready and used when the turn ends',
  review: 'the brief waits for a review (baton handoffs approve, edit, cancel)',
  waiting: 'the brief is ready and used at the next clear or start',
  clearing: 'the client was told to clear the session',
  confirmed: 'a fresh session has begun with the brief',
  started: 'the fresh session was told to go on',
  done: 'the fresh session works',
  failed: 'it failed',
  cancelled: 'it was cancelled',
}

/** Event that ends each hindrance; afterwards the session is cleared. */
export const HINDRANCE_ENDS: Record<string, string | undefined> = {
  turn: 'its turn ends',
  dialog: 'the dialog in it is answered',
  draft: 'what is typed in it is sent or deleted',
  background: 'what runs in the background has ended',
  subagent: 'its subagents have ended',
}
