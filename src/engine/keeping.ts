import { reportLoss } from '../compaction/loss.js'
import { firstStep, instructions, secondStep } from '../compaction/recovery.js'
import type { Entry } from '../contract/conversation.js'
import type { CompactionRecord } from '../contract/loss.js'
import type { Signal } from '../contract/signal.js'
import { weightOf } from '../facts/rank.js'
import type { Store } from '../store/store.js'
import { type Desk, type Draft, emit } from './draft.js'
import { keepTranscript } from './keep-transcript.js'
import { cancelStale, ofSession, queue } from './messages.js'
import { READ_AT_ONCE, type Readers, type ReadFacts, readFacts } from './read-facts.js'

/** What is needed to put something back: there may be no signal at hand. */
export type KeepDesk = Desk & Pick<Draft, 'enabled'>

/** Up to this size the words of the kept tail are looked at too, not only its lines. */
const READ_TAIL = 4 * 1024 * 1024
const MOST_TOLD = 30
/** An unfinished last line. */
const LONGEST_END = 64 * 1024

/** The facts a compaction may drop are read before the store is locked. */
export function readAhead(readers: Readers, store: Store, signal: Signal): ReadFacts | null {
  if (signal.subagent !== null) return null
  const cursor = store.session(signal.sessionId)?.cursor
  if (cursor?.path === signal.transcriptPath && cursor.offset > READ_AT_ONCE) return null
  return readFacts(readers, signal.agent, signal.transcriptPath, READ_AT_ONCE)
}

/** A compaction begins: everything it may drop is kept, read, and told to the summariser as far as it must survive. */
export function keepBefore(draft: Draft, trigger: 'auto' | 'manual'): void {
  const { parts, record, policy, read } = draft
  const planned = keepTranscript(draft, 'pre-compact', trigger)
  const bytes = planned?.bytes ?? record.cursor?.offset ?? 0
  // A transcript longer than a hook may read is not read half.
  const whole = read !== null && read.reached + LONGEST_END >= bytes ? read : null
  const known: CompactionRecord = {
    sessionId: record.sessionId,
    startedAt: record.compaction!.startedAt,
    trigger,
    transcriptPath: record.transcriptPath,
    bytes,
    archiveId: planned?.archiveId ?? null,
    sinceLine: whole?.sinceLine ?? 0,
    facts: whole?.trouble === null ? whole.facts : null,
    trouble: whole?.trouble ?? null,
    loss: null,
    first: null,
    second: null,
  }
  parts.store.putCompaction(known)
  if (known.facts === null) parts.store.afterCommit(() => parts.leaveWork())
  if (speaks(draft) && policy.compaction !== 'allow') draft.instructions = instructions(policy.mustSurvive, known.facts)
}

/** Baton takes part in what the agent is told. */
function speaks(draft: KeepDesk): boolean {
  return draft.enabled && draft.record.jobId === null
}

function present(draft: KeepDesk): CompactionRecord | null {
  const { parts, record } = draft
  return record.compaction === null ? null : parts.store.compaction(record.sessionId, record.compaction.startedAt)
}

/** With the first request after it, before the client has told the summary: what further work depends on most. */
export function recoverFirst(readers: Readers, draft: KeepDesk): void {
  const known = present(draft)
  if (!known || known.first !== null || !speaks(draft)) return
  const read = known.facts === null ? readSmall(readers, draft, known) : null
  const facts = known.facts ?? read?.facts ?? null
  if (facts === null) return
  const { text, keys } = firstStep(facts, { brief: null })
  const { parts, at } = draft
  parts.store.putCompaction({ ...known, facts, sinceLine: read?.sinceLine ?? known.sinceLine, first: { at, keys } })
  if (text !== '') putBack(draft, known, 1, text, keys.length)
}

function readSmall(readers: Readers, { record }: KeepDesk, known: CompactionRecord): ReadFacts | null {
  if (known.trouble !== null || known.bytes > READ_AT_ONCE) return null
  const read = readFacts(readers, record.agent, known.transcriptPath, known.bytes || undefined)
  return read.trouble === null ? read : null
}

function putBack(draft: KeepDesk, known: CompactionRecord, step: 1 | 2, text: string, facts: number): void {
  const { record } = draft
  if (step === 1) cancelStale(draft, 'the conversation was compacted again', ofSession(draft, ['recovery']))
  queue(
    draft,
    {
      category: 'recovery',
      mode: step === 1 ? 'urgent' : 'important',
      agent_text: text,
      user_text: null,
      recovery: { compaction: known.startedAt, step, facts },
    },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

/** It is over and its summary is known: what neither summary nor kept tail carries is told, and put back where the first step did not. */
export function recoverSecond(readers: Readers, draft: KeepDesk, summary: string | null): void {
  const known = present(draft)
  if (!known || known.facts === null || known.loss !== null || summary === null) return
  const { parts, at } = draft
  const kept = keptTail(readers, draft, known)
  const loss = reportLoss(known.facts, { summary, ...kept, sinceLine: known.sinceLine })
  const lastRequest = known.facts.reduce((last, fact) => (fact.kind === 'request' ? Math.max(last, fact.line) : last), 0)
  const { text, keys } = secondStep(loss.lost, known.first?.keys ?? [], (fact) => weightOf(fact, lastRequest))
  const tells = text !== '' && speaks(draft)
  parts.store.putCompaction({ ...known, loss, second: tells ? { at, keys } : null })
  emitLoss(draft, { ...known, loss })
  if (tells) putBack(draft, known, 2, text, keys.length)
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

/** What the agent went on seeing: the boundary names the lines, which stand before it. */
function keptTail(readers: Readers, { record }: KeepDesk, known: CompactionRecord): { kept: string; keptLines: number[] } {
  const reader = readers[record.agent]
  if (known.transcriptPath === null || !reader || known.bytes > READ_AT_ONCE) return { kept: '', keptLines: [] }
  let keptLines: number[] = []
  const texts = new Map<number, string>()
  reader.conversation(known.transcriptPath, {
    onEntry(entry) {
      if (entry.kind === 'compacted') keptLines = entry.keptLines
      else if (known.bytes <= READ_TAIL) texts.set(entry.line, `${texts.get(entry.line) ?? ''}${wordsOf(entry)}\n`)
    },
  })
  return { keptLines, kept: keptLines.map((line) => texts.get(line) ?? '').join('') }
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
