import type { HandoffState } from '../contract/records/handoff.js'
import { shortBriefId } from '../policy/notice-text.js'

interface BriefForReview {
  briefId: string
  path: string
  /** ISO time at which it is used. Null when it waits for an approval. */
  dueAt: string | null
}

/** Returns the text for the user about a brief that waits for a review. */
export function reviewText({ briefId, path, dueAt }: BriefForReview): string {
  const start =
    dueAt === null
      ? 'The brief for a fresh session waits for your approval'
      : `A fresh session starts from this brief at ${clockTime(dueAt)}`
  const id = shortBriefId(briefId)
  const commands = `start now: baton handoffs approve ${id} · change: baton handoffs edit ${id}`
  return `[baton] ${start}: ${path} · ${commands} · drop: baton handoffs cancel ${id}`
}

/** Formats a time as local wall clock time: `14:05:30`. */
export function clockTime(iso: string): string {
  const at = new Date(iso)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** Explains each state of a handoff to the user. */
export const STATE_TEXTS: Record<HandoffState, string> = {
  requested: 'the agent was asked for a brief',
  written: 'Baton checks the brief',
  checked: 'the brief is ready; a fresh session starts from it after this turn',
  review: 'the brief waits for your review (baton handoffs approve, edit, cancel)',
  waiting: 'the brief is ready; the next /clear or start uses it',
  clearing: 'the client was told to clear the session',
  confirmed: 'a fresh session has started with the brief',
  started: 'the fresh session has its first prompt',
  done: 'the fresh session works',
  failed: 'it failed',
  cancelled: 'it was cancelled',
}

/** Event that ends each hindrance; afterwards the session is cleared. */
export const HINDRANCE_END_EVENTS: Record<string, string | undefined> = {
  turn: 'its turn ends',
  dialog: 'its open dialog is answered',
  draft: 'its draft is sent or deleted',
  background: 'its background tasks end',
  subagent: 'its subagents end',
}
