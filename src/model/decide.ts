import path from 'node:path'
import {
  answerAt,
  type ConversationKind,
  choosePart,
  matchesWanted,
  type PreparedScript,
  type ScriptedConversation,
} from './book.js'
import { type AnswerMark, readSummaryMark, readToolId, summaryMark } from './mark.js'
import {
  type ApiRequest,
  blocksOf,
  folderOf,
  newestText,
  type RequestMessage,
  type RequestSender,
  textsIn,
} from './request.js'
import type { ScriptedFailure, ScriptStep } from './script.js'
import { answerAfter, type ScriptedAnswer } from './unroll.js'

/** The answer to a request, the failures to send before it, and its position in the script. */
export interface ChosenAnswer {
  conversation: string
  cycle: number
  /** Null for a side request, a compaction or a reply, which do not advance the script. */
  step: number | null
  reply: number | null
  answer: ScriptedAnswer
  filled: Filled
  fails: ScriptedFailure[]
  delayMs: number
  mark: AnswerMark
  /** Identifies this answer of this conversation, so that its failures can be counted. */
  key: string
}

export function chooseAnswer(request: ApiRequest, caller: RequestSender, book: PreparedScript): ChosenAnswer {
  const shelf = caller.agent === null ? 'main' : 'sub'
  if (caller.kind === 'side') return aside(request, caller, book)
  const { part: index, cycle, step } = findScriptPosition(request, shelf, book)
  const part = book[shelf][index]!
  const mark: AnswerMark = { shelf, part: index, cycle, step, reply: false }
  const before = step > 0 ? answerAt(part, cycle, step - 1) : null
  const place = { cycle, step, cwd: folderOf(request) }
  const common = { conversation: part.name, cycle }

  if (caller.kind === 'compaction') {
    const answer = answerAfter({ output: 500, grow: 0, ...part.summary }, 1, before, part.defaults)
    const filled = fill(answer, { ...place, step: step - 1 })
    const summary = `${filled.text ?? ''}\n\n${summaryMark({ part: index, cycle: cycle + 1, steps: step })}`
    filled.text = `<analysis>\nScripted.\n</analysis>\n\n<summary>\n${summary}\n</summary>`
    return {
      ...common,
      ...stepAnswer(part, answer, null),
      step: null,
      reply: null,
      filled,
      mark,
      key: `${caller.key}/${cycle}/summary/${step}`,
    }
  }

  const said = newestText(request)
  const reply = part.replies.findIndex((one) => matchesWanted(said, one.when))
  if (reply >= 0) {
    const answer = answerAfter(part.replies[reply]!, 1, before, part.defaults)
    const filled = fill(answer, place)
    const own = { ...mark, step: reply, reply: true }
    return {
      ...common,
      ...stepAnswer(part, answer, part.maximum),
      step: null,
      reply,
      filled,
      mark: own,
      key: `${caller.key}/${cycle}/reply/${reply}`,
    }
  }

  const answer = withReading(answerAt(part, cycle, step), request)
  const filled = fill(answer, place)
  return {
    ...common,
    ...stepAnswer(part, answer, part.maximum),
    step,
    reply: null,
    filled,
    mark,
    key: `${caller.key}/${cycle}/step/${step}`,
  }
}

/** Adds the commands of `reads` to an answer, by what the request contains. */
function withReading(answer: ScriptedAnswer, request: ApiRequest): ScriptedAnswer {
  const { reads, bash } = answer.step
  if (reads === undefined) return answer
  const seen = [...textsIn(request.system), ...request.messages.flatMap((m) => textsIn(m.content))].join('\n')
  const commands = reads.flatMap(({ text, present, missing }) => (seen.includes(text) ? present : missing) ?? [])
  return { ...answer, step: { ...answer.step, bash: [bash ?? [], commands].flat() } }
}

function stepAnswer(
  part: ScriptedConversation,
  answer: ScriptedAnswer,
  maximum: number | null,
): Pick<ChosenAnswer, 'answer' | 'fails' | 'delayMs'> {
  const { step, used } = answer
  const tooLong: ScriptedFailure[] =
    maximum !== null && used > maximum ? [{ kind: 'too-long', message: tooLongText(used, maximum) }] : []
  const own = (step.fail ?? []).map((fail) =>
    fail.kind === 'too-long' && !fail.message ? { ...fail, message: tooLongText(used, maximum ?? 200_000) } : fail,
  )
  return { answer, fails: [...tooLong, ...own], delayMs: step.delay_ms ?? part.delayMs }
}

const tooLongText = (used: number, maximum: number): string =>
  `prompt is too long: ${Math.max(used, maximum + 1)} tokens > ${maximum} maximum`

/**
 * Answers a side request. If it asks for JSON with given fields, each field is the scripted text.
 */
