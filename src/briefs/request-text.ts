import type { Coverage } from '../contract/records/brief.js'
import { SECTIONS, TITLE } from './sections.js'
import { KIND_TITLES, oneLine } from './told-lines.js'

interface Requested {
  /** How people call the seat that is handed over. */
  seatName?: string | null
  /** Of the brief given before: what it lacks, most needed first. Turns the text into the one repeated request. */
  missing?: Coverage['missing']
  /** The brief given before stands in a code fence or a quotation, and does not count. */
  isShown?: boolean
}

const LONGEST = 3_000
const MOST_NAMED = 14
const LONGEST_NAMED = 160
/** Left for what is missing; the rest of the text is known. */
const ROOM = 1_500

/** What an agent is told when a brief is asked of it. Below 3,000 characters. */
export function requestText({ seatName, missing = [], isShown = false }: Requested = {}): string {
  const seat = seatName ? ` for ${oneLine(seatName, 60)}` : ''
  const other = 'If you cannot answer with it, write it to a file and run `baton handoff <file>`.'
  if (isShown)
    return `[baton] The handoff brief${seat} stands in a code fence or a quotation, where it cannot be told from a text that you only show. Give it once more as your whole answer, plain, beginning with the line \`# ${TITLE}\`. No tools are needed. ${other} \`baton off\` turns this off.`
  const text =
    missing.length > 0
      ? [
          `[baton] The handoff brief${seat} leaves out what stands in the transcript. Give it once more, whole, with these in it:`,
          listOf(missing),
          `As your whole answer, beginning with the line \`# ${TITLE}\`, same sections as before, no tools needed. What is left out this time Baton adds itself. ${other} \`baton off\` turns this off.`,
        ]
      : [
          `[baton] A handoff brief${seat} is wanted: a fresh session will go on with your work. Bring the step you are in to an end, then give the brief as your whole answer. No tools are needed for it.`,
          `Begin with the line \`# ${TITLE}\`, not in a code fence, then these sections, each as a \`##\` heading:`,
          SECTIONS.map(({ title, wants }) => `- ${title}: ${wants}`).join('\n'),
          `Whoever reads it knows nothing but it: name files, commands, errors and commits exactly, say what you did not verify, guess no figures. Keep it under 8,000 characters; write "none" where there is nothing. What the brief you began with demanded, and still holds, belongs in it. Baton checks it against the transcript.`,
          `${other} \`baton off\` turns this off.`,
        ]
  return text.join('\n\n').slice(0, LONGEST - 1)
}

/** True for a prompt that asks an agent for its brief: every text of `requestText` begins like this. */
export function isBriefRequest(prompt: string | null | undefined): boolean {
  return /^\s*\[baton\] (A|The) handoff brief /.test(prompt ?? '')
}

function listOf(missing: Coverage['missing']): string {
  const lines: string[] = []
  let room = ROOM
  for (const { kind, text } of missing.slice(0, MOST_NAMED)) {
    const line = `- ${KIND_TITLES[kind]}: ${oneLine(text, LONGEST_NAMED)}`
    if (line.length > room) break
    room -= line.length + 1
    lines.push(line)
  }
  const more = missing.length - lines.length
  return [...lines, ...(more > 0 ? [`- and ${more} more of the same kinds`] : [])].join('\n')
}

/** What is known at the end of a turn of a session whose brief is wanted. */
interface TurnEnd {
  /** How often the agent was asked before this turn ended. */
  asked: number
  /** Coverage of the brief in its last answer; null: there is none in it. */
  score: number | null
  /** Its last answer shows a brief only in a code fence or a quotation. */
  isShown: boolean
  /** A brief below the bar that it gave before. */
  hasDraft: boolean
  bar: number
  /** Whether the client lets the agent go on from here with what it is told. */
  canAsk: boolean
}

/** `take`: the brief just given. `take-draft`: the one given before. `write`: Baton writes one itself. */
type Step = 'ask' | 'ask-again' | 'take' | 'take-draft' | 'write'

const MOST_ASKED = 2

/** The agent is asked for its brief, once more when it is below the bar or missing, and never a third time. */
export function stepAtTurnEnd({ asked, score, isShown, hasDraft, bar, canAsk }: TurnEnd): Step {
  const mayAsk = canAsk && asked < MOST_ASKED
  if (score !== null) return score >= bar || !mayAsk ? 'take' : 'ask-again'
  if (hasDraft) return 'take-draft'
  // Asked while it worked, it may have ended its turn before it came to it; asked at the end of a turn, it chose to say something else.
  return mayAsk && (asked === 0 || isShown) ? 'ask' : 'write'
}
