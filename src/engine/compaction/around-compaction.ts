import { findBrief } from '../../briefs/find-brief.js'
import { mostNeededParts } from '../../briefs/resume-text.js'
import { LATE_FINDINGS_TITLE } from '../../briefs/sections.js'
import type { BriefFromFacts } from '../../compaction/brief.js'
import {
  firstRecoveryText,
  type RecoveryBrief,
  reportLoss,
  secondRecoveryText,
  summaryInstructions,
} from '../../compaction/recovery.js'
import type { Entry } from '../../contract/conversation.js'
import type { Fact } from '../../contract/fact.js'
import type { DeliveryMode } from '../../contract/level.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { CompactionRecord, LossReport } from '../../contract/records/compaction.js'
import type { Message } from '../../contract/records/message.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { Signal } from '../../contract/signal.js'
import { putBackCheck } from '../../facts/fact-key.js'
import { factWeight } from '../../facts/rank.js'
import { scaleTimeout } from '../../lib/patience.js'
import { lossText } from '../../policy/texts.js'
import { type EngineDependencies, emit, type SessionContext, type SignalContext } from '../context.js'
import { isForking, openHandoff } from '../handoff/handoffs.js'
import { type BriefMaterial, storeUnrequestedBrief, unrequestedBriefOf } from '../handoff/make-brief.js'
import { isReviewOver } from '../handoff/review.js'
import { cancelStaleMessages, isAboutSession, queueMessage } from '../messages/messages.js'
import { speakerFor } from '../messages/session-speaker.js'
import { BRIEF_SOURCES_TIMEOUT_MS, briefMaterial, keptFactsOf, repositoryOf } from './brief-sources.js'
import { factsOfGivenBriefs, mergeGivenFacts } from './handed-facts.js'
import { keepTranscript } from './keep-transcript.js'
import { keptOffset } from './kept-facts.js'
import { MAX_HOOK_READ_BYTES, type ReadFacts, readFacts, type TranscriptReaders } from './read-facts.js'

/** Context for putting facts back after a compaction. No signal is needed. */
type CompactionContext = SessionContext & Pick<SignalContext, 'enabled'>

/**
 * Milliseconds a compaction waits for its transcript to be read, before and inside a transaction.
 */
const AHEAD_MS = 500
const LATE_MS = 150
/** Fewest milliseconds that are enough to read the repository. */
const LEAST_MS = 30
/** Bytes before and after a compaction in which kept lines and the boundary are looked for. */
const TAIL_BEFORE = 4 * 1024 * 1024
const TAIL_BEHIND = 4 * 1024 * 1024
const MOST_REPORTED = 30
/** Number of last lines before a compaction that clients mostly keep. */
const LIKELY_KEPT = 12
/** Number of last lines before a compaction that clients mostly keep in the conversation. */
const LONGEST_END = 64 * 1024

/**
 * Reads facts and repository before the store is locked.
 * Reads what a compaction may drop, or what a brief at the end of the turn is compared with.
 * At the start of a fresh session, reads the facts of the session that it follows.
 * Null when no facts are needed or they cannot be read in time.
 */
export function readFactsAhead(deps: EngineDependencies, signal: Signal): ReadFacts | null {
  if (signal.subagent !== null) return null
  const record = deps.store.session(signal.sessionId)
  const keeping = keptFactsOf(deps, signal)
  if (signal.kind === 'session-start') {
    const replaced = replacedSession(deps, signal)
    return replaced === null ? null : readFactsForBrief(deps, replaced)
  }
  if (signal.kind === 'turn-end' && (record === null || !isBriefExpected(deps, record, signal))) return null
  if (signal.kind !== 'compact-start') return readFactsForBrief(deps, signal.sessionId, signal.transcriptPath)
  const withinMs = scaleTimeout(AHEAD_MS)
  const end = deps.sources().elapsed() + withinMs
  const path = signal.transcriptPath
  // Facts kept from an earlier read leave little to read, however long the transcript is.
  const kept = path === null ? 0 : keptOffset(keeping.place, signal.sessionId, path)
  if (record?.cursor?.path === path && record!.cursor!.offset - kept > MAX_HOOK_READ_BYTES) return null
  const read = readFacts(deps.sources().readers, signal.agent, path, {
    bytes: kept + MAX_HOOK_READ_BYTES,
    withinMs,
    keeping,
  })
  const remainingMs = end - deps.sources().elapsed()
  const repository = record === null || remainingMs < LEAST_MS ? null : repositoryOf(deps, record, remainingMs)
  return { ...read, repository }
}

