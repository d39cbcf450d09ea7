import type { Written } from '../compaction/brief.js'
import { reportLoss } from '../compaction/loss.js'
import { firstStep, instructions, secondStep } from '../compaction/recovery.js'
import type { Entry } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import type { Mode } from '../contract/level.js'
import type { CompactionRecord, LossReport } from '../contract/loss.js'
import type { Message } from '../contract/message.js'
import type { SessionRecord } from '../contract/record.js'
import type { Signal } from '../contract/signal.js'
import { keyOf } from '../facts/key-of.js'
import { weightOf } from '../facts/rank.js'
import { findBrief } from '../handoff/find-brief.js'
import { lossText } from '../policy/texts.js'
import { briefToTell } from './brief-to-tell.js'
import { type Desk, type Draft, emit, type Parts } from './draft.js'
import { isForking, openHandoff } from './handoffs.js'
import { keepTranscript } from './keep-transcript.js'
import { keptOffset } from './kept-facts.js'
import { GROUND_MS, groundFor, type Known, keptOf, repositoryOf } from './known.js'
import { type BriefGround, keepOwnBrief } from './make-brief.js'
import { cancelStale, ofSession, queue } from './messages.js'
import { READ_AT_ONCE, type Readers, type ReadFacts, readFacts } from './read-facts.js'
import { isReviewOver } from './review.js'

/** What is needed to put something back: there may be no signal at hand. */
export type KeepDesk = Desk & Pick<Draft, 'enabled'>

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
export function readAhead(known: Known, parts: Parts, signal: Signal): ReadFacts | null {
  if (signal.subagent !== null) return null
  const record = parts.store.session(signal.sessionId)
  const { readers } = known
  const keeping = keptOf(known, parts, signal)
  if (signal.kind === 'session-start') {
    const left = leftBy(parts, signal)
    return left === null ? null : readLeft(known, parts, left)
  }
  if (signal.kind === 'turn-end' && (record === null || !isCompared(parts, record, signal))) return null
  if (signal.kind !== 'compact-start') return readLeft(known, parts, signal.sessionId, signal.transcriptPath)
  const end = known.elapsed() + AHEAD_MS
  const path = signal.transcriptPath
  // What was kept up to date leaves little to read, however long the transcript is.
  const kept = path === null ? 0 : keptOffset(keeping.place, signal.sessionId, path)
  if (record?.cursor?.path === path && record!.cursor!.offset - kept > READ_AT_ONCE) return null
  const read = readFacts(readers, signal.agent, path, { bytes: kept + READ_AT_ONCE, withinMs: AHEAD_MS, keeping })
  const left = end - known.elapsed()
  const repository = record === null || left < LEAST_MS ? null : repositoryOf(known, record, left)
  return { ...read, repository }
}

/** At the end of this turn a brief is made, completed or replaced. */
function isCompared(parts: Parts, record: SessionRecord, { lastAnswer }: Signal): boolean {
  const handoff = openHandoff({ parts, record })
  if (handoff === null) return false
  if (handoff.state === 'requested' || handoff.state === 'checked') return true
  return isReviewOver({ at: parts.now().toISOString() }, handoff) || findBrief(lastAnswer ?? '') !== null
}

/** What a brief of this session is compared with, for somebody who waits. Outside of transactions. null: it is not known. */
export function readLeft(known: Known, parts: Parts, sessionId: string, path?: string | null): ReadFacts | null {
  const record = parts.store.session(sessionId)
  if (record === null) return null
  const keeping = keptOf(known, parts, record)
  const read = readFacts(known.readers, record.agent, path ?? record.transcriptPath, { withinMs: GROUND_MS, keeping })
  return { ...read, sessionId, repository: repositoryOf(known, record) }
}

/** The session whose place this one probably takes, if its brief has to be completed first. Of a wrong guess no use is made. */
function leftBy({ store }: Parts, { pid, seat, cwd }: Signal): string | null {
  const stale = store.openHandoffs().filter((handoff) => handoff.stale || isForking(handoff))
  const sits = (seatId: string): boolean => seat !== null && (seat === seatId || store.seat(seatId)?.name === seat)
  const found =
    stale.find(({ sessionId }) => pid !== null && store.session(sessionId)?.process?.pid === pid) ??
    stale.find(({ seatId }) => sits(seatId)) ??
    stale.find(({ sessionId }) => cwd !== null && store.session(sessionId)?.cwd === cwd)
  return found?.sessionId ?? null
}

