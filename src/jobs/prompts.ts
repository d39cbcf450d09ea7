import type { KnownCall } from './journal.js'

/** What is said to the sessions of a job. Each begins with `[baton]` or with the task itself. */

const LONGEST_STEP = 700
const SHORT_STEP = 80
const MOST_LONG = 20
const LONGEST_STEPS = 48_000

export interface FreshPrompt {
  task: string
  /** What hooks want put before everything; '' nothing. */
  before: string
  /** The checked brief of the session before; null: this is the first one. */
  brief: { text: string; number: number; of: number } | null
  /** Branch, commit, changed files; null: no repository. */
  repository: string | null
  /** What the session before did and its transcript does not tell (`untoldText`); '' nothing. */
  untold: string
}

/** The first prompt of a session: the task as it was given, and what the session before left. */
export function freshPrompt({ task, before, brief, repository, untold }: FreshPrompt): string {
  const words = before.trim()
  // A client takes what begins with a slash for a command, and asks its model nothing.
  const first = words.startsWith('/') ? `The hooks of this job say first:\n\n${words}` : words
  if (brief === null) return [...(words === '' ? [] : [first]), task].join('\n\n')
  return [
    // A text that does not begin so is taken for the user's own, and would stand in every later brief whole.
    ...(words === '' ? [] : [`[baton] The hooks of this job say first:\n\n${words}`]),
    `[baton] You go on with a job that another session began: its context was full. This is handoff ${brief.number} of at most ${brief.of}. The task, the brief of the session before, and the state of the repository follow. Do not repeat what is done; begin with the next exact step; do not ask whether to go on.`,
    `# The task\n\n${task}`,
    `# The brief\n\n${brief.text.trim()}`,
    ...(untold === '' ? [] : [`# Not in the brief\n\n${untold}`]),
    ...(repository === null ? [] : [`# The repository now\n\n${repository.trim()}`]),
  ].join('\n\n')
}

/** A session that was cut off goes on. `calls`: what it did and its own transcript does not tell. */
export function resumePrompt(calls: readonly KnownCall[], why: string): string {
  const parts = [
    `[baton] This session was cut off (${why}) and goes on now. Go on with the job where you were.`,
    untoldText(calls),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** '' where there are none. */
export function untoldText(calls: readonly KnownCall[]): string {
  const done = calls.filter(({ outcome }) => outcome !== 'unknown')
  const open = calls.filter(({ outcome }) => outcome === 'unknown')
  const parts: string[] = []
  if (done.length > 0)
    parts.push(
      `These calls were made and have returned, though you may not see them above. They are done: do not make them again.\n${listed(done)}`,
    )
  if (open.length > 0)
    parts.push(
      `These calls were begun and nobody knows how they ended. Look at what they did before you make one again.\n${listed(open)}`,
    )
  return parts.join('\n\n')
}

/** Every call is named. The newest, which a transcript lacks for sure, with what came of them; older ones shortly. */
function listed(calls: readonly KnownCall[]): string {
  const lines: string[] = []
  let room = LONGEST_STEPS
  for (const call of calls.toReversed()) {
    const isLong = lines.length < MOST_LONG && room > LONGEST_STEPS / 2
    const line = isLong ? lineOf(call, LONGEST_STEP) : lineOf({ ...call, result: '' }, SHORT_STEP)
    if (line.length > room) break
    room -= line.length
    lines.unshift(line)
  }
  const left = calls.length - lines.length
  return [...(left > 0 ? [`- (and ${left} before these)`] : []), ...lines].join('\n')
}

function lineOf({ callId, tool, input, outcome, result }: KnownCall, longest: number): string {
  const came = outcome === 'unknown' ? 'outcome unknown' : outcome === 'failed' ? 'failed' : 'done'
  return `- ${tool} ${flat(input, longest)} (${callId}): ${came}${result === '' ? '' : `: ${flat(result, longest)}`}`
}

function flat(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}
