import { findBrief } from '../../briefs/find-brief.js'
import { essentialsOf } from '../../briefs/resume-text.js'
import { LATE_TITLE } from '../../briefs/sections.js'
import type { WrittenText } from '../../compaction/brief.js'
import {
  firstRecoveryText,
  type RecoveryBrief,
  reportLoss,
  secondRecoveryText,
  summaryInstructions,
} from '../../compaction/recovery.js'
import type { Entry } from '../../contract/conversation.js'
import type { Fact } from '../../contract/fact.js'
import type { Mode } from '../../contract/level.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { CompactionRecord, LossReport } from '../../contract/records/compaction.js'
import type { Message } from '../../contract/records/message.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { Signal } from '../../contract/signal.js'
import { isPutBack } from '../../facts/key-of.js'
import { weightOf } from '../../facts/rank.js'
import { patience } from '../../lib/patience.js'
import { lossText } from '../../policy/texts.js'
import { type EngineDependencies, emit, type SessionContext, type SignalContext } from '../context.js'
import { isForking, openHandoff } from '../handoff/handoffs.js'
import { type BriefMaterial, keepOwnBrief, keptBrief } from '../handoff/make-brief.js'
import { isReviewOver } from '../handoff/review.js'
import { cancelStale, ofSession, queue } from '../messages/messages.js'
import { speakerFor } from '../messages/session-speaker.js'
import { briefMaterial, keptFactsOf, MATERIAL_MS, repositoryOf } from './brief-sources.js'
import { handedFacts, withHanded } from './handed-facts.js'
import { keepTranscript } from './keep-transcript.js'
import { keptOffset } from './kept-facts.js'
import { READ_AT_ONCE, type Readers, type ReadFacts, readFacts } from './read-facts.js'

/** What is needed to put something back: there may be no signal at hand. */
export type CompactionContext = SessionContext & Pick<SignalContext, 'enabled'>

/** How long a compaction waits for its transcript to be read; inside a transaction, how long the store does. */
const AHEAD_MS = 500
const LATE_MS = 150
/** In less a repository is not looked at. */
const LEAST_MS = 30
/** Where what a client leaves standing begins at the earliest, before a compaction, and its boundary at the latest, behind it. */
const TAIL_BEFORE = 4 * 1024 * 1024
const TAIL_BEHIND = 4 * 1024 * 1024
const MOST_TOLD = 30
/** Lines before a compaction that clients mostly leave standing. */
const LIKELY_KEPT = 12
/** An unfinished last line. */
const LONGEST_END = 64 * 1024

/**
 * The facts a compaction may drop, or the brief of a turn's end is compared with, are read before the store is locked, and the repository
 * with them; at the start of a fresh session those of the one it follows.
 */
export function readAhead(deps: EngineDependencies, signal: Signal): ReadFacts | null {
  if (signal.subagent !== null) return null
  const record = deps.store.session(signal.sessionId)
  const keeping = keptFactsOf(deps, signal)
  if (signal.kind === 'session-start') {
    const replaced = replacedSession(deps, signal)
    return replaced === null ? null : readForBrief(deps, replaced)
  }
  if (signal.kind === 'turn-end' && (record === null || !isCompared(deps, record, signal))) return null
  if (signal.kind !== 'compact-start') return readForBrief(deps, signal.sessionId, signal.transcriptPath)
  const withinMs = patience(AHEAD_MS)
  const end = deps.sources().elapsed() + withinMs
  const path = signal.transcriptPath
  // What was kept up to date leaves little to read, however long the transcript is.
  const kept = path === null ? 0 : keptOffset(keeping.place, signal.sessionId, path)
  if (record?.cursor?.path === path && record!.cursor!.offset - kept > READ_AT_ONCE) return null
  const read = readFacts(deps.sources().readers, signal.agent, path, { bytes: kept + READ_AT_ONCE, withinMs, keeping })
  const remainingMs = end - deps.sources().elapsed()
  const repository = record === null || remainingMs < LEAST_MS ? null : repositoryOf(deps, record, remainingMs)
  return { ...read, repository }
}

