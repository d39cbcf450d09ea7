import { createHash } from 'node:crypto'
import type { TranscriptReader } from '../agents/transcript-reader.js'
import type { CompactionEntry, Entry } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { startFacts } from '../facts/facts.js'
import { resolvePath } from '../facts/paths.js'
import { rankFacts } from '../facts/rank.js'
import { type Arm, type ArmName, armsAt, RecentText, textOfEntry } from './arms.js'
import { type WorkAfterCompaction, watchWorkAfter } from './calls-after.js'
import { eachToken, hasToken } from './specific-tokens.js'

/** Figures of one compaction. They quote nothing of the conversation. */
export interface ReplayedCompaction {
  /** Hash of time and summary, the same in every copy of the transcript. */
  id: string
  /** Time of the compaction in milliseconds. Null when the transcript has none. */
  at: number | null
  /** Calls of the agent after the compaction, up to the limit of the window. */
  calls: number
  /** Number of tokens that the agent needed from the time before. */
  needed: number
  rereads: number
  reruns: number
  /** The arm whose text the agent really had. */
  happened: ArmName
  arms: Record<ArmName, ReplayedArm>
}

export interface ReplayedArm {
  characters: number
  /** Number of needed tokens that the text contains. */
  kept: number
  facts: Arm['facts']
  /** Number of rereads and reruns whose used tokens all stand in the text. */
  avoidable: number
}

export interface ReplayedTranscript {
  compactions: ReplayedCompaction[]
  /** Number of compactions without a summary, which cannot be replayed. */
  withoutSummary: number
  /** Reason why the transcript could not be read. Null when it was. */
  problem: string | null
}

/** Characters of the newest messages that are held for the kept tail. */
const MOST_RECENT = 2_000_000
/** Most facts that are compared, as in the records of the engine. */
const MOST_FACTS = 1_500

/**
 * Replays every compaction of a transcript. The file is read twice, so memory does not grow with
 * it: first for the tokens that the agent used after each compaction, then for the time before.
 */
export function replayTranscript(reader: TranscriptReader, path: string): ReplayedTranscript {
  const watched = watchWorkAfter()
  const { problem } = reader.conversation(path, { onEntry: watched.add })
  const { work, root } = watched.end()
  const told = work.filter(({ compaction }) => compaction.summary !== null)
  if (problem !== null || told.length === 0)
    return { compactions: [], withoutSummary: work.length - told.length, problem }
  const compactions = replayBoundaries(reader, path, told, root)
  return { compactions, withoutSummary: work.length - told.length, problem: null }
}

/**
 * Files from which the agent learned a token, two at most. Null stands for a prompt or a command.
 */
type Sources = (string | null)[]

function replayBoundaries(
  reader: TranscriptReader,
  path: string,
  work: readonly WorkAfterCompaction[],
  root: string | null,
): ReplayedCompaction[] {
  const wanted = new Map<string, Sources>()
  for (const { used } of work) for (const token of used.keys()) wanted.set(token, [])
  const byLine = new Map(work.map((one) => [one.compaction.line, one]))
  const lastLine = Math.max(...byLine.keys())
  const facts = startFacts()
  const recent = new RecentText(MOST_RECENT)
  const fileOfCall = new Map<string, string>()
  const replayed: ReplayedCompaction[] = []
  let sinceLine = 0
  let lastAnswer: string | null = null

  const introduce = (text: string, file: string | null): void =>
    eachToken(text, root, (token) => {
      const known = wanted.get(token)
      if (known !== undefined && known.length < 2 && !known.includes(file)) known.push(file)
    })

  const add = (entry: Entry): void => {
    if (entry.line > lastLine) return
    if (entry.kind === 'compacted') {
      const after = byLine.get(entry.line)
      if (after !== undefined)
        replayed.push(
          judge(after, wanted, {
            compaction: entry,
            facts: rankFacts(facts.facts()).slice(0, MOST_FACTS),
            sinceLine,
            lastAnswer,
            recent,
          }),
        )
      sinceLine = entry.line
    } else if (entry.kind === 'said') {
      if (entry.by === 'agent') lastAnswer = entry.text
      else introduce(entry.text, null)
    } else if (entry.kind === 'called') {
      const { act, cwd } = entry
      if (act.type === 'read' || act.type === 'change') fileOfCall.set(entry.callId, resolvePath(act.path, cwd ?? root))
    } else {
      introduce(entry.text, fileOfCall.get(entry.callId) ?? null)
      fileOfCall.delete(entry.callId)
    }
    recent.add(entry.line, textOfEntry(entry))
    facts.add(entry)
  }
  reader.conversation(path, { onEntry: add })
  return replayed
}

interface Before {
  compaction: CompactionEntry
  facts: Fact[]
  sinceLine: number
  lastAnswer: string | null
  recent: RecentText
}

function judge(
  { calls, used, repeated, recovered }: WorkAfterCompaction,
  wanted: ReadonlyMap<string, Sources>,
  before: Before,
): ReplayedCompaction {
  const { compaction } = before
  const summary = compaction.summary ?? ''
  const needed = [...used]
    .filter(([token, file]) => wanted.get(token)!.some((source) => file === null || source !== file))
    .map(([token]) => token)
  const judged = armsAt({ ...before, summary }).map(({ name, text, facts }): [ArmName, ReplayedArm] => {
    const has = remember((token) => hasToken(text, token))
    return [
      name,
      {
        characters: text.length,
        kept: needed.filter(has).length,
        facts,
        avoidable: repeated.filter((one) => one.used.size > 0 && [...one.used].every(has)).length,
      },
    ]
  })
  return {
    id: createHash('sha256').update(`${compaction.at}\n${summary}`).digest('hex').slice(0, 16),
    at: compaction.at,
    calls,
    needed: needed.length,
    rereads: repeated.filter(({ kind }) => kind === 'reread').length,
    reruns: repeated.filter(({ kind }) => kind === 'rerun').length,
    happened: recovered ? 'summary and recovery' : 'summary',
    arms: Object.fromEntries(judged) as Record<ArmName, ReplayedArm>,
  }
}

function remember(judgement: (token: string) => boolean): (token: string) => boolean {
  const known = new Map<string, boolean>()
  return (token) => {
    const before = known.get(token)
    if (before !== undefined) return before
    const now = judgement(token)
    known.set(token, now)
    return now
  }
}
