import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAnnouncement } from '../lib/announced-server.js'
import { startTestServer, statusLine, TEST_TOKEN } from '../testing/http-server.js'

let server: Awaited<ReturnType<typeof startTestServer>>
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.end())

const BODY = JSON.stringify(statusLine('5e551010-0000-4000-8000-000000000001', 20_000, 1))
const LINE = 'POST /signals/claude-code/status-line HTTP/1.1'
const HEADERS = [
  'Host: 127.0.0.1',
  'Connection: close',
  `Authorization: Bearer ${TEST_TOKEN}`,
  `Content-Length: ${BODY.length}`,
]
const request = (line = LINE, headers: readonly string[] = HEADERS, end = '\r\n', body = BODY): string =>
  `${[line, ...headers].join(end)}${end}${end}${body}`
const withHeader = (...more: string[]): string => request(LINE, [...HEADERS, ...more])
const withLength = (...lengths: string[]): string => request(LINE, [...HEADERS.slice(0, 3), ...lengths])

/** Sends bytes and returns everything the server answers until it closes the connection. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'))
    let answer = ''
    socket.on('data', (data) => {
      answer += data.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}

const statusOf = (answer: string): string => /^HTTP\/1\.1 (?!100)(\d{3}) /.exec(answer)?.[1] ?? `no answer: ${answer}`

const ODD: Record<string, string> = {
  'the version HTTP/1.0': request(LINE.replace('1.1', '1.0')),
  'the version HTTP/1.2': request(LINE.replace('1.1', '1.2')),
  'the version HTTP/2.0': request(LINE.replace('1.1', '2.0')),
  'the version HTTP/1.10': request(LINE.replace('1.1', '1.10')),
  'the version in lower case': request(LINE.replace('HTTP', 'http')),
  'no version': request(LINE.replace(' HTTP/1.1', '')),
  'a word after the version': request(`${LINE} x`),
  'a space after the version': request(`${LINE} `),
  'two spaces before the version': request(LINE.replace(' HTTP', '  HTTP')),
  'a tab before the version': request(LINE.replace(' HTTP', '\tHTTP')),
  'a space in the target': request(LINE.replace('status-line', 'status line')),
  'a null byte in the target': request(LINE.replace('status-line', 'status\0line')),
  'a control character in the target': request(LINE.replace('status-line', 'status\x01line')),
  'a byte beyond ASCII in the target': request(LINE.replace('status-line', 'st\xe4tus')),
  'a percent escape in the target': request(LINE.replace('status-line', 'status%2dline')),
  'a query': request(LINE.replace('status-line', 'status-line?a=1')),
  'a fragment': request(LINE.replace('status-line', 'status-line#a')),
  'dots in the target': request(LINE.replace('claude-code', '..')),
  'a target of three parts': request(LINE.replace('status-line', 'status-line/more')),
  'a target without a kind': request(LINE.replace('/status-line', '')),
  'a kind of 65 characters': request(LINE.replace('status-line', 'k'.repeat(65))),
  'an unknown agent': request(LINE.replace('claude-code', 'nobody')),
  'the name of an inherited property as agent': request(LINE.replace('claude-code', 'constructor')),
  'line feeds alone': request(LINE, HEADERS, '\n'),
  'a line feed alone after the request line': request().replace('\r\n', '\n'),
  'carriage returns alone': request(LINE, HEADERS, '\r'),
  'a carriage return inside a header': withHeader('X-A: a\rb'),
  'a line feed inside a header': withHeader('X-A: a\nb'),
  'a folded header': withHeader('X-A: a', ' b'),
  'a header without a name': withHeader(': a'),
  'a header without a colon': withHeader('nothing'),
  'a space before the colon': withHeader('X-A : a'),
  'a space inside a header name': withHeader('X A: a'),
  'a null byte in a header': withHeader('X-A: a\0b'),
  'a control character in a header': withHeader('X-A: a\x01b'),
  'a delete character in a header': withHeader('X-A: a\x7fb'),
  'many blanks before a control character in a header': withHeader(`X-A:${' '.repeat(14_000)}\x01`),
  'two hosts': withHeader('Host: 127.0.0.1'),
  'two different hosts': withHeader('Host: evil.example'),
  'no host': request(LINE, HEADERS.slice(1)),
  'two equal lengths': withLength(`Content-Length: ${BODY.length}`, `Content-Length: ${BODY.length}`),
  'two different lengths': withLength(`Content-Length: ${BODY.length}`, 'Content-Length: 1'),
  'a list of lengths': withLength(`Content-Length: ${BODY.length}, ${BODY.length}`),
  'an empty length': withLength('Content-Length:'),
  'a negative length': withLength('Content-Length: -1'),
  'a length with a plus': withLength(`Content-Length: +${BODY.length}`),
  'a hexadecimal length': withLength('Content-Length: 0x10'),
  'a length with a space inside': withLength('Content-Length: 1 0'),
  'a length of twenty digits': withLength('Content-Length: 99999999999999999999'),
  'a length and a transfer encoding': withHeader('Transfer-Encoding: chunked'),
  'an unknown transfer encoding': withHeader('Transfer-Encoding: identity'),
  'two transfer encodings': withHeader('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
  'a head of more than 16 kB': withHeader(`X-A: ${'a'.repeat(20_000)}`),
  'a host that is not this machine': request(LINE, ['Host: evil.example', ...HEADERS.slice(1)]),
  'a wrong token': request(
    LINE,
    HEADERS.map((header) => header.replace(TEST_TOKEN, 'wrong')),
  ),
}

/**
 * Empty line before a request. Node skips it, the signal door does not, so that the request goes to
 * Node's HTTP server.
 */
