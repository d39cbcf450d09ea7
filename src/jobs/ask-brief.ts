import type { BriefRecord } from '../contract/brief.js'
import type { AttemptRecord, JobRecord } from '../contract/job.js'
import { findBrief } from '../handoff/find-brief.js'
import { requestText } from '../handoff/request-text.js'
import type { Cut } from './attempt-host.js'
import type { LiveSession } from './live-session.js'
import type { Outcome } from './outcome.js'
import type { JobParts } from './parts.js'

/** A brief is one answer: longer than this it does not take. */
const BRIEF_MS = 5 * 60_000
const REASON = 'the context of the session was nearly full'
/** To a session that was asked already and cut off: what is wanted stands above, and is not said twice. */
const CUT_OFF =
  '[baton] You were cut off before the handoff brief that is asked for above had arrived. Give it now, as your whole answer and in the form described there, also if you see it above already. No tools are needed for it.'

/** Ends of the turn that the next rung would only meet again. */
const INSTEAD: ReadonlySet<Outcome['how']> = new Set(['stopped', 'limited', 'refused', 'turns', 'budget'])

export interface BriefWish {
  job: JobRecord
  attempt: AttemptRecord
  /** The session itself, if its client still runs; null: it is opened again. */
  live: LiveSession | null
  /** Opens the session again; at an earlier answer where that is given. null: it cannot be. */
  open(at: string | null): Promise<LiveSession | null>
  /** An answer early enough that the brief fits behind it; null: none is known. */
  earlier: Cut | null
  /** The context no longer fits: asking the session as it is fails again. */
  tooLong: boolean
  silenceMs: number
  /** A budget that is used up, or what a person wants instead; null: it may be asked on. */
  mustStop(): Outcome | null
  /** The session gave one, which is checked next: that keeps this process busy. May be called more than once. */
  given(): Promise<void>
  /** What a session that is opened again did and its transcript does not tell, or `hides`; '' nothing. */
  untold(hides: readonly string[]): string
}

/**
 * The brief of a session, by the first of these that gives one: the session itself, in the same process; the session opened again; a copy of
 * it cut off at an earlier answer; the transcript alone. Ends with a brief that is kept, unless a person stops it, a budget is used up or the provider
 * refuses every request for now: then with that, and it is asked for again when the job goes on.
 */
export async function askBrief(parts: JobParts, wish: BriefWish): Promise<{ brief: BriefRecord } | { instead: Outcome }> {
  const { attempt, earlier } = wish
  let { tooLong } = wish
  const bounds = { silenceMs: Math.min(wish.silenceMs, BRIEF_MS), turnMs: BRIEF_MS }
  // A copy ends before anything was asked of it.
  const request = (cut: Cut | null): string =>
    cut === null && parts.heard(attempt.sessionId, requestText()) ? CUT_OFF : requestText()
  const again = (cut: Cut | null) => ({
    open: async () => {
      // Two clients of one session would write into the same transcript.
      await wish.live?.close()
      return wish.open(cut?.at ?? null)
    },
    text: () => [request(cut), wish.untold(cut?.hides ?? [])].filter(Boolean).join('\n\n'),
  })
  const rungs: { open: () => Promise<LiveSession | null>; whole: boolean; text(): string }[] = [
    { open: async () => wish.live, whole: true, text: () => requestText() },
    { ...again(null), whole: true },
    ...(earlier === null ? [] : [{ ...again(earlier), whole: false }]),
  ]
  for (const { open, whole, text } of rungs) {
    // As it is, it would not fit again.
    if (tooLong && whole) continue
    const session = await open()
    if (session === null) continue
    const given = await ask(parts, wish, session, text(), bounds)
    if (session !== wish.live) await session.close()
    if (given.text !== null) return { brief: parts.briefs.take(attempt.sessionId, given.text, REASON) }
    const { how } = given.outcome
    if (INSTEAD.has(how)) return { instead: given.outcome }
    // Every further rung is one more request.
    const stop = wish.mustStop()
    if (stop !== null) return { instead: stop }
    tooLong ||= how === 'too-long'
    parts.log('warn', 'a session gave no brief', { job: attempt.jobId, session: attempt.sessionId, reason: given.why })
  }
  return { brief: parts.briefs.write(attempt.sessionId, 'The session was asked for a brief and gave none.') }
}

interface Given {
  text: string | null
  outcome: Outcome
  why: string
}

async function ask(
  parts: JobParts,
  { attempt, given }: Pick<BriefWish, 'attempt' | 'given'>,
  session: LiveSession,
  text: string,
  bounds: { silenceMs: number; turnMs: number },
): Promise<Given> {
  await session.settleTasks()
  await session.forbidCompaction()
  const first = textOf(await session.turn(text, 'brief', bounds))
  if (first.text === null) return first
  await given()
  const coverage = parts.briefs.coverage(attempt.sessionId, first.text)
  if (coverage === null || coverage.score >= parts.briefs.bar(attempt.sessionId) || coverage.missing.length === 0) return first
  const second = textOf(await session.turn(requestText({ missing: coverage.missing }), 'brief', bounds))
  if (second.text === null) return second.outcome.how === 'stopped' ? second : first
  const better = parts.briefs.coverage(attempt.sessionId, second.text)
  return (better?.score ?? 0) >= coverage.score ? second : first
}

function textOf(outcome: Outcome): Given {
  if (outcome.how !== 'done') return { text: null, outcome, why: 'detail' in outcome ? outcome.detail : outcome.how }
  return { text: findBrief(outcome.text), outcome, why: 'its answer holds none' }
}
