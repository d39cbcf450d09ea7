import type { Called, Returned, Todo } from '../contract/conversation.js'
import type { Fact, FactState } from '../contract/fact.js'
import type { Watcher } from './watcher.js'

interface Kept extends Todo {
  line: number
  at: number | null
}

interface State {
  kept: Map<string, Kept>
  /** No longer on the list that is written as a whole. */
  past: Map<string, Kept>
  open: Map<string, Called>
}

/** The agent's todos, kept as one list or by id. What left the list unfinished was dropped. */
export function watchTodos(state: State = { kept: new Map(), past: new Map(), open: new Map() }): Watcher {
  const { open } = state

  const put = (key: string, todo: Todo, line: number, at: number | null): void => {
    const before = state.kept.get(key)
    const text = todo.text === '' ? (before?.text ?? '') : todo.text
    if (text === '' && before === undefined) return
    state.kept.set(key, { ...todo, text, line, at })
  }

  const apply = (call: Called, returned: Returned | null): void => {
    const { line, at } = returned ?? call
    if (call.act.type === 'todos' && call.act.whole) {
      replace(call.act.todos, line, at)
      return
    }
    const told = returned?.todos ?? []
    for (const todo of told) put(`#${todo.id}`, todo, line, at)
    if (call.act.type !== 'todos' || told.length > 0) return
    for (const [i, todo] of call.act.todos.entries()) {
      const id = todo.id ?? /#(\d+)/.exec(returned?.text ?? '')?.[1]
      put(id === undefined || id === null ? `${call.callId}.${i}` : `#${id}`, { ...todo, id: id ?? null }, line, at)
    }
  }

  const replace = (todos: Todo[], line: number, at: number | null): void => {
    const before = state.kept
    state.kept = new Map()
    for (const [key, todo] of before) {
      if (!key.startsWith('=')) state.kept.set(key, todo)
      else state.past.set(key, isOpen(todo) ? { ...todo, status: 'dropped' } : todo)
    }
    for (const todo of todos) {
      state.past.delete(`=${todo.text}`)
      put(`=${todo.text}`, todo, line, at)
    }
  }

  return {
    state,
    called: (call) => {
      if (call.act.type === 'todos') open.set(call.callId, call)
    },
    returned: (returned, call) => {
      open.delete(call.callId)
      if (returned.ok !== false && !returned.refused) apply(call, returned)
    },
    facts: () => {
      if (open.size === 0) return [...state.past.values(), ...state.kept.values()].map(factOf)
      // What was asked last and did not come back is taken for made: the list as the agent wanted it. It may still come back otherwise.
      const { kept, past } = state
      state.kept = new Map(kept)
      state.past = new Map(past)
      for (const call of open.values()) apply(call, null)
      const facts = [...state.past.values(), ...state.kept.values()].map(factOf)
      state.kept = kept
      state.past = past
      return facts
    },
  }
}

const isOpen = ({ status }: Todo): boolean => status === 'open' || status === 'doing'

const STATE: Record<Todo['status'], FactState> = { open: 'open', doing: 'open', done: 'done', dropped: 'dropped' }

function factOf({ id, text, status, line, at }: Kept): Fact {
  return { kind: 'todo', text, line, at, state: STATE[status], detail: { id, doing: status === 'doing' } }
}
