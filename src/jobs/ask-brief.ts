import { findBrief, showsBrief } from '../briefs/find-brief.js'
import { requestText } from '../briefs/request-text.js'
import type { BriefRecord } from '../contract/records/brief.js'
import type { AttemptRecord, JobRecord } from '../contract/records/job.js'
import type { CutPoint } from './attempt-host.js'
import type { JobDependencies } from './dependencies.js'
import type { LiveSession } from './live-session.js'
import type { Outcome } from './outcome.js'

/** Time limit for a brief, which is a single answer. */
const BRIEF_MS = 5 * 60_000
const REASON = 'the context of the session was nearly full'
/**
 * Prompt for a session that was cut off after it was asked for its brief. The request is above it.
 */
const CUT_OFF = [
  '[baton] You were cut off before the handoff brief requested above arrived.',
  'Give it now as your whole answer, in the form described there, even if you see it above. You need no tools.',
].join(' ')

/** Outcomes after which another way of asking for the brief would fail in the same way. */
const FINAL_OUTCOMES: ReadonlySet<Outcome['how']> = new Set(['stopped', 'limited', 'refused', 'turns', 'budget'])

interface BriefRequest {
  job: JobRecord
  attempt: AttemptRecord
  /** The session, if its client still runs. Null when it must be reopened. */
  live: LiveSession | null
  /** Reopens the session, at an earlier answer if one is given. Null when that fails. */
  open(at: string | null): Promise<LiveSession | null>
  /** An answer early enough that the brief fits after it. Null when none is known. */
  earlier: CutPoint | null
  /** True when the context no longer fits, so that asking the session as it is fails again. */
  tooLong: boolean
  /** Reason of the handoff. Undefined when the context is nearly full. */
  reason?: string | undefined
  /** Returns why asking must end: a spent budget or the user's wish. Null when it may continue. */
  mustStop(): Outcome | null
  /**
   * Called when the session gave a brief, before the brief is checked. May be called repeatedly.
   */
  onBriefGiven(): Promise<void>
  /** Adds a line to the job's log. */
  addLogLine(line: string): void
  /**
   * Returns a text about calls that the reopened session does not show, including those in `hides`.
   * The text is empty when there are no such calls.
   */
  describeUnreportedCalls(hides: readonly string[]): string
  /** Writes the brief by code; `reason` appears in it. */
  writeByCode(reason: string): BriefRecord
}

/**
 * Gets the brief of a session from the first source that gives one.
 * Sources: the live session, the reopened one, a copy cut off earlier, the transcript.
 * Returns a stored brief.
 * Returns an outcome if the user stops it, a budget is spent or the provider refuses for now.
 * The brief is then requested again when the job resumes.
 */
export async function askBrief(
  deps: JobDependencies,
  request: BriefRequest,
): Promise<{ brief: BriefRecord } | { instead: Outcome }> {
  const { attempt, earlier } = request
  let { tooLong } = request
  const bounds = { silenceMs: Math.min(request.job.spec.silenceMs, BRIEF_MS), turnMs: BRIEF_MS }
  // A copy is cut off before the request, so the full request is needed.
  const askText = (cut: CutPoint | null): string =>
    cut === null && deps.transcriptHolds(attempt.sessionId, requestText()) ? CUT_OFF : requestText()
  const again = (cut: CutPoint | null) => ({
    open: async () => {
      // Two clients of one session would write into the same transcript.
      await request.live?.close()
      return request.open(cut?.at ?? null)
    },
    text: () => [askText(cut), request.describeUnreportedCalls(cut?.hiddenCalls ?? [])].filter(Boolean).join('\n\n'),
  })
  const sources: { open: () => Promise<LiveSession | null>; whole: boolean; text(): string }[] = [
    { open: async () => request.live, whole: true, text: () => requestText() },
    { ...again(null), whole: true },
    ...(earlier === null ? [] : [{ ...again(earlier), whole: false }]),
  ]
  let wasAsked = false
  let why = tooLong ? 'its context is full' : 'its client could not be started'
  for (const { open, whole, text } of sources) {
    // A context that was too long before would not fit again.
    if (tooLong && whole) continue
    const session = await open()
    if (session === null) continue
    const given = await ask(deps, request, session, text(), bounds)
    if (session !== request.live) await session.close()
    if (given.text !== null)
      return { brief: deps.briefs.storeAgentBrief(attempt.sessionId, given.text, request.reason ?? REASON) }
    wasAsked ||= given.wasAsked
    why = given.why
    const { how } = given.outcome
    if (FINAL_OUTCOMES.has(how)) return { instead: given.outcome }
    // Every further try is one more paid request.
    const stop = request.mustStop()
    if (stop !== null) return { instead: stop }
    tooLong ||= how === 'too-long'
    deps.log('warn', 'a session gave no brief', { job: attempt.jobId, session: attempt.sessionId, reason: given.why })
  }
  return {
    brief: request.writeByCode(
      wasAsked
        ? 'The session was asked for a brief and gave none.'
        : `The session could not be asked for a brief: ${why}.`,
    ),
  }
}

interface BriefAnswer {
  text: string | null
  /** False when the turn ended before the model answered. */
  wasAsked: boolean
  outcome: Outcome
  why: string
}

async function ask(
  deps: JobDependencies,
  { attempt, onBriefGiven, addLogLine }: Pick<BriefRequest, 'attempt' | 'onBriefGiven' | 'addLogLine'>,
  session: LiveSession,
  text: string,
  bounds: { silenceMs: number; turnMs: number },
): Promise<BriefAnswer> {
  await session.settleTasks()
  await session.forbidCompaction()
  const turn = async (prompt: string): Promise<BriefAnswer> =>
    briefAnswerOf(await session.turn(prompt, 'brief', bounds), session.hasAnswered)
  let first = await turn(text)
  if (first.text === null && first.outcome.how === 'done' && showsBrief(first.outcome.text))
    first = await turn(requestText({ isShown: true }))
  if (first.text === null) return first
  await onBriefGiven()
  const coverage = deps.briefs.coverage(attempt.sessionId, first.text)
  const bar = deps.briefs.minScore(attempt.sessionId)
  if (coverage === null || coverage.score >= bar || coverage.missing.length === 0) return first
  const data = { coverage: coverage.score, bar }
  addLogLine(JSON.stringify({ type: 'baton', at: deps.now().toISOString(), event: 'brief', data }))
  const second = await turn(requestText({ missing: coverage.missing }))
  if (second.text === null) return second.outcome.how === 'stopped' ? second : first
  const better = deps.briefs.coverage(attempt.sessionId, second.text)
  return (better?.score ?? 0) >= coverage.score ? second : first
}

function briefAnswerOf(outcome: Outcome, wasAsked: boolean): BriefAnswer {
  if (outcome.how !== 'done')
    return { text: null, wasAsked, outcome, why: 'detail' in outcome ? outcome.detail : outcome.how }
  return { text: findBrief(outcome.text), wasAsked: true, outcome, why: 'its answer contains none' }
}
