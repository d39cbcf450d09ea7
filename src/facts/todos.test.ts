import { expect, test } from 'vitest'
import type { Entry, Todo } from '../contract/conversation.js'
import { called, returned } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

function todoStates(...entries: Entry[]): [string, string | null][] {
  const facts = startFacts()
  for (const entry of entries) facts.add(entry)
  return facts
    .facts()
    .filter(({ kind }) => kind === 'todo')
    .map(({ text, state }) => [text, state])
}
const writeList = (...items: [string, Todo['status']][]): Entry[] => {
  const call = called({
    type: 'todos',
    whole: true,
    todos: items.map(([text, status]) => ({ id: null, text, status })),
  })
  return [call, returned(call, 'ok')]
}
const changeTodo = (todo: Todo, more: Parameters<typeof returned>[2] = {}): Entry[] => {
  const call = called({ type: 'todos', whole: false, todos: [todo] })
  return [call, returned(call, 'ok', more)]
}

test('a new todo list replaces the old one, and unfinished todos that left it were dropped', () => {
  const first = writeList(['read', 'doing'], ['write', 'open'], ['cache', 'open'])
  expect(todoStates(...first)).toEqual([
    ['read', 'open'],
    ['write', 'open'],
    ['cache', 'open'],
  ])
  expect(
    todoStates(...first, ...writeList(['read', 'done'], ['write', 'doing']), ...writeList(['write', 'done'])),
  ).toEqual([
    ['cache', 'dropped'],
    ['read', 'done'],
    ['write', 'done'],
  ])
})

test('todos with ids can be created, changed and deleted', () => {
  const made = (id: string, text: string) =>
    changeTodo({ id: null, text, status: 'open' }, { todos: [{ id, text, status: 'open' }] })
  expect(
    todoStates(
      ...made('1', 'first'),
      ...made('2', 'second'),
      ...changeTodo({ id: '1', text: '', status: 'done' }),
      ...changeTodo({ id: '2', text: 'the second', status: 'dropped' }),
      ...changeTodo({ id: '9', text: '', status: 'done' }),
    ),
  ).toEqual([
    ['first', 'done'],
    ['the second', 'dropped'],
  ])
})

test('a refused change of todos has no effect, and one without a result counts as made', () => {
  const call = called({ type: 'todos', whole: true, todos: [{ id: null, text: 'a', status: 'open' }] })
  expect(todoStates(call, returned(call, 'no', { ok: false, refused: true }))).toEqual([])
  expect(todoStates(call)).toEqual([['a', 'open']])
  const facts = startFacts()
  facts.add(call)
  expect(facts.facts()).toHaveLength(1)
  facts.add(returned(call, 'no', { ok: false, refused: true }))
  expect(facts.facts()).toEqual([])
})
