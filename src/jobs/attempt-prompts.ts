import { join } from 'node:path'
import { withoutHashComment } from '../briefs/complete-brief.js'
import type { BriefRecord } from '../contract/records/brief.js'
import type { AttemptRecord, JobRecord } from '../contract/records/job.js'
import { readIfThere, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { briefAppendix, CALLS_TITLE } from './brief-appendix.js'
import { OUTCOME_TEXTS } from './call-list.js'
import { failedText } from './checks/run-checks.js'
import type { JobDependencies } from './dependencies.js'
import { type SessionStartHookPayload, sessionStartPayload } from './hooks/payloads.js'
import { findUnreportedCalls, type KnownCall, readJournal } from './journal.js'

/** Builds the first prompts of a job's sessions and knows whether a session received its prompt. */
export class AttemptPrompts {
  readonly journal: string

  constructor(
    private readonly deps: JobDependencies,
    private readonly jobId: string,
    private readonly folder: string,
    /** Runs the session start hooks and returns the text to put before the prompt. */
    private readonly runStartHooks: (payload: SessionStartHookPayload) => Promise<string>,
  ) {
    this.journal = join(folder, 'journal.jsonl')
  }

  wasReceived(attempt: AttemptRecord): boolean {
    if (readJournal(this.journal).some(({ sessionId }) => sessionId === attempt.sessionId)) return true
    // An earlier job may have used the same prompt in this session.
    // The prompt in the transcript then proves nothing.
    if (attempt.start === 'resume') return false
    const prompt = this.readStored(attempt)
    return prompt !== null && this.deps.transcriptHolds(attempt.sessionId, prompt)
  }

  /** Builds the first prompt once, including hooks, and stores it before it is sent. */
  async firstPrompt(attempt: AttemptRecord): Promise<string> {
    const kept = this.readStored(attempt)
    if (kept !== null) return kept
    const { store, briefs, repository } = this.deps
    const job = store.job(this.jobId)!
    const brief = attempt.briefId === null ? null : store.brief(attempt.briefId)
    const text = brief === null ? null : briefs.read(brief)
    if (brief !== null && text === null)
      throw new BatonError(`The brief in ${brief.path} is missing or was changed.`, '', EXIT.failed)
    const before = store.attempts(this.jobId).find(({ number }) => number === attempt.number - 1) ?? null
    const given = {
      task: job.spec.prompt,
      brief:
        text === null
          ? null
          : { text: withoutHashComment(text), lead: before === null ? newJobLead(job) : briefIntroduction(job) },
      repository: text === null ? null : repository(job.workspace?.folder ?? job.spec.folder),
      // A brief written by code lists all calls itself.
      unreportedCalls:
        before === null || text?.includes(`## ${CALLS_TITLE}`) ? '' : this.describeUnreportedCalls(before),
    }
    const plain = freshPrompt({ ...given, before: '' })
    const words = await this.runStartHooks(
      sessionStartPayload(
        job,
        attempt.sessionId,
        before?.sessionId ?? brief?.sessionId ?? (attempt.start === 'resume' ? attempt.sessionId : null),
        plain,
      ),
    )
    const prompt = freshPrompt({ ...given, before: words })
    writeFileAtomic(this.path(attempt), prompt, { mode: 0o600 })
    if (brief)
      store.putBrief({
        ...brief,
        status: 'used',
        usedAt: this.deps.now().toISOString(),
        usedBySessionId: attempt.sessionId,
      })
    return prompt
  }

  resume(attempt: AttemptRecord): string {
    const job = this.deps.store.job(this.jobId)!
    const calls = this.unreportedCalls(attempt)
    const failed = failedChecksText(job)
    if (failed === '') return resumePrompt(calls, job.detail || editsToRepeat(job) || 'its process was killed')
    return [failed, unreportedCallsText(calls)].filter((part) => part !== '').join('\n\n')
  }

  /** Writes the brief of a session by code, including the calls of the job. */
  writeBrief(attempt: AttemptRecord, reason: string): BriefRecord {
    const { jobId, folder, journal } = this
    const appendix = briefAppendix(this.deps, { jobId, folder, journal }, attempt)
    return this.deps.briefs.writeByCode(attempt.sessionId, reason, appendix)
  }

  /**
   * Returns a text about calls that a session made but its transcript does not show.
   * `hides` adds calls that are in the transcript but not visible to the reader.
   */
  describeUnreportedCalls(attempt: AttemptRecord, hides: readonly string[] = []): string {
    return unreportedCallsText(this.unreportedCalls(attempt, hides))
  }

  private unreportedCalls(
    { sessionId }: AttemptRecord,
    hides: readonly string[] = [],
  ): ReturnType<typeof findUnreportedCalls> {
    const lines = readJournal(this.journal).filter((line) => line.sessionId === sessionId)
    const told = new Map(this.deps.returnedCalls(sessionId))
    for (const callId of hides) told.delete(callId)
    return findUnreportedCalls(lines, sessionId, told)
  }

  private path({ number }: AttemptRecord): string {
    return join(this.folder, `prompt-${number}.md`)
  }

  /** Returns the stored prompt. An empty file may remain after a power cut and is no prompt. */
  private readStored(attempt: AttemptRecord): string | null {
    return readIfThere(this.path(attempt))?.toString('utf8') || null
  }
}

/**
 * Tells an agent to repeat edits that were all denied before the job was resumed.
 * The text is empty when no edit was denied.
 */
function editsToRepeat({ edits, spec }: JobRecord): string {
  if (!edits?.before || edits.made > 0) return ''
  const mode = spec.permissionMode ?? 'that of the client'
  return `the permission mode denied ${edits.before} of your edits; it is ${mode} now, so make them again`
}

/**
 * Returns the failed checks of a job that the user resumes, which its agent has not seen.
 * The text is empty when no check failed.
 */
function failedChecksText({ checkRound, checks, detail }: JobRecord): string {
  const last = Math.max(0, ...checks.map(({ round }) => round))
  return checkRound > 0 || detail !== '' ? '' : failedText(checks.filter(({ round }) => round === last))
}

/** Prompts for the sessions of a job. Each begins with `[baton]` or with the task itself. */

/** Introduces calls that were cut off. A scripted agent in a test recognises the prompt by it. */
export const OUTCOME_UNKNOWN = 'These calls were started, and their outcome is unknown.'

const LONGEST_STEP = 700
const SHORT_STEP = 80
const MOST_LONG = 20
const LONGEST_STEPS = 48_000

interface FreshPrompt {
  task: string
  /** Text of hooks to put before the prompt. Empty when there is none. */
  before: string
  /** The checked brief of the previous session. Null for the first session. */
  brief: { text: string /** The first sentences: why there is a brief. */; lead: string } | null
  /** Branch, commit and changed files. Null without a repository. */
  repository: string | null
  /**
   * Calls that the previous session's transcript does not show (`unreportedCallsText`).
   * Empty when there are no such calls.
   */
  unreportedCalls: string
}

/** Builds the first prompt of a session from the task and the results of the previous session. */
export function freshPrompt({ task, before, brief, repository, unreportedCalls }: FreshPrompt): string {
  const words = before.trim()
  // Clients treat a prompt that begins with a slash as a command and do not ask the model.
  const first = words.startsWith('/') ? `Text of this job's hooks:\n\n${words}` : words
  if (brief === null) return [...(words === '' ? [] : [first]), task].join('\n\n')
  return [
    // Text without this prefix counts as the user's own and would be quoted in every later brief.
    ...(words === '' ? [] : [`[baton] Text of this job's hooks:\n\n${words}`]),
    brief.lead,
    `# The task\n\n${task}`,
    `# The brief\n\n${brief.text.trim()}`,
    ...(unreportedCalls === '' ? [] : [`# Not in the brief\n\n${unreportedCalls}`]),
    ...(repository === null ? [] : [`# The repository now\n\n${repository.trim()}`]),
  ].join('\n\n')
}

/** Introduces the brief to the next session of the same job. */
export function briefIntroduction({ handoffs, spec }: Pick<JobRecord, 'handoffs' | 'spec'>): string {
  return [
    '[baton] You continue a job that another session began.',
    `This is handoff ${handoffs} of at most ${spec.maxHandoffs}.`,
    "The task, the previous session's brief and the state of the repository follow.",
    'Do not repeat finished work. Begin with the next exact step. Do not ask whether to continue.',
  ].join(' ')
}

/** Introduces the brief of an agent's last session to the first session of its next job. */
function newJobLead({ spec }: Pick<JobRecord, 'spec'>): string {
  return [
    `[baton] This is a new job of the agent \`${spec.agentName}\`. The session of its last job could not be continued.`,
    "The task, that session's brief and the state of the repository follow.",
    'Do the task. Follow the next step of the brief only where the task asks for it.',
    'Do not ask whether to continue.',
  ].join(' ')
}

/** Builds the prompt of a resumed session. `calls` are those its transcript does not show. */
export function resumePrompt(calls: readonly KnownCall[], why: string): string {
  const parts = [
    `[baton] This session was cut off (${why}). Continue the job where you stopped.`,
    unreportedCallsText(calls),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Describes calls that the transcript does not show. Empty when there are none. */
function unreportedCallsText(calls: readonly KnownCall[]): string {
  const done = calls.filter(({ outcome }) => outcome !== 'unknown')
  const open = calls.filter(({ outcome }) => outcome === 'unknown')
  const parts: string[] = []
  if (done.length > 0)
    parts.push(
      `These calls have returned, even if you do not see them above. Do not repeat them.\n${listUnreportedCalls(done)}`,
    )
  if (open.length > 0)
    parts.push(
      `${[
        OUTCOME_UNKNOWN,
        'Check what they did before you repeat one.',
        'If a result above says that the user rejected one, the client wrote that when it was cut off, not the user.',
      ].join(' ')}\n${listUnreportedCalls(open)}`,
    )
  return parts.join('\n\n')
}

/** Lists every call. The newest, which the transcript surely lacks, include their results. */
function listUnreportedCalls(calls: readonly KnownCall[]): string {
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
  return [...(left > 0 ? [`- (and ${left} earlier calls)`] : []), ...lines].join('\n')
}

function lineOf({ callId, tool, input, outcome, result }: KnownCall, longest: number): string {
  const end = result === '' ? '' : `: ${toOneLine(result, longest)}`
  return `- ${tool} ${toOneLine(input, longest)} (${callId}): ${OUTCOME_TEXTS[outcome]}${end}`
}

function toOneLine(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}