/** True when the end of this turn makes, completes or replaces a brief. */
function isBriefExpected(deps: EngineDependencies, record: SessionRecord, { lastAnswer }: Signal): boolean {
  const handoff = openHandoff({ deps, record })
  if (handoff === null) return false
  if (handoff.state === 'requested' || handoff.state === 'checked') return true
  return isReviewOver({ at: deps.now().toISOString() }, handoff) || findBrief(lastAnswer ?? '') !== null
}

/**
 * Reads the facts that a brief of this session is compared with, while a caller waits.
 * Call the function outside of transactions. Null when the session is unknown.
 */
export function readFactsForBrief(deps: EngineDependencies, sessionId: string, path?: string | null): ReadFacts | null {
  const record = deps.store.session(sessionId)
  if (record === null) return null
  const keeping = keptFactsOf(deps, record)
  const read = readFacts(deps.sources().readers, record.agent, path ?? record.transcriptPath, {
    withinMs: scaleTimeout(BRIEF_SOURCES_TIMEOUT_MS),
    keeping,
  })
  return { ...read, sessionId, repository: repositoryOf(deps, record) }
}

/**
 * Guesses the session that this one replaces, if the brief of that session must be completed first.
 * A wrong guess has no effect.
 */
function replacedSession({ store }: EngineDependencies, { pid, seat, cwd }: Signal): string | null {
  const stale = store.openHandoffs().filter((handoff) => handoff.stale || isForking(handoff))
  const sits = (seatId: string): boolean => seat !== null && (seat === seatId || store.seat(seatId)?.name === seat)
  const found =
    stale.find(({ sessionId }) => pid !== null && store.session(sessionId)?.process?.pid === pid) ??
    stale.find(({ seatId }) => sits(seatId)) ??
    stale.find(({ sessionId }) => cwd !== null && store.session(sessionId)?.cwd === cwd)
  return found?.sessionId ?? null
}

/** Before a compaction: archives the transcript, reads its facts and instructs the summariser. */
export function prepareCompaction(context: SignalContext, trigger: 'auto' | 'manual'): void {
  const { deps, record, policy, read } = context
  const planned = keepTranscript(context, 'pre-compact', record.compaction?.idle ? 'idle' : trigger)
  const bytes = planned?.bytes ?? record.cursor?.offset ?? 0
  // Facts of a partly read transcript are not used.
  const whole = read?.whole && read.reached + LONGEST_END >= bytes ? read : null
  const compaction: CompactionRecord = {
    sessionId: record.sessionId,
    startedAt: record.compaction!.startedAt,
    trigger,
    transcriptPath: record.transcriptPath,
    bytes,
    archiveId: planned?.archiveId ?? null,
    sinceLine: whole?.sinceLine ?? 0,
    lines: whole?.lines ?? 0,
    facts:
      whole?.trouble === null ? mergeGivenFacts(factsOfGivenBriefs(context, deps.sources().keeper), whole.facts) : null,
    trouble: whole?.trouble ?? null,
    loss: null,
    first: null,
    second: null,
  }
  deps.store.putCompaction(compaction)
  if (compaction.facts === null) deps.store.afterCommit(() => deps.leaveWork())
  else writeBriefBeforeCompaction(context, briefMaterial({ deps, record, read: whole }))
  if (!maySendText(context) || policy.compaction === 'allow') return
  // A manual compaction keeps these instructions in the conversation and repeats them in requests.
  // Therefore they hold only the configured text.
  context.instructions = summaryInstructions(policy.mustSurvive, trigger === 'manual' ? null : compaction.facts)
}

