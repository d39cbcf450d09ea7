import { expect, test } from 'vitest'
import type { Entry, Todo } from '../contract/conversation.js'
import { called, returned } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

function todos(...entries: Entry[]): [string, string | null][] {
  const facts = startFacts()
  for (const entry of entries) facts.take(entry)
  return facts
    .facts()
    .filter(({ kind }) => kind === 'todo')
    .map(({ text, state }) => [text, state])
}
const list = (...items: [string, Todo['status']][]): Entry[] => {
  const call = called({
    type: 'todos',
    whole: true,
    todos: items.map(([text, status]) => ({ id: null, text, status })),
  })
  return [call, returned(call, 'ok')]
}
const byId = (todo: Todo, more: Parameters<typeof returned>[2] = {}): Entry[] => {
  const call = called({ type: 'todos', whole: false, todos: [todo] })
  return [call, returned(call, 'ok', more)]
}

test('a list written anew replaces the old one; what left it unfinished was dropped', () => {
  const first = list(['read', 'doing'], ['write', 'open'], ['cache', 'open'])
  expect(todos(...first)).toEqual([
    ['read', 'open'],
    ['write', 'open'],
    ['cache', 'open'],
  ])
  expect(todos(...first, ...list(['read', 'done'], ['write', 'doing']), ...list(['write', 'done']))).toEqual([
    ['cache', 'dropped'],
    ['read', 'done'],
    ['write', 'done'],
  ])
})

test('by id: made, changed, deleted', () => {
  const made = (id: string, text: string) =>
    byId({ id: null, text, status: 'open' }, { todos: [{ id, text, status: 'open' }] })
  expect(
    todos(
      ...made('1', 'first'),
      ...made('2', 'second'),
      ...byId({ id: '1', text: '', status: 'done' }),
      ...byId({ id: '2', text: 'the second', status: 'dropped' }),
      ...byId({ id: '9', text: '', status: 'done' }),
    ),
  ).toEqual([
    ['first', 'done'],
    ['the second', 'dropped'],
  ])
})

test('a refused change changes nothing; one that never came back is taken for made', () => {
  const call = called({ type: 'todos', whole: true, todos: [{ id: null, text: 'a', status: 'open' }] })
  expect(todos(call, returned(call, 'no', { ok: false, refused: true }))).toEqual([])
  expect(todos(call)).toEqual([['a', 'open']])
  const facts = startFacts()
  facts.take(call)
  expect(facts.facts()).toHaveLength(1)
  facts.take(returned(call, 'no', { ok: false, refused: true }))
  expect(facts.facts()).toEqual([])
})
