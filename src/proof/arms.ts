import { writeBriefByCode } from '../briefs/mechanical-brief.js'
import { firstRecoveryText, reportLoss, secondRecoveryText } from '../compaction/recovery.js'
import type { CompactionEntry, Entry, ToolAction } from '../contract/conversation.js'
import type { Fact, FactKind } from '../contract/fact.js'
import { factWeight } from '../facts/rank.js'

/** The texts that are compared, each of which could stand in the context after a compaction. */
export const ARM_NAMES = ['summary', 'summary and recovery', 'brief', 'last messages'] as const
export type ArmName = (typeof ARM_NAMES)[number]

/** The conversation at the moment of a compaction. */
export interface Boundary {
  compaction: CompactionEntry
  summary: string
  /** All facts so far, most needed first. */
  facts: readonly Fact[]
  /** Line of the previous compaction. 0 when there was none. */
  sinceLine: number
  /** The agent's last text. Null when it wrote none. */
  lastAnswer: string | null
  recent: RecentText
}

export interface Arm {
  name: ArmName
  text: string
  facts: Partial<Record<FactKind, Share>>
}

/** A part of a whole, as counts. */
export interface Share {
  kept: number
  of: number
}

/** Writes the four texts of a compaction and counts the facts that each of them contains. */
export function armsAt(boundary: Boundary): Arm[] {
  const { compaction, summary, facts, sinceLine, lastAnswer, recent } = boundary
  const { keptLines } = compaction
  const kept = recent.ofLines(keptLines)
  const plain = kept === '' ? summary : `${summary}\n\n${kept}`
  const recovery = recoveryText(boundary, kept)
  const brief = writeBriefByCode(facts, null, { lastAnswer })
  const last = recent.end(brief.length)
  const texts: Record<ArmName, { text: string; lines: readonly number[] }> = {
    summary: { text: plain, lines: keptLines },
    'summary and recovery': { text: `${plain}\n\n${recovery}`, lines: keptLines },
    brief: { text: brief, lines: [] },
    'last messages': { text: last.text, lines: last.lines },
  }
  return ARM_NAMES.map((name) => {
    const { text, lines } = texts[name]
    const { byKind } = reportLoss(facts, { summary: text, kept: '', keptLines: lines, sinceLine })
    const shares = Object.entries(byKind).map(([kind, { kept: n, total }]) => [kind, { kept: n, of: total }])
    return { name, text, facts: Object.fromEntries(shares) }
  })
}

/** Returns what Baton puts back after the compaction, as its engine writes both steps. */
function recoveryText({ compaction, summary, facts, sinceLine }: Boundary, kept: string): string {
  const first = firstRecoveryText(facts, { brief: null, archived: true })
  const { lost } = reportLoss(facts, { summary, kept, keptLines: compaction.keptLines, sinceLine })
  const lastRequest = facts.reduce((last, { kind, line }) => (kind === 'request' ? Math.max(last, line) : last), 0)
  const second = secondRecoveryText(lost, first.keys, (fact) => factWeight(fact, lastRequest))
  return `${first.text}\n\n${second.text}`
}

/** Returns what an entry contributes to the context. Empty for a compaction. */
export function textOfEntry(entry: Entry): string {
  if (entry.kind === 'said' || entry.kind === 'returned') return entry.text
  return entry.kind === 'called' ? textOfCall(entry.act) : ''
}

/** Returns the arguments of a call that can name something. */
export function textOfCall(act: ToolAction): string {
  switch (act.type) {
    case 'read':
      return act.path
    case 'change':
      return act.written === undefined ? act.path : `${act.path}\n${act.written}`
    case 'command':
      return act.command
    case 'todos':
      return act.todos.map(({ text }) => text).join('\n')
    case 'ask':
      return act.questions.join('\n')
    case 'delegate':
      return act.task
    default:
      return act.words
  }
}

/** The newest messages of a conversation, within a limit of characters. */
export class RecentText {
  private entries: { line: number; text: string }[] = []
  private length = 0

  constructor(private readonly most: number) {}

  add(line: number, text: string): void {
    if (text.trim() === '') return
    this.entries.push({ line, text })
    this.length += text.length
    // Removing many at once keeps the cost of each entry constant.
    if (this.length < 2 * this.most) return
    let from = this.entries.length
    let length = 0
    while (from > 0 && length < this.most) length += this.entries[--from]!.text.length
    this.entries = this.entries.slice(from)
    this.length = length
  }

  ofLines(lines: readonly number[]): string {
    if (lines.length === 0) return ''
    const wanted = new Set(lines)
    return this.entries.flatMap(({ line, text }) => (wanted.has(line) ? [text] : [])).join('\n\n')
  }

  /** Returns the last messages in at most `most` characters. The oldest one may be cut. */
  end(most: number): { text: string; lines: number[] } {
    const texts: string[] = []
    const lines: number[] = []
    let room = most
    for (const { line, text } of [...this.entries].reverse()) {
      if (room <= 0) break
      const fits = text.length <= room
      texts.push(fits ? text : text.slice(text.length - room))
      if (fits) lines.push(line)
      room -= text.length + 2
    }
    return { text: texts.reverse().join('\n\n'), lines }
  }
}
