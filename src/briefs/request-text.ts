import type { Coverage } from '../contract/records/brief.js'
import { KIND_TITLES, toOneLine } from './format-lines.js'
import { BRIEF_TITLE, SECTIONS } from './sections.js'

interface BriefRequestOptions {
  /** Name of the seat that is handed off. */
  seatName?: string | null
  /** Facts the previous brief lacks, most needed first. If set, the text is the second request. */
  missing?: Coverage['missing']
  /** True when the previous brief was in a code fence or quotation and does not count. */
  isShown?: boolean
}

const LONGEST = 3_000
const MOST_NAMED = 14
const LONGEST_NAMED = 160
/** Characters reserved for the list of what is missing. */
const ROOM = 1_500

/** Returns the prompt that requests a brief from an agent, below 3,000 characters. */
export function requestText({ seatName, missing = [], isShown = false }: BriefRequestOptions = {}): string {
  const seat = seatName ? ` for ${toOneLine(seatName, 60)}` : ''
  const form = `Give it as your whole answer, with \`# ${BRIEF_TITLE}\` as its first line. You need no tools.`
  const other =
    'If you cannot answer with it, write it to a file and run `baton handoff <file>`. `baton off` turns this off.'
  if (isShown)
    return [
      `[baton] The handoff brief${seat} is in a code fence or quotation.`,
      'Baton cannot tell it from text that you only show.',
      `Give it again without fence and quotation. ${form} ${other}`,
    ].join(' ')
  const text =
    missing.length > 0
      ? [
          `[baton] The handoff brief${seat} omits facts of the transcript. Give the whole brief again, with these:`,
          missingList(missing),
          `${form} Keep the sections. Baton adds what you omit this time. ${other}`,
        ]
      : [
          [
            `[baton] A handoff brief${seat} is needed: a fresh session will continue your work.`,
            'Finish the current step, then write the brief.',
            form,
          ].join(' '),
          'Use no code fence. Write these sections, each with a `##` heading:',
          SECTIONS.map(({ title, wants }) => `- ${title}: ${wants}`).join('\n'),
          [
            'The reader knows nothing but this brief.',
            'Name files, commands, errors and commits exactly.',
            'Say what you did not verify. Guess no figures.',
            'Repeat what still applies of the brief you began with.',
            'Write "none" where there is nothing. Stay below 8,000 characters.',
            'Baton checks the brief against the transcript.',
          ].join(' '),
          other,
        ]
  return text.join('\n\n').slice(0, LONGEST - 1)
}

/** True for a prompt that requests a brief: every text of `requestText` begins like this. */
export function isBriefRequest(prompt: string | null | undefined): boolean {
  return /^\s*\[baton\] (A|The) handoff brief /.test(prompt ?? '')
}

function missingList(missing: Coverage['missing']): string {
  const lines: string[] = []
  let room = ROOM
  for (const { kind, text } of missing.slice(0, MOST_NAMED)) {
    const line = `- ${KIND_TITLES[kind]}: ${toOneLine(text, LONGEST_NAMED)}`
    if (line.length > room) break
    room -= line.length + 1
    lines.push(line)
  }
  const more = missing.length - lines.length
  return [...lines, ...(more > 0 ? [`- and ${more} more of the same kinds`] : [])].join('\n')
}

/** State at the end of a turn of a session whose brief is requested. */
interface TurnEnd {
  /** Number of requests before this turn ended. */
  asked: number
  /** Coverage of the brief in the last answer. Null when the answer contains none. */
  score: number | null
  /** True when the last answer shows a brief only in a code fence or quotation. */
  isShown: boolean
  /** True when the agent has already given a brief, whose score was below the minimum. */
  hasDraft: boolean
  bar: number
  /** True when the client lets the agent continue with another prompt now. */
  canAsk: boolean
}

/**
 * `take`: use the brief just given.
 * `take-draft`: use the one given before.
 * `write`: Baton writes it.
 */
type Step = 'ask' | 'ask-again' | 'take' | 'take-draft' | 'write'

const MOST_ASKED = 2

/**
 * Decides the next step about a brief when a turn ends.
 * A poor or missing brief is requested once more, never a third time.
 */
export function stepAtTurnEnd({ asked, score, isShown, hasDraft, bar, canAsk }: TurnEnd): Step {
  const mayAsk = canAsk && asked < MOST_ASKED
  if (score !== null) return score >= bar || !mayAsk ? 'take' : 'ask-again'
  if (hasDraft) return 'take-draft'
  // An agent asked during its work may have ended the turn before it read the request.
  // An agent asked at the end of a turn chose to answer something else.
  return mayAsk && (asked === 0 || isShown) ? 'ask' : 'write'
}