/**
 * Writes a brief of the state before a compaction.
 * A failure is logged and does not affect the compaction.
 */
export function writeBriefBeforeCompaction(context: CompactionContext, material: BriefMaterial): void {
  // A handoff in progress already has its brief.
  if (!maySendText(context) || openHandoff(context)?.briefId || !material.facts.some(({ kind }) => kind === 'request'))
    return
  try {
    storeUnrequestedBrief(context, material, { reason: 'It was written before a compaction.' })
  } catch (error) {
    context.deps.log('error', 'no brief could be kept', { session: context.record.sessionId, reason: String(error) })
  }
}

/**
 * True when Baton may send text to the agent.
 * In a job only the job's runner sends text to the agent.
 */
function maySendText({ enabled, record: { jobId }, deps }: CompactionContext): boolean {
  return enabled && (jobId === null || deps.store.job(jobId) !== null)
}

function currentCompaction(context: CompactionContext): CompactionRecord | null {
  const { deps, record } = context
  return record.compaction === null ? null : deps.store.compaction(record.sessionId, record.compaction.startedAt)
}

/**
 * Puts back the most important facts with the first request after a compaction.
 * If the summary is known by then, adds the facts that the summary lacks.
 * Which messages the client kept is unknown yet: the last lines before it count as kept.
 */
export function recoverFirst(context: CompactionContext, summary: string | null): void {
  const known = currentCompaction(context)
  if (!known || known.first !== null || !maySendText(context)) return
  const read = known.facts === null ? readSmall(context, known) : null
  const handed = read === null ? [] : factsOfGivenBriefs(context, context.deps.sources().keeper)
  const facts = known.facts ?? (read === null ? null : mergeGivenFacts(handed, read.facts))
  if (facts === null) return
  const { at } = context
  const { sinceLine, lines } = read ?? known
  const first = firstStepOf(context, known, facts)
  // Facts from a handed brief have line 0.
  const tail = Array.from({ length: LIKELY_KEPT }, (_, i) => lines - i).filter((line) => line > 0)
  const loss = summary === null ? null : reportLoss(facts, { summary, kept: '', keptLines: tail, sinceLine })
  const second = loss === null ? null : secondStepOf(facts, loss, first.keys)
  const told = second !== null && second.text !== '' ? second : null
  context.deps.store.putCompaction({
    ...known,
    facts,
    sinceLine,
    lines,
    first: { at, keys: first.keys },
    second: told && { at, keys: told.keys },
  })
  queueRecoverySteps(context, known, 'urgent', first, told)
}

function firstStepOf(
  context: CompactionContext,
  { archiveId }: CompactionRecord,
  facts: readonly Fact[],
): BriefFromFacts {
  return firstRecoveryText(facts, { brief: recoveryBrief(context), archived: archiveId !== null })
}

/** Queues one message for both recovery steps. A step that is null or empty is left out of it. */
function queueRecoverySteps(
  context: CompactionContext,
  known: CompactionRecord,
  mode: DeliveryMode,
  first: BriefFromFacts | null,
  second: BriefFromFacts | null,
): void {
  const steps = [first, second].flatMap((written, i) =>
    written === null || written.text === '' ? [] : [{ ...written, step: (i + 1) as 1 | 2 }],
  )
  if (steps.length === 0) return
  const text = steps.map((one) => one.text).join('\n\n')
  const told = steps.map(({ step, keys }) => ({ step, facts: keys.length }))
  queueRecovery(context, known, mode, text, told)
}

