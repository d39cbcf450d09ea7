import type { Todo, ToolAction } from '../../contract/conversation.js'
import { asList, asObject, asText, type Fields } from './fields.js'

/**
 * Returns the action of a tool call.
 * Unknown tools are `other`, with the text of their input for the search.
 */
export function toolActionOf(tool: string, input: Fields): ToolAction {
  switch (tool) {
    case 'Read':
    case 'NotebookRead':
      return withPath('read', input)
    case 'Edit':
    case 'Write':
    case 'MultiEdit':
    case 'NotebookEdit':
      return change(input)
    case 'Bash':
      return { type: 'command', command: asText(input.command) ?? '', background: input.run_in_background === true }
    case 'TodoWrite':
      return { type: 'todos', todos: asList(input.todos).flatMap(parseWholeTodo), whole: true }
    case 'TaskCreate':
      return { type: 'todos', todos: parseWholeTodo({ ...input, id: null, status: 'pending' }), whole: false }
    case 'TaskUpdate':
      return { type: 'todos', todos: changedTodo(input), whole: false }
    case 'AskUserQuestion':
      return { type: 'ask', questions: asList(input.questions).flatMap((one) => asText(asObject(one)?.question) ?? []) }
    case 'ExitPlanMode':
      return {
        type: 'ask',
        questions: [planQuestion(planTitle(asText(input.plan)))],
        plan: planTitle(asText(input.plan)),
      }
    case 'Agent':
    case 'Task':
      return { type: 'delegate', task: [asText(input.description), asText(input.prompt)].filter(Boolean).join('\n') }
    default:
      return { type: 'other', words: wordsOf(input) }
  }
}

function withPath(type: 'read' | 'change', input: Fields): ToolAction {
  const path = asText(input.file_path) ?? asText(input.notebook_path) ?? asText(input.path)
  return path === null ? { type: 'other', words: wordsOf(input) } : { type, path }
}

/** File in which the client keeps a plan until the user approves it. No part of the work. */
const PLAN_FILE = /\/\.?claude\/plans\/[^/]+\.md$/

function change(input: Fields): ToolAction {
  const act = withPath('change', input)
  if (act.type !== 'change') return act
  if (PLAN_FILE.test(act.path)) return { type: 'other', words: wordsOf(input) }
  const edits = [input, ...asList(input.edits).map((edit) => asObject(edit) ?? {})]
  const written = edits
    .flatMap((edit) => [
      asText(edit.new_string),
      asText(edit.content),
      asText(edit.new_source),
      asText(edit.old_string),
    ])
    .filter((one) => one !== null)
    .join('\n')
  return written === '' ? act : { ...act, written }
}

const STATUS: Record<string, Todo['status']> = {
  pending: 'open',
  in_progress: 'doing',
  completed: 'done',
  deleted: 'dropped',
  cancelled: 'dropped',
}

export const todoStatusOf = (value: unknown): Todo['status'] => STATUS[String(value)] ?? 'open'

/** Parses a complete todo, from a whole list or a single task. */
export function parseWholeTodo(value: unknown): Todo[] {
  const todo = asObject(value)
  const words = asText(todo?.content) ?? asText(todo?.subject)
  return todo === null || words === null ? [] : [{ id: idOf(todo.id), text: words, status: todoStatusOf(todo.status) }]
}

/** Parses an update of a todo. The text is '' when the update does not change it. */
function changedTodo(input: Fields): Todo[] {
  const id = idOf(input.taskId)
  if (id === null || (input.status === undefined && asText(input.subject) === null)) return []
  return [
    { id, text: asText(input.subject) ?? '', status: input.status === undefined ? 'open' : todoStatusOf(input.status) },
  ]
}

function idOf(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : asText(value)
}

/** Returns the first line of a plan. Empty when the call does not contain the plan. */
function planTitle(plan: string | null): string {
  const title = (plan ?? '').split('\n').find((line) => line.trim() !== '')
  return (title ?? '').replace(/^#+\s*/, '').trim()
}

const planQuestion = (title: string): string => (title === '' ? 'Approve the plan?' : `Approve the plan "${title}"?`)

function wordsOf(input: Fields): string {
  return Object.values(input)
    .filter((value) => typeof value === 'string')
    .join('\n')
}
