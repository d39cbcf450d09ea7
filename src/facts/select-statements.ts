import type { Fact } from '../contract/fact.js'
import { specificsOf } from './specifics.js'

/** A statement of a conversation that names something specific. */
export interface Statement {
  text: string
  by: 'user' | 'agent'
  line: number
}

interface SelectionLimits {
  /** Text that the reader has beside the statements. Its specific words count as known. */
  said: string
  /** Most characters of all lines together. */
  room: number
  /** Returns the line that gives a statement to the reader. */
  format(statement: Statement): string
}

interface Candidate extends Statement {
  formatted: string
  specifics: Set<string>
  weight: number
}

/** Cost of a line beside its text, so that many short lines do not displace a good one. */
const LINE_COST = 12
/** Weight of a statement with which a turn ended, relative to one in the middle of the work. */
const TURN_END_WEIGHT = 1.6
/** Weight of the user's own lines: a brief quotes most of his requests anyway. */
const USER_WEIGHT = 0.5
/** Weight of the oldest statement, relative to the newest. */
const OLDEST_WEIGHT = 0.6
/** Value of a specific word that the reader knows already, relative to a new one. */
const KNOWN_VALUE = 0.08
/** Most that repetition adds to the value of a specific word: what is named often matters. */
const REPETITION_LIMIT = 2
/** Lines of a request that are considered, and their length. More is pasted text. */
const MAX_REQUEST_LINES = 200
const REQUEST_LINE = { shortest: 20, longest: 400 }

/**
 * Selects statements that tell the most new specific words for their length, until `room` is full.
 * Takes the findings of the agent and the lines of the user's requests.
 * Returns the formatted lines in the order of the conversation.
 */
export function selectStatements(facts: readonly Fact[], { said, room, format }: SelectionLimits): string[] {
  const lastLine = facts.reduce((last, { line }) => Math.max(last, line), 1)
  const weigh = (statement: Statement, weight: number): Candidate => ({
    ...statement,
    formatted: format(statement),
    specifics: specificsOf(statement.text),
    weight: weight * (OLDEST_WEIGHT + ((1 - OLDEST_WEIGHT) * statement.line) / lastLine),
  })
  const candidates = facts.flatMap((fact): Candidate[] => {
    if (fact.kind === 'finding') {
      const weight = fact.detail.ends === true ? TURN_END_WEIGHT : 1
      return [weigh({ text: fact.text, by: 'agent', line: fact.line }, weight)]
    }
    if (fact.kind !== 'request') return []
    return requestLines(fact.text).map((text) => weigh({ text, by: 'user', line: fact.line }, USER_WEIGHT))
  })
  const chosen = chooseByValue(candidates, said.toLowerCase(), room)
  return chosen.sort((a, b) => a.line - b.line).map(({ formatted }) => formatted)
}

function requestLines(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  const { shortest, longest } = REQUEST_LINE
  return lines.filter(({ length }) => length >= shortest && length <= longest).slice(0, MAX_REQUEST_LINES)
}

/** Chooses greedily, so that each statement is judged by what those before it left untold. */
function chooseByValue(candidates: readonly Candidate[], said: string, room: number): Candidate[] {
  const counts = new Map<string, number>()
  for (const { specifics } of candidates) for (const word of specifics) counts.set(word, (counts.get(word) ?? 0) + 1)
  const known = new Set([...counts.keys()].filter((word) => said.includes(word)))
  const gainOf = ({ specifics, formatted, weight }: Candidate): number => {
    let value = 0
    for (const word of specifics)
      value += known.has(word) ? KNOWN_VALUE : 1 + Math.min(REPETITION_LIMIT, Math.log2(counts.get(word)!))
    return (weight * value) / (formatted.length + LINE_COST)
  }
  const open = new Set(candidates.filter(({ specifics }) => specifics.size > 0))
  const chosen: Candidate[] = []
  let left = room
  for (;;) {
    let best: Candidate | null = null
    let highest = 0
    for (const candidate of open) {
      if (candidate.formatted.length + 1 > left) {
        open.delete(candidate)
        continue
      }
      const value = gainOf(candidate)
      if (value > highest) [best, highest] = [candidate, value]
    }
    if (best === null) return chosen
    open.delete(best)
    chosen.push(best)
    left -= best.formatted.length + 1
    for (const word of best.specifics) known.add(word)
  }
}
