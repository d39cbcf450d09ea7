import { answerAt, type Book, choosePart, type Part, type Shelf } from './book.js'
import { fill } from './fill.js'
import { type Mark, readSummaryMark, readToolId } from './mark.js'
import { type ApiRequest, blocksOf, type Turn, textsIn } from './request.js'

/** Where in the script a request stands: which conversation, which cycle (0: before any compaction), which step is next. */
export interface Position {
  part: number
  cycle: number
  step: number
}

/**
 * Read from the request alone, so that any number of conversations may run at once, be forked and resumed.
 *
 * After a compaction the messages begin with the summary, followed by the last messages from before it, word for word.
 * Those belong to the old cycle: known by their tool call ids or, without tools, by being what the old cycle had next.
 * An answer of this cycle with a tool says by its id which step it was; the ones without are counted.
 */
export function locate(request: ApiRequest, shelf: Shelf, book: Book): Position {
  const parts = book[shelf]
  const { messages } = request
  const start = messages.findLastIndex(isSummary)
  const mark = start < 0 ? null : readSummaryMark(textsIn(messages[start]!.content).join('\n'))
  const marks = messages.map(markOf)
  const lastOwn = marks.findLast((m) => m?.shelf === shelf)
  const part = within(mark?.part ?? lastOwn?.part ?? choosePart(parts, request), parts)
  const script = parts[part]!
  const tailCycle = marks.find((m) => m?.shelf === shelf)?.cycle
  const cycle = start < 0 ? 0 : (mark?.cycle ?? (tailCycle ?? 0) + 1)

  let step = 0
  let kept = mark?.steps ?? null
  for (let i = start + 1; i < messages.length; i++) {
    const turn = messages[i]!
    if (turn.role !== 'assistant') continue
    const own = marks[i]
    if (own && (own.shelf !== shelf || own.cycle !== cycle)) {
      step = 0
      if (own.shelf === shelf && !own.reply) kept = own.step + 1
    } else if (own) {
      if (!own.reply) step = own.step + 1
      kept = null
    } else if (kept !== null && says(turn, script, cycle - 1, kept)) {
      kept++
    } else if (!isFiller(turn) && !isReply(turn, script)) {
      step++
      kept = null
    }
  }
  return { part, cycle, step }
}

function markOf(turn: Turn): Mark | null {
  if (turn.role !== 'assistant') return null
  for (const block of blocksOf(turn)) {
    const mark = block.type === 'tool_use' && typeof block.id === 'string' ? readToolId(block.id) : null
    if (mark) return mark
  }
  return null
}

const within = (index: number, parts: Part[]): number => Math.min(index, parts.length - 1)

const isSummary = (turn: Turn): boolean =>
  turn.role === 'user' &&
  textsIn(turn.content).some((text) => text.trimStart().startsWith('This session is being continued from a previous'))

/** What the client puts into the model's mouth to keep the roles in turn. */
const isFiller = (turn: Turn): boolean => spoken(turn) === 'No response requested.'

function says(turn: Turn, part: Part, cycle: number, step: number): boolean {
  return cycle >= 0 && spoken(turn) === fill(answerAt(part, cycle, step), { cycle, step, cwd: null }).text?.trim()
}

function isReply(turn: Turn, part: Part): boolean {
  const text = spoken(turn)
  return part.replies.some((reply) => reply.text !== undefined && reply.text.trim() === text)
}

const spoken = (turn: Turn): string =>
  blocksOf(turn)
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('')
    .trim()
