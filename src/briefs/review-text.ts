import type { HandoffState } from '../contract/records/handoff.js'

interface Reviewed {
  briefId: string
  path: string
  /** ISO; null: it waits until somebody approves it. */
  dueAt: string | null
}

/** What a person is told in the client when a brief waits for them. */
export function reviewText({ briefId, path, dueAt }: Reviewed): string {
  const when =
    dueAt === null ? 'It waits for your approval' : `It is used by itself at ${clockTime(dueAt)} unless you object`
  return `[baton] A brief for a fresh session is ready: ${path}. ${when}: baton handoffs approve ${briefId} uses it now, baton handoffs edit ${briefId} changes it, baton handoffs cancel ${briefId} drops it.`
}

/** As the clock on the wall shows it: `14:05:30`. */
export function clockTime(iso: string): string {
  const at = new Date(iso)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** The meaning of each state of a handoff for the user. */
export const STATE_WORDS: Record<HandoffState, string> = {
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

/** The end of each hindrance, after which the session is cleared. */
export const HINDRANCES: Record<string, string | undefined> = {
  turn: 'its turn ends',
  dialog: 'the dialog in it is answered',
  draft: 'what is typed in it is sent or deleted',
  background: 'what runs in the background has ended',
  subagent: 'its subagents have ended',
}