function aside(request: ApiRequest, caller: RequestSender, book: PreparedScript): ChosenAnswer {
  const step: ScriptStep = { used: 508, ...book.side }
  const answer = answerAfter(step, 1, null, { start: 508, grow: 0 })
  const filled = fill(answer, { cycle: 0, step: 0, cwd: null })
  const schema = (request.raw.output_config as { format?: { schema?: { required?: unknown } } } | undefined)?.format
    ?.schema
  if (Array.isArray(schema?.required) && !filled.text?.startsWith('{')) {
    filled.text = JSON.stringify(Object.fromEntries(schema.required.map((name) => [name, filled.text])))
  }
  const mark: AnswerMark = { shelf: 'main', part: 0, cycle: 0, step: 0, reply: false }
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

/**
 * The position of a request in the script.
 * Cycle 0 is before any compaction; `step` is the next one.
 */
interface Position {
  part: number
  cycle: number
  step: number
}

/**
 * Finds the position in the script from the request alone.
 * No state is kept, so many conversations can run at once, be forked and be resumed.
 *
 * After a compaction the messages begin with the summary.
 * Verbatim copies of the last messages before it follow, which belong to the old cycle.
 * A copy with a tool call is recognised by the call's id.
 * Another copy is recognised by its text: the next answer that the old cycle would give.
 *
 * The id of a tool call names the step of its answer. Answers without a tool are counted.
 */
export function findScriptPosition(request: ApiRequest, shelf: ConversationKind, book: PreparedScript): Position {
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
    } else if (kept !== null && isSaidAlready(turn, script, cycle - 1, kept)) {
      kept++
    } else if (!isFiller(turn) && !isReply(turn, script)) {
      step++
      kept = null
    }
  }
  return { part, cycle, step }
}

function markOf(turn: RequestMessage): AnswerMark | null {
  if (turn.role !== 'assistant') return null
  for (const block of blocksOf(turn)) {
    const mark = block.type === 'tool_use' && typeof block.id === 'string' ? readToolId(block.id) : null
    if (mark) return mark
  }
  return null
}

const within = (index: number, parts: ScriptedConversation[]): number => Math.min(index, parts.length - 1)

const isSummary = (turn: RequestMessage): boolean =>
  turn.role === 'user' &&
  textsIn(turn.content).some((text) => text.trimStart().startsWith('This session is being continued from a previous'))

/** True for the text that the client inserts as an answer to keep the roles alternating. */
const isFiller = (turn: RequestMessage): boolean => spoken(turn) === 'No response requested.'

function isSaidAlready(turn: RequestMessage, part: ScriptedConversation, cycle: number, step: number): boolean {
  return cycle >= 0 && spoken(turn) === fill(answerAt(part, cycle, step), { cycle, step, cwd: null }).text?.trim()
}

function isReply(turn: RequestMessage, part: ScriptedConversation): boolean {
  const text = spoken(turn)
  return part.replies.some((reply) => reply.text !== undefined && reply.text.trim() === text)
}

const spoken = (turn: RequestMessage): string =>
  blocksOf(turn)
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('')
    .trim()

interface Place {
  cycle: number
  step: number
  /** The client's folder. Null when it is unknown. */
  cwd: string | null
}

interface ToolCall {
  name: string
  input: Record<string, unknown>
}

/** The content of an answer, with every `{{name}}` replaced by its value. */
interface Filled {
  text?: string
  thinking?: string
  tools: ToolCall[]
}

function fill(answer: ScriptedAnswer, place: Place): Filled {
  const values: Record<string, string> = {
    n: String(answer.n),
    step: String(place.step + 1),
    cycle: String(place.cycle + 1),
    used: String(answer.used),
    cwd: place.cwd ?? '.',
  }
  const put = (text: string): string =>
    text.replace(/\{\{(n|step|cycle|used|cwd)\}\}/g, (_, name: string) => values[name]!)
  const { text, thinking } = answer.step
  return {
    text: text === undefined ? silent(answer.step) : put(text),
    thinking: thinking === undefined ? undefined : put(thinking),
    tools: toolsOf(answer.step, place.cwd).map((tool) => ({
      name: tool.name,
      input: deep(tool.input, put) as Record<string, unknown>,
    })),
  }
}

/** Returns a text for a step without any content, because the API has no empty answers. */
function silent(step: ScriptStep): string | undefined {
  return step.thinking === undefined && !step.blocks?.length && toolsOf(step, null).length === 0 ? 'Done.' : undefined
}

function toolsOf(step: ScriptStep, cwd: string | null): ToolCall[] {
  return [
    ...(step.tools ?? []).map((tool) => ({ name: tool.name, input: tool.input ?? {} })),
    ...[step.bash ?? []].flat().map((command) => ({ name: 'Bash', input: { command } })),
    ...[step.read ?? []]
      .flat()
      .map((file) => ({ name: 'Read', input: { file_path: cwd ? path.resolve(cwd, file) : file } })),
    ...(step.agent ?? []).map((agent) => ({
      name: 'Agent',
      input: {
        description: agent.description ?? 'scripted subagent',
        prompt: agent.prompt,
        subagent_type: agent.type ?? 'general-purpose',
        run_in_background: agent.background ?? false,
        ...(agent.model ? { model: agent.model } : {}),
      },
    })),
  ]
}

function deep(value: unknown, put: (text: string) => string): unknown {
  if (typeof value === 'string') return put(value)
  if (Array.isArray(value)) return value.map((one) => deep(one, put))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner, put)]))
  }
  return value
}
