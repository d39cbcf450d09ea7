import { expect, it } from 'vitest'
import { sseParser } from './parse-sse.js'

it('messages come out whole however the stream is cut', () => {
  const stream = ': hello\n\nevent: snapshot\ndata: {"a":1}\n\nid: 7\ndata: x\ndata: y\n\n'
  for (let cut = 0; cut <= stream.length; cut++) {
    const parse = sseParser()
    expect([...parse(stream.slice(0, cut)), ...parse(stream.slice(cut))]).toEqual([
      { event: 'snapshot', data: '{"a":1}', id: null },
      { event: 'message', data: 'x\ny', id: '7' },
    ])
  }
})

it('a line may end in any of the three ways, and an id belongs to one message only', () => {
  const parse = sseParser()
  expect(parse('id: 1\r\ndata: a\r\n\r\ndata: b\n\n')).toEqual([
    { event: 'message', data: 'a', id: '1' },
    { event: 'message', data: 'b', id: null },
  ])
})