const BY_NODE = '\r\n'

describe('unusual requests at the signal door', () => {
  test.each(Object.entries(ODD))('a signal request with %s gets the status that Node gives it', async (_, bytes) => {
    expect(statusOf(await exchange(bytes))).toBe(statusOf(await exchange(`${BY_NODE}${bytes}`)))
  })
})

test('an ordinary signal is accepted by the signal door and by Node’s HTTP server', async () => {
  const [door, node] = [await exchange(request()), await exchange(`${BY_NODE}${request()}`)]
  expect([statusOf(door), statusOf(node)]).toEqual(['200', '200'])
  expect([door, node].map((answer) => answer.includes('nosniff'))).toEqual([false, true])
})

test('a header value keeps UTF-8 letters whose last byte looks like a no-break space', async () => {
  const seat = Buffer.from('voilà', 'utf8').toString('latin1')
  const session = '5e551010-0000-4000-8000-000000000002'
  const body = JSON.stringify(statusLine(session, 20_000, 1))
  const headers = [...HEADERS.slice(0, 3), `X-Env-BATON_SEAT:  ${seat} `, `Content-Length: ${body.length}`]
  expect(statusOf(await exchange(request(LINE, headers, '\r\n', body)))).toBe('200')
  expect(server.app.find(session)).not.toBeNull()
  expect(server.app.store.seat(server.app.find(session)!.seatId)?.name).toBe('voilà')
})

describe('a connection that begins with a preface', () => {
  const known = () => readAnnouncement(server.app.home.server)!

  test('a connection that begins with a preface gets the proof and then the answer to its request', async () => {
    const answer = await exchange(`BATON ${known().hello}\r\n${request()}`)
    expect(answer.startsWith(`${known().proof}\r\nHTTP/1.1 200 OK\r\n`)).toBe(true)
  })

  test('a preface may be followed by any other HTTP request', async () => {
    const answer = await exchange(
      `BATON ${known().hello}\r\nGET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    )
    expect(answer.startsWith(`${known().proof}\r\nHTTP/1.1 200 OK\r\n`)).toBe(true)
  })

  test.each([
    ['a wrong hello', () => `BATON ${'0'.repeat(16)}\r\n`],
    ['the hello in upper case', () => `BATON ${known().hello.toUpperCase()}x\r\n`],
    ['the proof instead of the hello', () => `BATON ${known().proof}\r\n`],
    ['the token instead of the hello', () => `BATON ${TEST_TOKEN.padEnd(16).slice(0, 16)}\r\n`],
    ['a bare line feed', () => `BATON ${known().hello}\n\n`],
    ['a second preface', () => `BATON ${known().hello}\r\nBATON ${known().hello}\r\n\r\n`],
  ])('learns no second proof and gets no answer with %s', async (_, bytes) => {
    const answer = await exchange(`${bytes()}${request()}`)
    expect(answer.replace(`${known().proof}\r\n`, '')).not.toMatch(new RegExp(`${known().proof}|200 OK`))
    if (!bytes().startsWith(`BATON ${known().hello}\r\n`)) expect(answer).toBe('')
  })
})
