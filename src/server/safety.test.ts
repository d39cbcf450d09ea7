import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { RouteSpec } from '../contract/api/route.js'
import { ROUTES } from '../contract/api/routes.js'
import {
  sendRawBytes,
  startTestServer,
  statusLine,
  TEST_TOKEN,
  type TestServerOptions,
  TOKEN_LINE,
} from '../testing/http-server.js'

type TestServer = Awaited<ReturnType<typeof startTestServer>>
const fixtures: TestServer[] = []
const start = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const fixture = await startTestServer(options)
  fixtures.push(fixture)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.end()
})

const SPECS: RouteSpec[] = Object.values(ROUTES)
const OTHERS = [
  'GET /',
  'GET /assets/x.js',
  'GET /api/live',
  'GET /sessions/s1',
  'POST /signals/claude-code/Stop',
  'POST /hooks/context-usage',
]
const ALL = [...SPECS.map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll('{id}', 's1')}`), ...OTHERS]
const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1] ?? 0)
const ask = async (fixture: TestServer, line: string, ...headers: string[]): Promise<number> =>
  statusOf(
    await sendRawBytes(
      fixture.url,
      `${[`${line} HTTP/1.1`, ...headers, 'Content-Length: 0', 'Connection: close'].join('\r\n')}\r\n\r\n`,
    ),
  )

describe('refused callers', () => {
  test('every route refuses a foreign host name and a page of another origin or port', async () => {
    const fixture = await start()
    const { host } = new URL(fixture.url)
    for (const line of ALL) {
      expect(await ask(fixture, line, 'Host: evil.example'), line).toBe(403)
      expect(await ask(fixture, line, `Host: ${host}`, 'Origin: http://evil.example'), line).toBe(403)
      expect(await ask(fixture, line, `Host: ${host}`, 'Origin: http://127.0.0.1:1'), line).toBe(403)
      expect(await ask(fixture, line, `Host: ${host}`, 'Origin: null'), line).toBe(403)
    }
  })

  test('every route except the entrance refuses a wrong token', async () => {
    const fixture = await start()
    for (const line of ALL.filter((one) => one !== 'POST /api/enter'))
      expect(await ask(fixture, line, 'Host: 127.0.0.1', 'Authorization: Bearer wrong'), line).toBe(401)
  })
})

describe('refused requests', () => {
  test('unsupported methods are refused without any CORS header', async () => {
    const fixture = await start()
    for (const method of ['OPTIONS', 'PATCH', 'TRACE', 'PROPFIND']) {
      const response = await sendRawBytes(
        fixture.url,
        `${method} /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\nConnection: close\r\n\r\n`,
      )
      expect(statusOf(response), method).toBe(405)
      expect(response.toLowerCase(), method).not.toContain('access-control')
    }
    const head = await sendRawBytes(
      fixture.url,
      `HEAD /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\nConnection: close\r\n\r\n`,
    )
    expect([statusOf(head), head.split('\r\n\r\n')[1]]).toEqual([200, ''])
  })

  test('bodies that are too large are refused, with and without a length', async () => {
    const fixture = await start()
    const headers = { Authorization: `Bearer ${TEST_TOKEN}`, 'Content-Type': 'application/json' }
    const large = JSON.stringify({ text: 'x'.repeat(5 * 1024 * 1024) })
    for (const path of ['/api/sessions/s1/messages', '/api/enter', '/hooks/context-usage'])
      expect((await fixture.post(path, large, headers)).status, path).toBe(413)
    // Above the limit of this route, and small enough to be read whole before the answer: a server
    // that closes a connection with unread bytes resets it, and the answer may be lost.
    const chunk = `${(5_000).toString(16)}\r\n${'x'.repeat(5_000)}\r\n`
    const chunked = await sendRawBytes(
      fixture.url,
      'POST /api/enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n' +
        `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk}`,
    )
    expect(statusOf(chunked)).toBe(413)
  })

  test('a request with conflicting or malformed lengths is never read as two requests', async () => {
    const fixture = await start()
    const body = JSON.stringify(statusLine('smuggled', 50_000, 1))
    const inner =
      `POST /signals/claude-code/status-line HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`
    for (const headers of [
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      ['Content-Length: 5', 'Content-Length: 6'],
      ['Content-Length: 0x5'],
      ['Content-Length: +5'],
      ['Content-Length : 5'],
      ['X: a\nContent-Length: 5'],
      ['Transfer-Encoding: xchunked'],
      [' Content-Length: 5'],
    ]) {
      const head = ['POST /signals/claude-code/Stop HTTP/1.1', 'Host: 127.0.0.1', TOKEN_LINE, ...headers].join('\r\n')
      const response = await sendRawBytes(fixture.url, `${head}\r\n\r\nabcde${inner}`)
      expect([400, 501], JSON.stringify(headers)).toContain(statusOf(response))
    }
    const twice = await sendRawBytes(
      fixture.url,
      `POST /signals/claude-code/Stop HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\nConnection: close\r\n` +
        `Content-Length: 2\r\n\r\n{}${inner}`,
    )
    expect(twice.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(fixture.app.store.session('smuggled')).toBeNull()
    const hosts = await sendRawBytes(
      fixture.url,
      'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    )
    expect(statusOf(hosts)).toBe(400)
  })

  test('ids that contain paths are refused', async () => {
    const fixture = await start()
    const files = readdirSync(fixture.root).toSorted()
    const authorized = ['Host: 127.0.0.1', `Authorization: Bearer ${TEST_TOKEN}`]
    for (const id of [
      '.',
      '..',
      '../../etc/passwd',
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e',
      '%00',
      'a%00b',
      '..%5c..',
      '%c0%ae%c0%ae',
      '%',
      'x'.repeat(5_000),
    ])
      for (const at of ['/api/sessions/', '/api/jobs/', '/api/briefs/', '/api/archives/', '/sessions/'])
        expect([400, 404], at + id).toContain(await ask(fixture, `GET ${at}${id}`, ...authorized))
    expect(readdirSync(fixture.root).toSorted()).toEqual(files)
  })

  test('a body that is not valid JSON is refused', async () => {
    const fixture = await start()
    for (const body of ['', '{', 'null', '[]', '"x"', '{"ticket": {"$gt": ""}}', '{"__proto__": {"ticket": "x"}}'])
      expect((await fixture.post('/api/enter', body, { 'Content-Type': 'application/json' })).status, body).toBe(400)
  })
})

describe('slow requests', () => {
  /** Sends one byte at a time. Resolves with the response when the server closes. */
  const sendSlowly = (url: string, begin: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      let response = ''
      let timer: NodeJS.Timeout | undefined
      socket.on('connect', () => {
        socket.write(begin)
        timer = setInterval(() => socket.write('x'), 20)
      })
      socket.on('data', (data) => {
        response += data
      })
      socket.on('error', () => {})
      socket.on('close', () => {
        clearInterval(timer)
        resolve(response)
      })
    })

  test('a request that arrives too slowly is cut off, and others are answered meanwhile', async () => {
    const fixture = await start({ arrivalMs: 100 })
    const ends = [
      sendSlowly(fixture.url, 'GET /health HTTP/1.1\r\nX-Slow: '),
      sendSlowly(fixture.url, 'POST /signals/claude-code/Stop HTTP/1.1\r\nX-Slow: '),
      sendSlowly(
        fixture.url,
        `POST /signals/claude-code/Stop HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\nContent-Length: 1000\r\n\r\n`,
      ),
    ]
    expect((await fixture.get('/health')).status).toBe(200)
    for (const response of await Promise.all(ends)) expect([0, 408]).toContain(statusOf(response))
  })
})
