import type { ResultEntry, Todo, ToolAction } from '../../contract/conversation.js'
import { parseWholeTodo } from './conversation-tools.js'
import { textInTag } from './conversation-user.js'
import { asList, asNumber, asObject, asText, type Fields } from './fields.js'

type Outcome = Pick<
  ResultEntry,
  'text' | 'ok' | 'exitCode' | 'interrupted' | 'answers' | 'answered' | 'refused' | 'declined' | 'todos'
>

/** Interprets a tool result. `told` is the client's own record of the result, of any shape. */
export function toolOutcomeOf(block: Fields, told: unknown, entry: Fields, act: ToolAction | null): Outcome {
  const words = contentText(block.content)
  const record = asObject(told)
  const failed = block.is_error === true
  const refused = failed && (asText(entry.toolDenialKind) !== null || REFUSED.test(words))
  const interrupted = record?.interrupted === true || (failed && REJECTED.test(words))
  const todos = todosOf(record)
  const answered = act?.type === 'ask' && act.plan === undefined ? answeredQuestions(record, words, act.questions) : []
  return {
    text: words,
    ok: !failed,
    exitCode: act?.type === 'command' && !refused ? exitCodeOf(act, words, failed, interrupted, record) : null,
    interrupted,
    answers: answersOf(record, words),
    ...(answered.length > 0 ? { answered } : {}),
    ...(refused ? { refused } : {}),
    ...(refused && DECLINED.test(words) ? { declined: true } : {}),
    ...(todos.length > 0 ? { todos } : {}),
  }
}

/**
 * Results of calls that were never executed.
 * An interrupted command reads the same as a declined one, so whether it ran is not known.
 */
const REFUSED = new RegExp(
  "^(?:<tool_use_error>|The user doesn't want to (?:proceed with|take) this|Permission to use |" +
    String.raw`Claude requested permissions? to |Hook \S+ (?:denied|blocked)|PreToolUse:\S+ hook (?:error|` +
    String.raw`blocking)|This command (?:requires approval|was blocked)|\[Request interrupted by user)`,
)
const DECLINED = /^The user doesn't want to (?:proceed with|take) this/
const REJECTED = new RegExp(
  String.raw`^(?:The user doesn't want to (?:proceed with|take) this|\[Request interrupted by user)|` +
    'Request was aborted|was interrupted by the user',
)

function exitCodeOf(
  act: ToolAction,
  words: string,
  failed: boolean,
  interrupted: boolean,
  record: Fields | null,
): number | null {
  const printed = /^(?:Error: )?Exit code (\d+)/.exec(words)
  if (printed) return Number(printed[1])
  if (failed || interrupted) return null
  // The client explains some exit statuses as usual (grep without a match).
  // An explained status is not 0, and the client does not give its value.
  if (record !== null && asText(record.returnCodeInterpretation) !== null) return null
  const background = (act.type === 'command' && act.background) || asText(record?.backgroundTaskId) !== null
  return background ? null : 0
}

function answersOf(record: Fields | null, words: string): string[] {
  const answers = asObject(record?.answers)
  if (answers !== null) return Object.values(answers).filter((one) => typeof one === 'string')
  return /^User has (?:answered|approved)/.test(words) ? [words] : []
}

/** Answers given in a dialog that the user left to talk about its questions. */
const PARTIAL_PAIR = /^- "(.+)"\n {2}Answer: (.+)$/gm
const ANSWERED = /^(?:User has answered|Your questions have been answered)/

/**
 * Returns the questions of a dialog that the user answered, with the answers.
 * When the user leaves a dialog to talk about it, the client lists the answers given before.
 */
function answeredQuestions(
  record: Fields | null,
  words: string,
  questions: readonly string[],
): { question: string; answer: string }[] {
  const answers = asObject(record?.answers)
  if (answers !== null) {
    return Object.entries(answers).flatMap(([question, answer]) =>
      typeof answer === 'string' && answer.trim() !== '' ? [{ question, answer: answer.trim() }] : [],
    )
  }
  if (ANSWERED.test(words)) return answersInText(words, questions)
  return [...words.matchAll(PARTIAL_PAIR)].map(([, question, answer]) => ({
    question: question!,
    answer: answer!.trim(),
  }))
}

/** Reads `"question"="answer", "question"="answer". …` with the questions known from the call. */
function answersInText(words: string, questions: readonly string[]): { question: string; answer: string }[] {
  const found = questions
    .map((question) => ({ question, mark: `"${question}"="`, at: words.indexOf(`"${question}"="`) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
  return found.map(({ question, mark, at }, i) => {
    const rest = words.slice(at + mark.length, found[i + 1]?.at)
    // The client's sentence after the last answer differs by version and has no quotation mark.
    const end = rest.lastIndexOf('"')
    return { question, answer: rest.slice(0, end < 0 ? undefined : end).trim() }
  })
}

function todosOf(record: Fields | null): Todo[] {
  if (record === null) return []
  return [...parseWholeTodo(record.task), ...asList(record.tasks).flatMap(parseWholeTodo)].filter(
    (todo) => todo.id !== null,
  )
}

/** The end of a background command, as a result or notice reports it. */
export interface BackgroundTaskEnd {
  taskId: string
  callId: string | null
  exitCode: number | null
  ok: boolean
}

/**
 * Parses the notice to the model that a background task has ended.
 * Null when the text is no such notice, or the task still runs.
 */
export function parseTaskEndNotice(words: string): BackgroundTaskEnd | null {
  const taskId = words.includes('<task-id>') ? textInTag(words, 'task-id') : null
  const status = textInTag(words, 'status')
  if (taskId === null || status === null || status === 'running') return null
  const code = /exit code (\d+)/.exec(textInTag(words, 'summary') ?? '')
  const exitCode = code ? Number(code[1]) : null
  return {
    taskId,
    callId: textInTag(words, 'tool-use-id'),
    exitCode,
    ok: exitCode === null ? status === 'completed' : exitCode === 0,
  }
}

/**
 * Parses the end of a background task from output that the agent requested, also with older tools.
 */
export function parseTaskEndOutput(tool: string, input: Fields, words: string): BackgroundTaskEnd | null {
  if (!/^(?:BashOutput|TaskOutput|AgentOutputTool)$/.test(tool)) return null
  const taskId = asText(input.bash_id) ?? asText(input.task_id) ?? asText(input.shell_id)
  const status = textInTag(words, 'status')?.trim()
  if (taskId === null || status === undefined || status === 'running' || status === 'pending') return null
  const code = asNumber(Number.parseInt(textInTag(words, 'exit_code') ?? '', 10))
  return { taskId, callId: null, exitCode: code, ok: code === null ? status === 'completed' : code === 0 }
}

/** Returns the text of a message or tool result, which is a string or a list of text blocks. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  const parts: string[] = []
  for (const block of asList(content)) {
    const words = asText(asObject(block)?.text)
    if (words !== null) parts.push(words)
  }
  return parts.length === 1 ? parts[0]! : parts.join('\n')
}