/** A compaction begins: everything it may drop is kept, read, and told to the summariser as far as it must survive. */
export function keepBefore(known: Known, draft: Draft, trigger: 'auto' | 'manual'): void {
  const { parts, record, policy, read } = draft
  const planned = keepTranscript(draft, 'pre-compact', trigger)
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
    facts: whole?.trouble === null ? whole.facts : null,
    trouble: whole?.trouble ?? null,
    loss: null,
    first: null,
    second: null,
  }
  parts.store.putCompaction(compaction)
  if (compaction.facts === null) parts.store.afterCommit(() => parts.leaveWork())
  else briefBefore(draft, groundFor(known, { parts, record, read: whole }))
  if (!speaks(draft) || policy.compaction === 'allow') return
  // By hand, the client keeps our words in the conversation and sends them with every later request: then only what was configured.
  draft.instructions = instructions(policy.mustSurvive, trigger === 'manual' ? null : compaction.facts)
}

/** What a fresh session could work from, as things stood before a compaction. A trouble with it is no trouble of the compaction. */
export function briefBefore(desk: KeepDesk, ground: BriefGround): void {
  // A handoff that is under way has its brief.
  if (!speaks(desk) || openHandoff(desk)?.briefId || !ground.facts.some(({ kind }) => kind === 'request')) return
  try {
    keepOwnBrief(desk, ground, { reason: 'It was made before a compaction.' })
  } catch (error) {
    desk.parts.log('error', 'no brief could be kept', { session: desk.record.sessionId, reason: String(error) })
  }
}

/** Baton takes part in what the agent is told. In a job it is left for its runner (see `said-to-job.ts`). */
function speaks({ enabled, record: { jobId }, parts }: KeepDesk): boolean {
  return enabled && (jobId === null || parts.store.job(jobId) !== null)
}

function present(draft: KeepDesk): CompactionRecord | null {
  const { parts, record } = draft
  return record.compaction === null ? null : parts.store.compaction(record.sessionId, record.compaction.startedAt)
}

/**
 * With the first request after it: what further work depends on most. Where the summary is known by then, what it lacks goes along;
 * the kept tail is not known yet, so the last lines before the compaction count as kept.
 */
export function recoverFirst(around: Known, draft: KeepDesk, summary: string | null): void {
  const known = present(draft)
  if (!known || known.first !== null || !speaks(draft)) return
  const read = known.facts === null ? readSmall(around, draft, known) : null
  const facts = known.facts ?? read?.facts ?? null
  if (facts === null) return
  const { at } = draft
  const { sinceLine, lines } = read ?? known
  const first = firstStep(facts, { brief: briefToTell(around, draft), archived: known.archiveId !== null })
  const tail = Array.from({ length: LIKELY_KEPT }, (_, i) => lines - i)
  const loss = summary === null ? null : reportLoss(facts, { summary, kept: '', keptLines: tail, sinceLine })
  const second = loss === null ? null : missing(facts, loss, first.keys)
  const told = second !== null && second.text !== '' ? { at, keys: second.keys } : null
  draft.parts.store.putCompaction({ ...known, facts, sinceLine, lines, first: { at, keys: first.keys }, second: told })
  const text = [first.text, told === null ? '' : second!.text].filter((part) => part !== '').join('\n\n')
  const steps = [
    ...(first.text === '' ? [] : [{ step: 1 as const, facts: first.keys.length }]),
    ...(told === null ? [] : [{ step: 2 as const, facts: told.keys.length }]),
  ]
  if (text !== '') putBack(draft, known, 'urgent', text, steps)
}

function missing(facts: readonly Fact[], loss: LossReport, said: readonly string[]): Written {
  const lastRequest = facts.reduce((last, fact) => (fact.kind === 'request' ? Math.max(last, fact.line) : last), 0)
  return secondStep(loss.lost, said, (fact) => weightOf(fact, lastRequest))
}