/** At the end of this turn a brief is made, completed or replaced. */
function isCompared(deps: EngineDependencies, record: SessionRecord, { lastAnswer }: Signal): boolean {
  const handoff = openHandoff({ deps, record })
  if (handoff === null) return false
  if (handoff.state === 'requested' || handoff.state === 'checked') return true
  return isReviewOver({ at: deps.now().toISOString() }, handoff) || findBrief(lastAnswer ?? '') !== null
}

/** What a brief of this session is compared with, for somebody who waits. Outside of transactions. null: it is not known. */
export function readForBrief(deps: EngineDependencies, sessionId: string, path?: string | null): ReadFacts | null {
  const record = deps.store.session(sessionId)
  if (record === null) return null
  const keeping = keptFactsOf(deps, record)
  const read = readFacts(deps.sources().readers, record.agent, path ?? record.transcriptPath, {
    withinMs: patience(MATERIAL_MS),
    keeping,
  })
  return { ...read, sessionId, repository: repositoryOf(deps, record) }
}

/** The session whose place this one probably takes, if its brief has to be completed first. Of a wrong guess no use is made. */
function replacedSession({ store }: EngineDependencies, { pid, seat, cwd }: Signal): string | null {
  const stale = store.openHandoffs().filter((handoff) => handoff.stale || isForking(handoff))
  const sits = (seatId: string): boolean => seat !== null && (seat === seatId || store.seat(seatId)?.name === seat)
  const found =
    stale.find(({ sessionId }) => pid !== null && store.session(sessionId)?.process?.pid === pid) ??
    stale.find(({ seatId }) => sits(seatId)) ??
    stale.find(({ sessionId }) => cwd !== null && store.session(sessionId)?.cwd === cwd)
  return found?.sessionId ?? null
}

/** A compaction begins: everything it may drop is kept, read, and told to the summariser as far as it must survive. */
export function keepBefore(context: SignalContext, trigger: 'auto' | 'manual'): void {
  const { deps, record, policy, read } = context
  const planned = keepTranscript(context, 'pre-compact', record.compaction?.idle ? 'idle' : trigger)
  const bytes = planned?.bytes ?? record.cursor?.offset ?? 0
  // A transcript longer than a hook may read is not read half.
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
    facts: whole?.trouble === null ? withHanded(handedFacts(context, deps.sources().keeper), whole.facts) : null,
    trouble: whole?.trouble ?? null,
    loss: null,
    first: null,
    second: null,
  }
  deps.store.putCompaction(compaction)
  if (compaction.facts === null) deps.store.afterCommit(() => deps.leaveWork())
  else briefBefore(context, briefMaterial({ deps, record, read: whole }))
  if (!mayTell(context) || policy.compaction === 'allow') return
  // By hand, the client keeps our words in the conversation and sends them with every later request: then only what was configured.
  context.instructions = summaryInstructions(policy.mustSurvive, trigger === 'manual' ? null : compaction.facts)
}

/** What a fresh session could work from, as things stood before a compaction. A trouble with it is no trouble of the compaction. */
export function briefBefore(context: CompactionContext, material: BriefMaterial): void {
  // A handoff that is under way has its brief.
  if (!mayTell(context) || openHandoff(context)?.briefId || !material.facts.some(({ kind }) => kind === 'request'))
    return
  try {
    keepOwnBrief(context, material, { reason: 'It was made before a compaction.' })
  } catch (error) {
    context.deps.log('error', 'no brief could be kept', { session: context.record.sessionId, reason: String(error) })
  }
}

/** Baton takes part in what the agent is told. In a job it is left for its runner (see `takeJobMessages`). */
function mayTell({ enabled, record: { jobId }, deps }: CompactionContext): boolean {
  return enabled && (jobId === null || deps.store.job(jobId) !== null)
}

