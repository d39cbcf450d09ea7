import { join } from 'node:path'
import type { AttemptRecord, JobRecord } from '../contract/job.js'
import { readIfThere, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { failedText } from './checks/failed-text.js'
import { type SessionStartHookPayload, sessionStartPayload } from './hooks/payloads.js'
import { notTold, readJournal } from './journal.js'
import type { JobParts } from './parts.js'
import { freshPrompt, resumePrompt, untoldText } from './prompts.js'

/** What the sessions of one job are told first, and what is known of whether they heard it. */
export class AttemptPrompts {
  readonly journal: string

  constructor(
    private readonly parts: JobParts,
    private readonly jobId: string,
    private readonly folder: string,
    /** Runs the hooks of a session's start; resolves to what they want put before the prompt. */
    private readonly hooked: (payload: SessionStartHookPayload) => Promise<string>,
  ) {
    this.journal = join(folder, 'journal.jsonl')
  }

  wasHeard(attempt: AttemptRecord): boolean {
    if (readJournal(this.journal).some(({ sessionId }) => sessionId === attempt.sessionId)) return true
    const prompt = this.#kept(attempt)
    return prompt !== null && this.parts.heard(attempt.sessionId, prompt)
  }

  /** Made once, hooks included, and kept before it is said. */
  async first(attempt: AttemptRecord): Promise<string> {
    const kept = this.#kept(attempt)
    if (kept !== null) return kept
    const { store, briefs, repository } = this.parts
    const job = store.job(this.jobId)!
    const brief = attempt.briefId === null ? null : store.brief(attempt.briefId)
    const text = brief === null ? null : briefs.read(brief)
    if (brief !== null && text === null)
      throw new BatonError(`The brief in ${brief.path} is gone or was changed.`, '', EXIT.failed)
    const before = store.attempts(this.jobId).find(({ number }) => number === attempt.number - 1) ?? null
    const given = {
      task: job.spec.prompt,
      brief: text === null ? null : { text, number: job.handoffs, of: job.spec.maxHandoffs },
      repository: text === null ? null : repository(job.workspace?.folder ?? job.spec.folder),
      untold: before === null ? '' : this.untold(before),
    }
    const plain = freshPrompt({ ...given, before: '' })
    const words = await this.hooked(sessionStartPayload(job, attempt.sessionId, before?.sessionId ?? null, plain))
    const prompt = freshPrompt({ ...given, before: words })
    writeFileAtomic(this.#path(attempt), prompt, { mode: 0o600 })
    if (brief)
      store.putBrief({ ...brief, status: 'used', usedAt: this.parts.now().toISOString(), usedBySessionId: attempt.sessionId })
    return prompt
  }

  resume(attempt: AttemptRecord): string {
    const job = this.parts.store.job(this.jobId)!
    const calls = this.#untold(attempt)
    const failed = unmended(job)
    if (failed === '') return resumePrompt(calls, job.detail || 'whoever ran it was ended')
    return [failed, untoldText(calls)].filter((part) => part !== '').join('\n\n')
  }

  /** What a session did and its transcript does not tell; `hides`: calls it holds, but whoever is told does not see. */
  untold(attempt: AttemptRecord, hides: readonly string[] = []): string {
    return untoldText(this.#untold(attempt, hides))
  }

  #untold({ sessionId }: AttemptRecord, hides: readonly string[] = []): ReturnType<typeof notTold> {
    const lines = readJournal(this.journal).filter((line) => line.sessionId === sessionId)
    const told = new Map(this.parts.told(sessionId))
    for (const callId of hides) told.delete(callId)
    return notTold(lines, sessionId, told)
  }

  #path({ number }: AttemptRecord): string {
    return join(this.folder, `prompt-${number}.md`)
  }

  /** An empty file is what a power cut may leave of one, and no prompt. */
  #kept(attempt: AttemptRecord): string | null {
    return readIfThere(this.#path(attempt))?.toString('utf8') || null
  }
}

/** The checks that a job failed over, which a person takes up again: of the last round its agent was not told. '' none. */
function unmended({ checkRound, checks, detail }: JobRecord): string {
  const last = Math.max(0, ...checks.map(({ round }) => round))
  return checkRound > 0 || detail !== '' ? '' : failedText(checks.filter(({ round }) => round === last))
}