function secondStepOf(facts: readonly Fact[], loss: LossReport, said: readonly string[]): BriefFromFacts {
  const lastRequest = facts.reduce((last, fact) => (fact.kind === 'request' ? Math.max(last, fact.line) : last), 0)
  return secondRecoveryText(loss.lost, said, (fact) => factWeight(fact, lastRequest))
}

function readSmall({ deps, record }: CompactionContext, known: CompactionRecord): ReadFacts | null {
  if (known.trouble !== null || known.bytes > MAX_HOOK_READ_BYTES) return null
  const read = deps.store.readUnlocked(`facts before ${known.startedAt} ${record.sessionId}`, () =>
    readFacts(deps.sources().readers, record.agent, known.transcriptPath, {
      bytes: known.bytes || undefined,
      withinMs: scaleTimeout(LATE_MS),
      keeping: keptFactsOf(deps, record),
    }),
  )
  return read.trouble === null && read.whole && read.lines > 0 ? read : null
}

function queueRecovery(
  context: CompactionContext,
  known: CompactionRecord,
  mode: DeliveryMode,
  text: string,
  steps: NonNullable<Message['recovery']>['steps'],
): void {
  const { record } = context
  if (mode === 'urgent')
    cancelStaleMessages(context, 'the conversation was compacted again', isAboutSession(context, ['recovery']))
  queueMessage(
    context,
    { category: 'recovery', mode, agent_text: text, user_text: null, recovery: { compaction: known.startedAt, steps } },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

/**
 * Compares the facts with the summary of a finished compaction.
 * Reports the facts that neither the summary nor the kept messages hold, and puts them back.
 * The first recovery step put some facts back already; these are not repeated.
 * The client may report the end before the session start: then both steps go with that start.
 */
export function recoverSecond(context: CompactionContext, summary: string | null): void {
  const known = currentCompaction(context)
  if (!known || known.facts === null || known.loss !== null || summary === null) return
  const { deps, at } = context
  const kept = deps.store.readUnlocked(`tail after ${known.startedAt} ${known.sessionId}`, () =>
    keptTail(deps.sources().readers, context, known),
  )
  const loss = reportLoss(known.facts, { summary, ...kept, sinceLine: known.sinceLine })
  const first = known.first === null && maySendText(context) ? firstStepOf(context, known, known.facts) : null
  const said = first?.keys ?? known.first?.keys ?? []
  const { text, keys } = secondStepOf(known.facts, loss, said)
  const tells = text !== '' && known.second === null && maySendText(context)
  const reported: CompactionRecord = {
    ...known,
    // The loss report names the facts that matter.
    facts: [],
    loss,
    first: first === null ? known.first : { at, keys: first.keys },
    second: tells ? { at, keys } : known.second,
  }
  deps.store.putCompaction(reported)
  const back = loss.lost.filter(putBackCheck(reported)).length
  emitLoss(context, reported, back)
  if (maySendText(context) && context.record.jobId === null) reportLossToUser(context, loss, back)
  queueRecoverySteps(context, known, first === null ? 'important' : 'urgent', first, tells ? { text, keys } : null)
}

/** Tells the user how many facts the summary covers. The agent was told before. */
function reportLossToUser(context: SessionContext, loss: LossReport, back: number): void {
  if (loss.lost.length === 0) return
  const { record } = context
  const speaker = speakerFor(record, null)
  const text = lossText(speaker, { total: loss.total, kept: loss.kept, back })
  queueMessage(
    context,
    { category: 'compaction', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

function emitLoss(context: SessionContext, { loss, archiveId, startedAt }: CompactionRecord, back: number): void {
  if (loss === null) return
  emit(context, 'loss_report', {
    compaction_started_at: startedAt,
    archive_id: archiveId,
    facts: loss.total,
    facts_kept: loss.kept,
    by_kind: loss.byKind,
    put_back: back,
    lost: loss.lost.slice(0, MOST_REPORTED).map(({ kind, text, state, line }) => ({ kind, text, state, line })),
    lost_more: Math.max(0, loss.total - loss.kept - MOST_REPORTED),
  })
}

/** Drops the facts kept for a compaction that did not happen, because nothing was lost. */
export function discardKeptFacts({ deps, record }: SessionContext, outcome: string): void {
  const known = record.compaction && deps.store.compaction(record.sessionId, record.compaction.startedAt)
  if (known && known.loss === null)
    deps.store.putCompaction({ ...known, facts: [], trouble: `it did not happen (${outcome})` })
}

/** Returns the messages that the client kept. The compaction's boundary names their lines. */
function keptTail(
  readers: TranscriptReaders,
  { record }: CompactionContext,
  known: CompactionRecord,
): { kept: string; keptLines: number[] } {
  const reader = readers[record.agent]
  const { transcriptPath: path, bytes } = known
  if (path === null || !reader || known.lines === 0) return { kept: '', keptLines: [] }
  const from = { offset: Math.max(0, bytes - TAIL_BEFORE), lines: 0 }
  const texts = new Map<number, string>()
  // Line numbers start where reading began. The last line before the compaction gives the offset.
  const before = reader.conversation(path, { from, to: bytes, onEntry: () => {} }).lines
  let keptLines: number[] | null = null
  reader.conversation(path, {
    from,
    to: bytes + TAIL_BEHIND,
    onEntry(entry) {
      if (keptLines !== null) return
      if (entry.kind !== 'compacted') texts.set(entry.line, `${texts.get(entry.line) ?? ''}${textOf(entry)}\n`)
      else if (entry.line > before) keptLines = entry.keptLines
    },
  })
  const lines: number[] = keptLines ?? []
  return {
    keptLines: lines.map((line) => line + known.lines - before),
    kept: lines.map((line) => texts.get(line) ?? '').join(''),
  }
}

function textOf(entry: Entry): string {
  switch (entry.kind) {
    case 'said':
    case 'returned':
      return entry.text
    case 'called': {
      const { act } = entry
      if (act.type === 'read' || act.type === 'change') return act.path
      if (act.type === 'command') return act.command
      return act.type === 'todos' ? act.todos.map((todo) => todo.text).join('\n') : ''
    }
    default:
      return ''
  }
}

/** Longest part of a brief's text in a recovery message. The facts need the rest of the message. */
const LONGEST = 2_800
const UNUSABLE_STATUSES = new Set<BriefRecord['status']>(['cancelled', 'failed', 'superseded'])

/**
 * Returns the newest brief that was written in this session or handed to it.
 * Without such a brief, returns the one that Baton wrote before the compaction.
 * Null when there is none. A brief whose file is missing or was changed is left out.
 */
function recoveryBrief(context: Pick<SessionContext, 'deps' | 'record'>): RecoveryBrief | null {
  const { deps, record } = context
  const { keeper } = deps.sources()
  const written = deps.store
    .briefs({ sessionId: record.sessionId })
    .filter(({ author, status }) => author !== 'baton' && !UNUSABLE_STATUSES.has(status))
    .map((brief) => ({ brief, since: brief.takenAt, handed: false }))
  const given = deps.store
    .briefsUsedBy(record.sessionId)
    .map((brief) => ({ brief, since: brief.usedAt ?? brief.takenAt, handed: true }))
  const newestFirst = [...written, ...given].sort((a, b) => (a.since < b.since ? 1 : a.since > b.since ? -1 : 0))
  for (const { brief, handed } of newestFirst) {
    const body = keeper.read(brief)
    if (body === null) continue
    const late = keeper.lateFindings(brief).map(({ text }) => `## ${LATE_FINDINGS_TITLE}\n\n${text.trim()}`)
    return { path: brief.path, text: mostNeededParts([body.trim(), ...late].join('\n\n'), LONGEST), handed }
  }
  const own = unrequestedBriefOf(context)
  return own !== null && keeper.read(own) !== null ? { path: own.path, text: '' } : null
}
