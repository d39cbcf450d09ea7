import type { Fact } from '../contract/fact.js'
import { quoteAsData, sanitizeName } from '../lib/quote.js'

/** Most characters of a dialog's question beside its answer. */
const LONGEST_QUESTION = 120

/**
 * Formats a user's answer in a dialog or verdict on a plan. Null for every other fact.
 * The agent's part (the question, the plan's title) is quoted; only the answer is the user's.
 */
export function formatChoice({ kind, text, detail }: Fact, longest: number): string | null {
  if (kind !== 'decision' || typeof detail.how !== 'string') return null
  const { how } = detail
  if (how.startsWith('plan ')) {
    const verdict = ` (${how})`
    const title = text.endsWith(verdict) ? text.slice(0, -verdict.length) : text
    return `${quoteAsData(cut(title, longest - verdict.length))}${verdict}`
  }
  if (how === 'agreed') return `agreed: ${quoteAsData(cut(text, longest - 8))}`
  if (how === 'picked' && typeof detail.said === 'string' && typeof detail.option === 'string') {
    const answer = sanitizeName(cut(detail.said, longest / 2))
    return `${answer} (picked: ${quoteAsData(cut(detail.option, longest - answer.length - 12))})`
  }
  if (how !== 'dialog') return null
  if (typeof detail.answer !== 'string' || typeof detail.question !== 'string') return quoteAsData(cut(text, longest))
  const question = cut(detail.question, LONGEST_QUESTION)
  const answer = sanitizeName(cut(detail.answer, longest - question.length))
  return `${answer} (asked: ${quoteAsData(question)})`
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, Math.max(0, longest - 1)).trimEnd()}…`
}