function readSmall(around: Known, { parts, record }: KeepDesk, known: CompactionRecord): ReadFacts | null {
  if (known.trouble !== null || known.bytes > READ_AT_ONCE) return null
  const read = readFacts(around.readers, record.agent, known.transcriptPath, {
    bytes: known.bytes || undefined,
    withinMs: LATE_MS,
    keeping: keptOf(around, parts, record),
  })
  return read.trouble === null && read.whole && read.lines > 0 ? read : null
}

function putBack(
  draft: KeepDesk,
  known: CompactionRecord,
  mode: Mode,
  text: string,
  steps: NonNullable<Message['recovery']>['steps'],
): void {
  const { record } = draft
  if (mode === 'urgent') cancelStale(draft, 'the conversation was compacted again', ofSession(draft, ['recovery']))
  queue(
    draft,
    { category: 'recovery', mode, agent_text: text, user_text: null, recovery: { compaction: known.startedAt, steps } },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

/** It is over and its summary is known: what neither summary nor kept tail carries is told, and put back where nobody has yet. */
export function recoverSecond(readers: Readers, draft: KeepDesk, summary: string | null): void {
  const known = present(draft)
  if (!known || known.facts === null || known.loss !== null || summary === null) return
  const { parts, at } = draft
  const kept = keptTail(readers, draft, known)
  const loss = reportLoss(known.facts, { summary, ...kept, sinceLine: known.sinceLine })
  const { text, keys } = missing(known.facts, loss, known.first?.keys ?? [])
  const tells = text !== '' && known.second === null && speaks(draft)
  // The report names what matters of them.
  parts.store.putCompaction({ ...known, facts: [], loss, second: tells ? { at, keys } : known.second })
  emitLoss(draft, { ...known, loss })
  if (speaks(draft) && draft.record.jobId === null)
    tellLoss(draft, loss, [...(known.first?.keys ?? []), ...(tells ? keys : (known.second?.keys ?? []))])
  if (tells) putBack(draft, known, 'important', text, [{ step: 2, facts: keys.length }])
}

/** The person is told what the agent was told: how much the summary carries. */
function tellLoss(desk: Desk, loss: LossReport, said: readonly string[]): void {
  if (loss.lost.length === 0) return
  const { record } = desk
  const known = new Set(said)
  const back = loss.lost.filter((fact) => known.has(keyOf(fact))).length
  const speaker = { sessionId: record.sessionId, seatName: null, project: record.project }
  const text = lossText(speaker, { total: loss.total, kept: loss.kept, back })
  queue(
    desk,
    { category: 'compaction', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

function emitLoss(desk: Desk, { loss, archiveId, startedAt }: CompactionRecord): void {
  if (loss === null) return
  emit(desk, 'loss_report', {
    compaction_started_at: startedAt,
    archive_id: archiveId,
    facts: loss.total,
    facts_kept: loss.kept,
    by_kind: loss.byKind,
    lost: loss.lost.slice(0, MOST_TOLD).map(({ kind, text, state, line }) => ({ kind, text, state, line })),
    lost_more: Math.max(0, loss.total - loss.kept - MOST_TOLD),
  })
}

/** It did not come about: nothing was lost, and its facts need not be kept. */
export function keptForNothing({ parts, record }: Desk, outcome: string): void {
  const known = record.compaction && parts.store.compaction(record.sessionId, record.compaction.startedAt)
  if (known && known.loss === null)
    parts.store.putCompaction({ ...known, facts: [], trouble: `it did not come about (${outcome})` })
}

/** What the agent went on seeing: the boundary names the lines, which stand shortly before it. */
function keptTail(readers: Readers, { record }: KeepDesk, known: CompactionRecord): { kept: string; keptLines: number[] } {
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
      if (entry.kind !== 'compacted') texts.set(entry.line, `${texts.get(entry.line) ?? ''}${wordsOf(entry)}\n`)
      else if (entry.line > before) keptLines = entry.keptLines
    },
  })
  const lines: number[] = keptLines ?? []
  return {
    keptLines: lines.map((line) => line + known.lines - before),
    kept: lines.map((line) => texts.get(line) ?? '').join(''),
  }
}

function wordsOf(entry: Entry): string {
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