function currentCompaction(context: CompactionContext): CompactionRecord | null {
  const { deps, record } = context
  return record.compaction === null ? null : deps.store.compaction(record.sessionId, record.compaction.startedAt)
}

/**
 * With the first request after it: what further work depends on most. Where the summary is known by then, what it lacks goes along;
 * the kept tail is not known yet, so the last lines before the compaction count as kept.
 */
export function recoverFirst(context: CompactionContext, summary: string | null): void {
  const known = currentCompaction(context)
  if (!known || known.first !== null || !mayTell(context)) return
  const read = known.facts === null ? readSmall(context, known) : null
  const handed = read === null ? [] : handedFacts(context, context.deps.sources().keeper)
  const facts = known.facts ?? (read === null ? null : withHanded(handed, read.facts))
  if (facts === null) return
  const { at } = context
  const { sinceLine, lines } = read ?? known
  const first = firstStepOf(context, known, facts)
  // Line 0 is that of facts from a handed brief.
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
  putBackSteps(context, known, 'urgent', first, told)
}

function firstStepOf(context: CompactionContext, { archiveId }: CompactionRecord, facts: readonly Fact[]): WrittenText {
  return firstRecoveryText(facts, { brief: briefToTell(context), archived: archiveId !== null })
}

/** One message for the steps there are; null or without text: that step has nothing to say. */
function putBackSteps(
  context: CompactionContext,
  known: CompactionRecord,
  mode: Mode,
  first: WrittenText | null,
  second: WrittenText | null,
): void {
  const steps = [first, second].flatMap((written, i) =>
    written === null || written.text === '' ? [] : [{ ...written, step: (i + 1) as 1 | 2 }],
  )
  if (steps.length === 0) return
  const text = steps.map((one) => one.text).join('\n\n')
  const told = steps.map(({ step, keys }) => ({ step, facts: keys.length }))
  putBack(context, known, mode, text, told)
}

function secondStepOf(facts: readonly Fact[], loss: LossReport, said: readonly string[]): WrittenText {
  const lastRequest = facts.reduce((last, fact) => (fact.kind === 'request' ? Math.max(last, fact.line) : last), 0)
  return secondRecoveryText(loss.lost, said, (fact) => weightOf(fact, lastRequest))
}

function readSmall({ deps, record }: CompactionContext, known: CompactionRecord): ReadFacts | null {
  if (known.trouble !== null || known.bytes > READ_AT_ONCE) return null
  const read = deps.store.readUnlocked(`facts before ${known.startedAt} ${record.sessionId}`, () =>
    readFacts(deps.sources().readers, record.agent, known.transcriptPath, {
      bytes: known.bytes || undefined,
      withinMs: patience(LATE_MS),
      keeping: keptFactsOf(deps, record),
    }),
  )
  return read.trouble === null && read.whole && read.lines > 0 ? read : null
}

