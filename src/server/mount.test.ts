import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import type { MessageView } from '../contract/api/messages.js'
import { BatonError, EXIT, type ExitCode } from '../lib/errors.js'
import { mountRoutes, type RouteRequest, type ServerEnv } from './mount.js'

const MESSAGE: MessageView = {
  message_id: 'm1',
  seat_id: 'seat_1',
  session_id: null,
  sender: 'page',
  category: 'message',
  mode: 'sequential',
  text: 'hello',
  status: 'queued',
  reason: null,
  queued_at: '2026-03-01T10:00:00.000Z',
  delivered_at: null,
  via: null,
  repeated: false,
}

/**
 * Mounts two routes of the table: one that reads and one that changes something. `asked` collects
 * the requests that their handlers received.
 */
function mountTwoRoutes(fails?: () => Error) {
  const app = new Hono<ServerEnv>()
  const asked: RouteRequest<'readings' | 'send'>[] = []
  const answer = <T>(reply: T, given: unknown): T => {
    asked.push(given as never)
    if (fails) throw fails()
    return reply
  }
  mountRoutes(app, {
    readings: (given) => answer({ session_id: 's1', readings: [] }, given),
    send: (given) => answer(MESSAGE, given),
  })
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await app.request(path, init)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const post = (body: string, type = 'application/json') =>
    ask('/api/sessions/s1/messages', { method: 'POST', body, headers: { 'Content-Type': type } })
  return { ask, post, asked }
}

describe('parsing requests', () => {
  test('a request is parsed with defaults, and unknown keys of a query are ignored', async () => {
    const { ask, post, asked } = mountTwoRoutes()
    await ask('/api/sessions/s1/readings?limit=5&colour=blue')
    await post('{"text":"  hello "}')
    expect(asked).toEqual([
      { id: 's1', query: { limit: 5 }, body: undefined },
      { id: 's1', query: {}, body: { text: 'hello', mode: 'sequential' } },
    ])
  })

  test.each([
    ['?limit=0', 'limit'],
    ['?limit=100001', 'limit'],
    ['?limit=-3', 'limit'],
    ['?limit=many', 'limit'],
    ['?limit=', 'limit'],
  ])('the query %s is refused with the name of its key', async (query, key) => {
    const { ask, asked } = mountTwoRoutes()
    const { status, body } = await ask(`/api/sessions/s1/readings${query}`)
    expect(status).toBe(400)
    expect(body.error).toMatch(new RegExp(`^${key}: `))
    expect(asked).toEqual([])
  })

  test.each([
    ['{"text":""}', 'text: must be a value that is not empty.'],
    ['{"text":5}', 'text: must be a string.'],
    ['{}', 'text: missing.'],
    ['', 'text: missing.'],
    ['{"text":"a","mode":"loud"}', 'mode: must be one of ("sequential" | "important" | "urgent").'],
    ['{"text":"a","to":"b"}', 'to: unknown key.'],
    ['[]', 'text: missing.'],
    ['null', 'the body: must be an object.'],
    ['"text"', 'the body: must be an object.'],
    ['{"text":', 'The body is not valid JSON.'],
  ])('the body %s is refused with the reason', async (text, error) => {
    const { post, asked } = mountTwoRoutes()
    expect(await post(text)).toMatchObject({ status: 400, body: { error } })
    expect(asked).toEqual([])
  })

  test('a body without the JSON content type, or one that is too large, is refused', async () => {
    const { post, asked } = mountTwoRoutes()
    expect((await post('{"text":"a"}', 'text/plain')).status).toBe(415)
    expect((await post('text=a', 'application/x-www-form-urlencoded')).status).toBe(415)
    expect((await post('{"text":"a"}', 'application/json; charset=utf-8')).status).toBe(200)
    expect((await post(`{"text":"${'x'.repeat(1024 * 1024)}"}`)).status).toBe(413)
    expect(asked).toHaveLength(1)
  })

  test.each(['..%2F..%2Fetc%2Fpasswd', 'a%2Fb', '..', '%2e%2e', 'a%00b', 'a%0ab', 'a%5cb', 'x'.repeat(301)])(
    'the malformed id %s is refused before it is looked up',
    async (id) => {
      const { ask, asked } = mountTwoRoutes()
      const { status } = await ask(`/api/sessions/${id}/readings`).catch(() => ({ status: 404 }))
      expect([400, 404]).toContain(status)
      expect(asked).toEqual([])
    },
  )
})

describe('errors of handlers', () => {
  const refused = (exit: ExitCode) => () => new BatonError('It is over.', 'Begin another.', exit)
  test.each([
    [EXIT.usage, 400],
    [EXIT.notFound, 404],
    [EXIT.refused, 409],
  ] as const)('an error with exit code %i becomes status %i with its message and hint', async (exit, status) => {
    const { ask } = mountTwoRoutes(refused(exit))
    expect(await ask('/api/sessions/s1/readings')).toEqual({
      status,
      body: { error: 'It is over.', hint: 'Begin another.' },
    })
  })

  test('a failure becomes 409 on a route that may refuse, and 500 on others', async () => {
    const { ask, post } = mountTwoRoutes(refused(EXIT.failed))
    expect((await post('{"text":"a"}')).status).toBe(409)
    expect((await ask('/api/sessions/s1/readings')).status).toBe(500)
  })
})
