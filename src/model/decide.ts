import { answerAt, type Book, contains, type Part } from './book.js'
import { type Filled, fill } from './fill.js'
import { locate } from './locate.js'
import { type Mark, summaryMark } from './mark.js'
import { type ApiRequest, type Caller, folderOf, newestText } from './request.js'
import type { Fail, Step } from './script.js'
import { type Answer, follow } from './unroll.js'

/** What a request shall get: the answer, what may fail before it, and where in the script it stands. */
export interface Decision {
  conversation: string
  cycle: number
  /** Null: a side request, a compaction or a reply, which take no step. */
  step: number | null
  reply: number | null
  answer: Answer
  filled: Filled
  fails: Fail[]
  delayMs: number
  mark: Mark
  /** Names this answer of this conversation: failures are counted against it. */
  key: string
}

export function decide(request: ApiRequest, caller: Caller, book: Book): Decision {
  const shelf = caller.agent === null ? 'main' : 'sub'
  if (caller.kind === 'side') return aside(request, caller, book)
  const { part: index, cycle, step } = locate(request, shelf, book)
  const part = book[shelf][index]!
  const mark: Mark = { shelf, part: index, cycle, step, reply: false }
  const before = step > 0 ? answerAt(part, cycle, step - 1) : null
  const place = { cycle, step, cwd: folderOf(request) }
  const common = { conversation: part.name, cycle }

  if (caller.kind === 'compaction') {
    const answer = follow({ output: 500, grow: 0, ...part.summary }, 1, before, part.defaults)
    const filled = fill(answer, { ...place, step: step - 1 })
    const summary = `${filled.text ?? ''}\n\n${summaryMark({ part: index, cycle: cycle + 1, steps: step })}`
    filled.text = `<analysis>\nScripted.\n</analysis>\n\n<summary>\n${summary}\n</summary>`
    return {
      ...common,
      ...told(part, answer, null),
      step: null,
      reply: null,
      filled,
      mark,
      key: `${caller.key}/${cycle}/summary/${step}`,
    }
  }

  const said = newestText(request)
  const reply = part.replies.findIndex((one) => contains(said, one.when))
  if (reply >= 0) {
    const answer = follow(part.replies[reply]!, 1, before, part.defaults)
    const filled = fill(answer, place)
    const own = { ...mark, step: reply, reply: true }
    return {
      ...common,
      ...told(part, answer, part.maximum),
      step: null,
      reply,
      filled,
      mark: own,
      key: `${caller.key}/${cycle}/reply/${reply}`,
    }
  }

  const answer = answerAt(part, cycle, step)
  const filled = fill(answer, place)
  return {
    ...common,
    ...told(part, answer, part.maximum),
    step,
    reply: null,
    filled,
    mark,
    key: `${caller.key}/${cycle}/step/${step}`,
  }
}

function told(part: Part, answer: Answer, maximum: number | null): Pick<Decision, 'answer' | 'fails' | 'delayMs'> {
  const { step, used } = answer
  const tooLong: Fail[] = maximum !== null && used > maximum ? [{ kind: 'too-long', message: tooLongText(used, maximum) }] : []
  const own = (step.fail ?? []).map((fail) =>
    fail.kind === 'too-long' && !fail.message ? { ...fail, message: tooLongText(used, maximum ?? 200_000) } : fail,
  )
  return { answer, fails: [...tooLong, ...own], delayMs: step.delay_ms ?? part.delayMs }
}

const tooLongText = (used: number, maximum: number): string =>
  `prompt is too long: ${Math.max(used, maximum + 1)} tokens > ${maximum} maximum`

/** The client may ask for JSON of a given shape: every text in it is the scripted one. */
function aside(request: ApiRequest, caller: Caller, book: Book): Decision {
  const step: Step = { used: 508, ...book.side }
  const answer = follow(step, 1, null, { start: 508, grow: 0 })
  const filled = fill(answer, { cycle: 0, step: 0, cwd: null })
  const schema = (request.raw.output_config as { format?: { schema?: { required?: unknown } } } | undefined)?.format?.schema
  if (Array.isArray(schema?.required) && !filled.text?.startsWith('{')) {
    filled.text = JSON.stringify(Object.fromEntries(schema.required.map((name) => [name, filled.text])))
  }
  const mark: Mark = { shelf: 'main', part: 0, cycle: 0, step: 0, reply: false }
  const key = `${caller.key}/side`
  return {
    conversation: 'side',
    cycle: 0,
    step: null,
    reply: null,
    answer,
    filled,
    fails: step.fail ?? [],
    delayMs: step.delay_ms ?? 0,
    mark,
    key,
  }
}
