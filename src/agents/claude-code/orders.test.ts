import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../test/harness/temp-dir.js'
import type { Order, OrderAnswer } from '../../contract/records/handoff.js'
import {
  dropTypedHandoffRequest,
  forgetOrders,
  isOrderStored,
  readOrderAnswer,
  readOrderHindrance,
  readTypedHandoffRequest,
  withdrawOrder,
  writeOrder,
} from './orders.js'

const order = (change: Partial<Order> = {}): Order => ({
  format: 1,
  orderId: 'o1',
  session: 's1',
  do: 'hand-off',
  prompt: '[baton] Go on.',
  until: 2000,
  ...change,
})

/** Writes an answer like the plugin module does. */
const answer = (dir: string, change: Partial<OrderAnswer> = {}, orderId = 'o1'): void => {
  const whole = { format: 1, orderId, session: 's1', state: 'begun', reason: null, at: 1000, ...change }
  writeFileSync(join(dir, `s1.${orderId}.answer.json`), JSON.stringify(whole))
}

test('an order is one file that only its owner can read, and no other file remains', () => {
  const dir = tempDir()
  writeOrder(dir, order())
  expect(readdirSync(dir)).toEqual(['s1.order.json'])
  expect(JSON.parse(readFileSync(join(dir, 's1.order.json'), 'utf8'))).toEqual(order())
  expect(statSync(join(dir, 's1.order.json')).mode & 0o777).toBe(0o600)
})

test.each(['../x', 'a/b', '', 'a.b'])('an order named %j is not written', (name) => {
  const dir = tempDir()
  expect(() => writeOrder(dir, order({ orderId: name }))).toThrow(RangeError)
  expect(() => writeOrder(dir, order({ session: name }))).toThrow(RangeError)
  expect(readdirSync(dir)).toEqual([])
  expect([
    withdrawOrder(dir, name, 'o1'),
    readOrderAnswer(dir, 's1', name),
    readTypedHandoffRequest(dir, name),
  ]).toEqual([false, null, null])
})

test('an order that was not started can be withdrawn, also before it is given, and is never started then', () => {
  const dir = tempDir()
  expect(withdrawOrder(dir, 's1', 'o1')).toBe(true)
  writeOrder(dir, order())
  expect(isOrderStored(dir, 's1', 'o1')).toBe(true)
  expect(readOrderAnswer(dir, 's1', 'o1')).toMatchObject({ state: 'refused', reason: 'withdrawn' })
  expect([withdrawOrder(dir, 's1', 'o1'), withdrawOrder(dir, 's1', 'o1')]).toEqual([true, true])
  expect(isOrderStored(dir, 's1', 'o1')).toBe(false)
  expect(readdirSync(dir)).toEqual(['s1.o1.answer.json'])
})

test('a refused order counts as withdrawn, unless its execution failed', () => {
  const dir = tempDir()
  answer(dir, { state: 'refused', reason: 'draft' })
  expect(withdrawOrder(dir, 's1', 'o1')).toBe(true)
  for (const reason of ['failed: the session was not cleared', 'failed after the clear: no']) {
    answer(dir, { state: 'refused', reason })
    expect(withdrawOrder(dir, 's1', 'o1')).toBe(false)
  }
})

test('a started order cannot be withdrawn, however incomplete its answer is', () => {
  const dir = tempDir()
  writeOrder(dir, order())
  writeFileSync(join(dir, 's1.o1.answer.json'), '')
  expect(withdrawOrder(dir, 's1', 'o1')).toBe(false)
  expect(readOrderAnswer(dir, 's1', 'o1')).toMatchObject({ state: 'begun', orderId: 'o1', session: 's1' })
})

test('a newer order is not withdrawn in place of the older one', () => {
  const dir = tempDir()
  writeOrder(dir, order())
  writeOrder(dir, order({ orderId: 'o2' }))
  expect([isOrderStored(dir, 's1', 'o1'), isOrderStored(dir, 's1', 'o2')]).toEqual([false, true])
  expect(withdrawOrder(dir, 's1', 'o1')).toBe(true)
  expect(JSON.parse(readFileSync(join(dir, 's1.order.json'), 'utf8')).orderId).toBe('o2')
  expect(withdrawOrder(dir, 's1', 'o2')).toBe(true)
})