function putBack(
  context: CompactionContext,
  known: CompactionRecord,
  mode: Mode,
  text: string,
  steps: NonNullable<Message['recovery']>['steps'],
): void {
  const { record } = context
  if (mode === 'urgent') cancelStale(context, 'the conversation was compacted again', ofSession(context, ['recovery']))
  queue(
    context,
    { category: 'recovery', mode, agent_text: text, user_text: null, recovery: { compaction: known.startedAt, steps } },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

/**
 * The compaction is over and its summary is known: what neither summary nor kept tail carries is
 * reported, and put back where it was not said yet. If the end is told before the session start that
 * follows it, both steps are queued together and given with that start.
 */
export function recoverSecond(context: CompactionContext, summary: string | null): void {
  const known = currentCompaction(context)
  if (!known || known.facts === null || known.loss !== null || summary === null) return
  const { deps, at } = context
  const kept = deps.store.readUnlocked(`tail after ${known.startedAt} ${known.sessionId}`, () =>
    keptTail(deps.sources().readers, context, known),
  )
  const loss = reportLoss(known.facts, { summary, ...kept, sinceLine: known.sinceLine })
  const first = known.first === null && mayTell(context) ? firstStepOf(context, known, known.facts) : null
  const said = first?.keys ?? known.first?.keys ?? []
  const { text, keys } = secondStepOf(known.facts, loss, said)
  const tells = text !== '' && known.second === null && mayTell(context)
  const reported: CompactionRecord = {
    ...known,
    // The report names what matters of them.
    facts: [],
    loss,
    first: first === null ? known.first : { at, keys: first.keys },
    second: tells ? { at, keys } : known.second,
  }
  deps.store.putCompaction(reported)
  const back = loss.lost.filter(isPutBack(reported)).length
  emitLoss(context, reported, back)
  if (mayTell(context) && context.record.jobId === null) tellLoss(context, loss, back)
  putBackSteps(context, known, first === null ? 'important' : 'urgent', first, tells ? { text, keys } : null)
}

/** The person is told what the agent was told: how much the summary carries. */
function tellLoss(context: SessionContext, loss: LossReport, back: number): void {
  if (loss.lost.length === 0) return
  const { record } = context
  const speaker = speakerFor(record, null)
  const text = lossText(speaker, { total: loss.total, kept: loss.kept, back })
  queue(
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
    lost: loss.lost.slice(0, MOST_TOLD).map(({ kind, text, state, line }) => ({ kind, text, state, line })),
    lost_more: Math.max(0, loss.total - loss.kept - MOST_TOLD),
  })
}

/** It did not come about: nothing was lost, and its facts need not be kept. */
export function discardKeptFacts({ deps, record }: SessionContext, outcome: string): void {
  const known = record.compaction && deps.store.compaction(record.sessionId, record.compaction.startedAt)
  if (known && known.loss === null)
    deps.store.putCompaction({ ...known, facts: [], trouble: `it did not come about (${outcome})` })
}

/** What the agent went on seeing: the boundary names the lines, which stand shortly before it. */
function keptTail(
  readers: Readers,
  { record }: CompactionContext,
  known: CompactionRecord,
): { kept: string; keptLines: number[] } {
  const reader = readers[record.agent]
  const { transcriptPath: path, bytes } = known
  if (path === null || !reader || known.lines === 0) return { kept: '', keptLines: [] }
  const from = { offset: Math.max(0, bytes - TAIL_BEFORE), lines: 0 }
  const texts = new Map<number, string>()
  // Begun within the file, lines are counted from there: the last one before the compaction tells by how many they differ.
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

/** The rest of an answer belongs to the facts. */
const LONGEST = 2_800
const OUT = new Set<BriefRecord['status']>(['cancelled', 'failed', 'superseded'])

/**
 * Returns the newest brief that was written in this session or handed to it, else the one Baton made
 * before the compaction; null when there is none. A file that is gone or was changed is left out.
 */
function briefToTell(context: Pick<SessionContext, 'deps' | 'record'>): RecoveryBrief | null {
  const { deps, record } = context
  const { keeper } = deps.sources()
  const written = deps.store
    .briefs({ sessionId: record.sessionId })
    .filter(({ author, status }) => author !== 'baton' && !OUT.has(status))
    .map((brief) => ({ brief, since: brief.takenAt, handed: false }))
  const given = deps.store
    .briefsUsedBy(record.sessionId)
    .map((brief) => ({ brief, since: brief.usedAt ?? brief.takenAt, handed: true }))
  const newestFirst = [...written, ...given].sort((a, b) => (a.since < b.since ? 1 : a.since > b.since ? -1 : 0))
  for (const { brief, handed } of newestFirst) {
    const body = keeper.read(brief)
    if (body === null) continue
    const late = keeper.late(brief).map(({ text }) => `## ${LATE_TITLE}\n\n${text.trim()}`)
    return { path: brief.path, text: essentialsOf([body.trim(), ...late].join('\n\n'), LONGEST), handed }
  }
  const own = keptBrief(context)
  return own !== null && keeper.read(own) !== null ? { path: own.path, text: '' } : null
}
