import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Session } from '../contract/api/session-view.js'
import type { Event } from '../contract/records/event.js'
import { sendRawBytes, startTestServer, statusLine, TEST_TOKEN, TOKEN_LINE } from '../testing/http-server.js'

type TestServer = Awaited<ReturnType<typeof startTestServer>>
const fixtures: TestServer[] = []
const start = async (options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> => {
  const fixture = await startTestServer(options)
  fixtures.push(fixture)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.end()
})

const batch = (session: string) => ({
  session_id: session,
  transcript_path: `/nowhere/${session}.jsonl`,
  cwd: '/nowhere',
  hook_event_name: 'PostToolBatch',
  tool_calls: [{ tool_name: 'Bash', tool_input: {}, tool_use_id: 'toolu_1', tool_response: 'ok' }],
})
const sessions = async (fixture: TestServer): Promise<Session[]> =>
  (await fixture.get('/api/sessions')).body.sessions as Session[]
const events = async (fixture: TestServer, query = ''): Promise<Event[]> =>
  (await fixture.get(`/api/events${query}`)).body.events as Event[]

describe('signals', () => {
  test('a status line is answered with its text, and the next hook once with the warning', async () => {
    const fixture = await start()
    const line = await fixture.post('/signals/claude-code/status-line', statusLine('s1', 125_008, 1000))
    expect(await line.text()).toContain('74.9%')
    const first = (await (await fixture.post('/signals/claude-code/PostToolBatch', batch('s1'))).json()) as Record<
      string,
      { additionalContext: string }
    >
    expect(first.hookSpecificOutput?.additionalContext).toContain('[baton] Context level "warning"')
    expect(await (await fixture.post('/signals/claude-code/PostToolBatch', batch('s1'))).text()).toBe('')
    const types = (await events(fixture)).map((event) => event.type)
    expect(types.filter((type) => type === 'level_crossed')).toHaveLength(2)
    expect(types.filter((type) => type === 'context_warning')).toHaveLength(1)
    expect(types).toContain('message_delivered')
  })

  test('a signal is accepted whole, in pieces, chunked, and with a split head', async () => {
    const fixture = await start()
    const json = (session: string) => JSON.stringify(statusLine(session, 50_008, 1))
    const head = (extra: string) =>
      `POST /signals/claude-code/status-line HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\nConnection: close\r\n` +
      `${extra}\r\n\r\n`
    const length = (text: string) => `Content-Length: ${Buffer.byteLength(text)}`
    const ways: Record<string, string[]> = {
      whole: [head(length(json('whole'))) + json('whole')],
      pieces: [head(length(json('pieces'))), json('pieces').slice(0, 40), json('pieces').slice(40)],
      torn: [head(length(json('torn'))).slice(0, 30), head(length(json('torn'))).slice(30) + json('torn')],
      chunked: [
        `${head('Transfer-Encoding: chunked')}${Buffer.byteLength(json('chunked')).toString(16)}\r\n` +
          `${json('chunked')}\r\n0\r\n\r\n`,
      ],
      'one-byte-first': ['P', head(length(json('one-byte-first'))).slice(1) + json('one-byte-first')],
    }
    for (const [name, chunks] of Object.entries(ways)) {
      const heard = await sendRawBytes(fixture.url, ...chunks)
      expect(heard.startsWith('HTTP/1.1 200'), `${name}: ${heard}`).toBe(true)
      expect(heard, name).toContain('29.9%')
    }
    expect((await sessions(fixture)).map((session) => session.session_id).sort()).toEqual(Object.keys(ways).sort())
  })

  test('several requests on one connection are answered in order, signals and others', async () => {
    const fixture = await start()
    const request = (session: string, after = 'keep-alive') => {
      const body = JSON.stringify(statusLine(session, 50_008, 1))
      return (
        `POST /signals/claude-code/status-line HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\n` +
        `Connection: ${after}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
      )
    }
    const health = 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'
    const answers = (heard: string): string[] => heard.match(/HTTP\/1\.1 \d{3}/g) ?? []
    // Send them separately, all at once, and split inside the second.
    const apart = await sendRawBytes(fixture.url, request('a'), request('b'), request('c', 'close'))
    expect(answers(apart)).toEqual(Array(3).fill('HTTP/1.1 200'))
    const atOnce = await sendRawBytes(fixture.url, request('d') + request('e') + request('f', 'close'))
    expect(answers(atOnce)).toEqual(Array(3).fill('HTTP/1.1 200'))
    const both = request('g') + request('h', 'close')
    expect(answers(await sendRawBytes(fixture.url, both.slice(0, -60), both.slice(-60)))).toHaveLength(2)
    for (const chunks of [[request('i'), health], [request('i') + health]]) {
      const heard = await sendRawBytes(fixture.url, ...chunks)
      expect(answers(heard)).toEqual(Array(2).fill('HTTP/1.1 200'))
      expect(heard).toContain('"ok":true')
    }
    expect(
      (await sessions(fixture))
        .map(({ session_id }) => session_id)
        .sort()
        .join(''),
    ).toBe('abcdefghi')
  })

  test('a signal with a malformed session id is refused and stores nothing', async () => {
    const fixture = await start()
    const odd = [
      '',
      'x'.repeat(201),
      'x'.repeat(10_000),
      'a\nb',
      'a\u0000b',
      '\u001b[31mred',
      'a\u007f',
      'a\u0085b',
      'a/b',
      '../../x',
      'a\\b',
      'a..b',
    ]
    for (const id of odd) {
      const told = [
        await fixture.post('/signals/claude-code/status-line', statusLine(id, 50_000, 1)),
        await fixture.post('/signals/claude-code/SessionStart', {
          session_id: id,
          hook_event_name: 'SessionStart',
          cwd: '/x',
        }),
        await fixture.post('/signals/claude-code/PreCompact', {
          session_id: id,
          hook_event_name: 'PreCompact',
          trigger: 'auto',
        }),
      ]
      expect(
        told.map(({ status }) => status),
        JSON.stringify(id).slice(0, 40),
      ).toEqual([400, 400, 400])
    }
    expect((await fixture.get('/api/sessions?all=1')).body.sessions).toEqual([])
    for (const id of ['x'.repeat(200), 'Ärger mit Ü', 'a.b', 'session-1'])
      expect((await fixture.post('/signals/claude-code/status-line', statusLine(id, 50_000, 1))).status, id).toBe(200)
    expect((await fixture.get('/api/sessions?all=1')).body.sessions).toHaveLength(4)
  })

  test('a request that is not a signal is refused with a fitting status and stores nothing', async () => {
    const fixture = await start()
    expect((await fixture.post('/signals/claude-code/Stop', 'not json')).status).toBe(400)
    expect((await fixture.post('/signals/claude-code/Stop', '{}')).status).toBe(400)
    expect((await fixture.post('/signals/codex/Stop', '{}')).status).toBe(404)
    expect((await fixture.post('/signals/__proto__/Stop', '{}')).status).toBe(404)
    expect(await sessions(fixture)).toEqual([])
  })

  test('a signal from another origin or host is refused by signal door and HTTP server', async () => {
    const fixture = await start()
    const body = JSON.stringify(statusLine('s1', 50_000, 1))
    const request = (extra: string) =>
      'POST /signals/claude-code/status-line HTTP/1.1\r\nConnection: close\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n${extra}\r\n\r\n${body}`
    expect(await sendRawBytes(fixture.url, request('Host: evil.example'))).toMatch(/^HTTP\/1.1 403/)
    expect(await sendRawBytes(fixture.url, request('Host: 127.0.0.1\r\nOrigin: http://evil.example'))).toMatch(
      /^HTTP\/1.1 403/,
    )
    expect(
      await sendRawBytes(fixture.url, 'GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 403/)
    expect(await sessions(fixture)).toEqual([])
  })

  test('a signal sent twice under one id counts once', async () => {
    const fixture = await start()
    const send = () =>
      fixture.post('/signals/claude-code/PostToolBatch', batch('s1'), { 'X-Baton-Signal': 's1.1.1.1.PostToolBatch' })
    expect((await send()).status).toBe(200)
    expect((await send()).status).toBe(200)
    expect(fixture.app.store.session('s1')?.silence.toolCalls).toBe(1)
  })

  test('a large signal is read from the spool by its id, and its file is removed', async () => {
    const fixture = await start()
    const id = 's9.1.1.1.status-line'
    fixture.app.drain()
    const spool = fixture.app.home.spool
    const { mkdirSync } = await import('node:fs')
    mkdirSync(spool, { recursive: true })
    const body = JSON.stringify(statusLine('s9', 100_200, 1, { pad: 'x'.repeat(200_000) }))
    writeFileSync(join(spool, id), `claude-code\nstatus-line\n1\nHOME=/nowhere\n\n\n${body}\n#end\n`)
    const answer = await fixture.post('/signals/claude-code/status-line', '', {
      'X-Baton-Signal': id,
      'X-Baton-Spooled': '1',
    })
    expect(await answer.text()).toContain('60%')
    expect(existsSync(join(spool, id))).toBe(false)
  })

  test('a hundred concurrent signals of twenty sessions are not mixed up', async () => {
    const fixture = await start()
    const all = Array.from({ length: 100 }, (_, i) =>
      fixture.post('/signals/claude-code/status-line', statusLine(`s${i % 20}`, 20_000 + i * 100, i + 1)),
    )
    for (const response of await Promise.all(all)) expect(response.status).toBe(200)
    const found = await sessions(fixture)
    expect(found).toHaveLength(20)
    for (const session of found) {
      const n = Number(session.session_id.slice(1))
      expect(session.used_tokens).toBe(20_000 + (80 + n) * 100)
    }
  })
})

describe('routes for figures', () => {
  test('health, sessions, readings and events since an id or a time can be read', async () => {
    const fixture = await start()
    await fixture.post('/signals/claude-code/status-line', statusLine('abcd-1', 90_000, 1))
    expect((await fixture.get('/health')).body).toEqual({ ok: true })
    expect((await fixture.get('/api/access')).body).toEqual({ expires_at: null, version: 'test', pid: process.pid })
    const one = (await fixture.get('/api/sessions/abcd-1')).body
    expect(one).toMatchObject({
      session_id: 'abcd-1',
      used_tokens: 90_000,
      used_percent: 45,
      compaction_tokens: 167_000,
      level: 'notice',
    })
    expect(one.levels).toHaveLength(4)
    expect((await fixture.get('/api/sessions/abcd-1/readings')).body.readings).toMatchObject([
      { used_tokens: 90_000, cycle: 1 },
    ])
    const all = await events(fixture)
    expect(all.length).toBeGreaterThan(3)
    expect((await events(fixture, `?since=${all[1]!.id}`)).map((event) => event.id)).toEqual(
      all.slice(2).map((event) => event.id),
    )
    expect(await events(fixture, '?since=2001-01-01')).toHaveLength(all.length)
    expect(await events(fixture, '?since=2999-01-01')).toEqual([])
    expect((await fixture.get('/api/events?since=yesterday-ish')).status).toBe(400)
    expect((await fixture.get('/api/sessions/none')).status).toBe(404)
    expect((await fixture.get('/nothing')).status).toBe(404)
  })
})

describe('the endpoint of older context monitors', () => {
  const usage = (session: string, percent: number, tokens: number, extra: Record<string, unknown> = {}) => ({
    session_id: session,
    used_percentage: percent,
    total_input_tokens: tokens,
    total_output_tokens: 5,
    context_window_size: 200_000,
    ...extra,
  })
  const known = async (): Promise<TestServer> => {
    const fixture = await start()
    await fixture.post('/signals/claude-code/SessionStart', {
      session_id: 's1',
      cwd: '/nowhere',
      hook_event_name: 'SessionStart',
      source: 'startup',
      model: 'claude-opus-4-6',
    })
    return fixture
  }
  /** Sends a report without the token, as the scripts of monitors do. */
  const report = (fixture: TestServer, body: unknown) =>
    fetch(`${fixture.url}/hooks/context-usage`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const send = async (fixture: TestServer, body: unknown) =>
    (await (await report(fixture, body)).json()) as Record<string, unknown>

  test('a monitor is answered ok, unknown_session, compaction_logged, or 204 for unreadable reports', async () => {
    const fixture = await known()
    expect(await send(fixture, usage('s1', 51, 102_000))).toMatchObject({ status: 'ok', used_percentage: 51 })
    expect(await send(fixture, usage('nobody', 51, 102_000))).toEqual({ status: 'unknown_session' })
    expect(await send(fixture, { used_percentage: 3 })).toEqual({ status: 'unknown_session' })
    expect(await send(fixture, { session_id: 's1', event: 'compaction', trigger: 'auto' })).toEqual({
      status: 'compaction_logged',
    })
    expect((await report(fixture, 'not json')).status).toBe(204)
    expect((await fixture.get('/sessions/s1')).body).toMatchObject({
      id: 's1',
      tokens_used: null,
      compactions: 0,
      last_handoff_path: null,
      session_id: 's1',
    })
    expect((await fetch(`${fixture.url}/sessions/nobody`)).status).toBe(404)
    expect((await fetch(`${fixture.url}/sessions/s1`)).status).toBe(200)
  })

  test('a monitor’s reports cross a level once a cycle, and again only after a compaction', async () => {
    const fixture = await known()
    const crossings = async () =>
      (await events(fixture)).filter((event) => event.type === 'level_crossed').map((event) => event.data.level)
    await send(fixture, usage('s1', 55, 110_000))
    await send(fixture, usage('s1', 40, 80_000))
    await send(fixture, usage('s1', 56, 112_000))
    expect(await crossings()).toEqual(['notice'])
    await send(fixture, { session_id: 's1', event: 'compaction', trigger: 'auto' })
    await send(fixture, usage('s1', 52, 104_000))
    expect(await crossings()).toEqual(['notice', 'notice'])
  })

  test('a monitor’s reading older than its last one is dropped, even on a clock that is years off', async () => {
    const fixture = await known()
    await send(fixture, usage('s1', 30, 60_000, { timestamp: '2011-01-01T00:00:10Z' }))
    await send(fixture, usage('s1', 35, 70_000, { timestamp: '2011-01-01T00:00:20Z' }))
    await send(fixture, usage('s1', 90, 180_000, { timestamp: '2011-01-01T00:00:05Z' }))
    expect((await fixture.get('/sessions/s1')).body).toMatchObject({ tokens_used: 70_000, level: null })
  })

  test('a monitor’s report of null or 0 stores nothing, because the model has not answered yet', async () => {
    const fixture = await known()
    expect(await send(fixture, { session_id: 's1', used_percentage: null, total_input_tokens: 0 })).toEqual({
      status: 'no_usage',
    })
    expect((await fixture.get('/sessions/s1')).body.tokens_used).toBeNull()
  })

  test('a monitor’s report must hold whole numbers of a possible size, and is never called exact', async () => {
    const fixture = await known()
    const wrong = [
      ...[-1, 0.5, 1e9, Number.MAX_SAFE_INTEGER, '50000', [50_000], null, true].map((tokens) => [tokens, null]),
      ...[-1, 101, '50'].map((percent) => [null, percent]),
      [-1, 101],
    ]
    for (const [tokens, percent] of wrong)
      expect(await send(fixture, { session_id: 's1', used_percentage: percent, total_input_tokens: tokens })).toEqual({
        status: 'no_usage',
      })
    expect(await send(fixture, usage('s1', 25, 50_000))).toMatchObject({ status: 'ok' })
    expect((await fixture.get('/sessions/s1')).body).toMatchObject({
      used_tokens: 50_000,
      source: 'monitor',
      exact: false,
    })
    expect(await send(fixture, { session_id: '', used_percentage: 3 })).toEqual({ status: 'unknown_session' })
  })

  test('a monitor’s report moves neither window nor compaction point', async () => {
    const fixture = await known()
    const limits = () => fixture.app.store.session('s1')!.track.limits
    const before = limits()
    await send(fixture, { ...usage('s1', 25, 50_000), context_window_size: 60_000 })
    expect(limits()).toEqual(before)
  })

  test('a monitor finds a session by its seat', async () => {
    const fixture = await known()
    const seat = fixture.app.store.session('s1')!.seatId
    expect(await send(fixture, usage(seat, 20, 40_000))).toMatchObject({ status: 'ok' })
    expect((await fixture.get(`/sessions/${seat}`)).body).toMatchObject({ session_id: 's1', tokens_used: 40_000 })
  })
})

describe('starting and ending', () => {
  test('a server announces itself to the launcher and removes the announcement when it ends', async () => {
    const fixture = await startTestServer()
    const file = fixture.app.home.server
    expect(readFileSync(file, 'utf8')).toMatch(
      new RegExp(`^${new URL(fixture.url).port} ${TEST_TOKEN} ${process.pid} [0-9a-f]{16} [0-9a-f]{16}\n$`),
    )
    await fixture.end()
    expect(existsSync(file)).toBe(false)
  })
})

test('a response that takes longer than the idle timeout is still delivered', async () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const fixture = await start({ stillMs: 500, opened })
  const answer = fixture.get('/api/jobs')
  // The server closes this connection, opened later than the request above, because it is idle.
  const idle = await sendRawBytes(
    fixture.url,
    'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Sl',
    'ow: and then nothing',
  )
  expect(idle).not.toContain('200')
  open()
  expect(await answer).toEqual({ status: 200, body: { jobs: [] } })
})