test('an answer is read as the plugin module wrote it, and only for its session and order', () => {
  const dir = tempDir()
  expect(readOrderAnswer(dir, 's1', 'o1')).toBeNull()
  answer(dir, { state: 'refused', reason: 'draft' })
  expect(readOrderAnswer(dir, 's1', 'o1')).toEqual({
    format: 1,
    orderId: 'o1',
    session: 's1',
    state: 'refused',
    reason: 'draft',
    at: 1000,
  })
  expect([readOrderAnswer(dir, 's2', 'o1'), readOrderAnswer(dir, 's1', 'o2')]).toEqual([null, null])
})

test('answers of the last day stay when the next order is given, and older ones of the session are removed', () => {
  const dir = tempDir()
  for (const name of ['o1', 'o2']) answer(dir, { state: 'done' }, name)
  writeFileSync(join(dir, 's2.o1.answer.json'), '{}')
  const old = new Date(Date.now() - 25 * 60 * 60 * 1000)
  for (const name of ['s1.o1.answer.json', 's2.o1.answer.json']) utimesSync(join(dir, name), old, old)
  writeOrder(dir, order({ orderId: 'o3' }))
  expect(readdirSync(dir).sort()).toEqual(['s1.o2.answer.json', 's1.order.json', 's2.o1.answer.json'])
})

test('a user’s request is read until dropped, only by its own session and when complete', () => {
  const dir = tempDir()
  const file = join(dir, 's1.request.json')
  expect(readTypedHandoffRequest(dir, 's1')).toBeNull()
  writeFileSync(file, '{"format":1,"sess')
  expect(readTypedHandoffRequest(dir, 's1')).toBeNull()
  expect(existsSync(file)).toBe(true)
  writeFileSync(file, JSON.stringify({ format: 1, session: 's1', at: 1000, words: 'mind the test' }))
  expect(readTypedHandoffRequest(dir, 's2')).toBeNull()
  for (const _ of [1, 2])
    expect(readTypedHandoffRequest(dir, 's1')).toEqual({ session: 's1', at: 1000, words: 'mind the test' })
  dropTypedHandoffRequest(dir, 's1', 999)
  expect(readTypedHandoffRequest(dir, 's1')).not.toBeNull()
  dropTypedHandoffRequest(dir, 's1', 1000)
  expect(readTypedHandoffRequest(dir, 's1')).toBeNull()
  expect(readdirSync(dir)).toEqual([])
})

test('all orders of a session can be forgotten', () => {
  const dir = tempDir()
  writeOrder(dir, order())
  writeOrder(dir, order({ session: 's2' }))
  answer(dir)
  writeFileSync(join(dir, 's1.request.json'), '{}')
  forgetOrders(dir, 's1')
  expect(readdirSync(dir)).toEqual(['s2.order.json'])
})

test('the reason that prevents an order is known while it is written, and is no answer', () => {
  const dir = tempDir()
  writeOrder(dir, order())
  expect(readOrderHindrance(dir, 's1', 'o1')).toBeNull()
  writeFileSync(join(dir, 's1.o1.seen.json'), '{"format":1,"by":"dr')
  expect(readOrderHindrance(dir, 's1', 'o1')).toBe('unknown')
  writeFileSync(
    join(dir, 's1.o1.seen.json'),
    JSON.stringify({ format: 1, orderId: 'o1', session: 's1', by: 'draft', at: 1 }),
  )
  expect([
    readOrderHindrance(dir, 's1', 'o1'),
    readOrderHindrance(dir, 's1', 'o2'),
    readOrderHindrance(dir, '../s1', 'o1'),
  ]).toEqual(['draft', null, null])
  expect(readOrderAnswer(dir, 's1', 'o1')).toBeNull()
  expect(withdrawOrder(dir, 's1', 'o1')).toBe(true)
  forgetOrders(dir, 's1')
  expect(readdirSync(dir)).toEqual([])
})
