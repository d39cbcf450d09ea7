import { expect, test } from 'vitest'
import type { Message } from '../../contract/records/message.js'
import { type DeliveryMoment, MAX_ANSWER_CHARACTERS, pickMessages } from './pick-messages.js'

let serial = 0
const message = (changes: Partial<Message> = {}): Message => ({
  message_id: `msg_${++serial}`,
  seat_id: 'seat_1',
  session_id: null,
  sender: 'lena',
  category: 'message',
  mode: 'important',
  agent_text: 'hello',
  user_text: null,
  user_told_at: null,
  status: 'queued',
  queued_at: '2026-01-01T00:00:00.000Z',
  sent_at: null,
  delivered_at: null,
  via: null,
  repeated: false,
  ...changes,
})
const agent = { carriers: ['PostToolBatch', 'UserPromptSubmit'], turnEnds: ['Stop'] }
const moment = (changes: Partial<DeliveryMoment> = {}): DeliveryMoment => ({
  sessionId: 's-1',
  held: null,
  inFlight: [],
  unsettled: [],
  startsTurn: false,
  carrier: null,
  ...changes,
})
const reasons = (open: Message[], at: DeliveryMoment): string[] =>
  pickMessages(open, at).waiting.map(({ reason }) => reason)

test('queued messages of the seat and of this session are picked in their order', () => {
  const open = [message(), message({ session_id: 's-1', sender: 'baton' }), message({ status: 'sent' })]
  expect(pickMessages(open, moment())).toEqual({ now: open.slice(0, 2), waiting: [] })
})

test('a message for another session of the seat waits for that session', () => {
  expect(reasons([message({ session_id: 's-2' })], moment())).toEqual(['it is for another session of its seat'])
})

test('while the session is handed over only messages about the session itself are delivered', () => {
  const own = message({ session_id: 's-1', sender: 'baton' })
  const at = moment({ held: 'the session is about to be handed over' })
  expect(pickMessages([message(), own], at).now).toEqual([own])
  expect(reasons([message(), own], at)).toEqual(['the session is about to be handed over'])
})

test('a message that a hook is delivering holds back later ones of the same sender and mode only', () => {
  const [first, behind, other, urgent] = [
    message(),
    message(),
    message({ sender: 'paul' }),
    message({ mode: 'urgent' }),
  ]
  const picked = pickMessages([first, behind, other, urgent], moment({ inFlight: [first.message_id] }))
  expect(picked.now).toEqual([other, urgent])
  expect(picked.waiting.map(({ reason }) => reason)).toEqual([
    'a hook is delivering it',
    'an earlier message of the same sender is delivered first',
  ])
})

test('a message that may have to be repeated is not overtaken', () => {
  const at = moment({ unsettled: [message({ status: 'sent' })] })
  expect(reasons([message()], at)).toEqual(['an earlier message of the same sender is delivered first'])
})

test('a sequential message of another sender waits for the end of the turn', () => {
  const open = [message({ mode: 'sequential' })]
  expect(reasons(open, moment({ carrier: { event: 'PostToolBatch', agent } }))).toEqual([
    'delivered when the turn ends',
  ])
  expect(pickMessages(open, moment({ carrier: { event: 'Stop', agent } })).now).toEqual(open)
})

test('a message that is not worth a turn of its own does not wake an idle session', () => {
  const warning = message({ session_id: 's-1', sender: 'baton', category: 'context' })
  expect(reasons([warning], moment({ startsTurn: true }))).toEqual(['delivered with the next event of the session'])
  const request = message({ session_id: 's-1', sender: 'baton', category: 'handoff', mode: 'urgent' })
  expect(pickMessages([request], moment({ startsTurn: true })).now).toEqual([request])
})

test('an answer holds as many messages as fit, at least one, and none overtakes a message that does not fit', () => {
  const long = message({ agent_text: 'x'.repeat(MAX_ANSWER_CHARACTERS) })
  const open = [long, message({ agent_text: 'x'.repeat(MAX_ANSWER_CHARACTERS) }), message()]
  expect(pickMessages(open, moment()).now).toEqual([long])
  expect(reasons(open, moment())).toEqual([
    'the next answer to the client is full',
    'the next answer to the client is full',
  ])
})

test('a sequential message that cannot be carried yet takes no room from one that can', () => {
  const later = message({ mode: 'sequential', agent_text: 'x'.repeat(MAX_ANSWER_CHARACTERS) })
  const now = message({ sender: 'paul' })
  expect(pickMessages([later, now], moment({ carrier: { event: 'PostToolBatch', agent } })).now).toEqual([now])
})
