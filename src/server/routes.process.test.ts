import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { statusLine } from '../testing/http-server.js'
import { fullServer, SECRET_TEXT } from './fixtures/full-server.js'

type Full = Awaited<ReturnType<typeof fullServer>>
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})
const start = async (): Promise<Full> => {
  const server = await fullServer()
  ends.push(server.end)
  return server
}
test('no route sends data to a caller without the token', async () => {
  const { ask, archiveId, briefId } = await start()
  const routes = [
    '/api/sessions',
    '/api/sessions/s1',
    '/api/events',
    '/api/messages',
    '/api/jobs',
    '/api/jobs/job_1',
    '/api/jobs/job_1/log',
    '/api/history',
    '/api/config?session=s1',
    '/api/doctor',
    '/api/openapi.json',
    '/api/access',
    '/api/projects',
    `/api/briefs/${briefId}`,
    `/api/archives/${archiveId}/transcript`,
    '/api/sessions/s1/curve',
  ]
  for (const route of routes) {
    const { status, body } = await ask('GET', route, undefined, {})
    expect([status, Object.keys(body)], route).toEqual([401, ['error', 'hint']])
  }
  expect(JSON.stringify((await ask('GET', `/api/briefs/${briefId}`)).body)).toContain(SECRET_TEXT)
})

test('GET /api/messages lists the messages of all seats, or of one, with the reason why each waits', async () => {
  const { ask, post, seatId } = await start()
  await post('/signals/claude-code/status-line', statusLine('s2', 5_000, 1))
  const { body: first } = await ask('POST', '/api/sessions/s1/messages', { text: 'To the first.' })
  const { body: second } = await ask('POST', '/api/sessions/s2/messages', { text: 'To the second.' })
  expect(first.reason).toEqual(expect.any(String))
  const { body: all } = await ask('GET', '/api/messages')
  expect(all.messages.slice(-2)).toEqual([first, second])
  for (const seat of [seatId, 's1']) {
    const { body } = await ask('GET', `/api/messages?seat=${seat}`)
    expect(body.messages.at(-1)).toEqual(first)
    expect(body.messages).not.toContainEqual(second)
  }
  expect((await ask('GET', '/api/messages?limit=1')).body.messages).toEqual([second])
  expect((await ask('GET', '/api/messages?seat=nobody')).status).toBe(404)
})

describe('routes of a session', () => {
  test('a session has a curve in columns, and a forecast that ends with compaction', async () => {
    const { ask } = await start()
    const { body: curve } = await ask('GET', '/api/sessions/s1/curve')
    expect(curve.used_tokens).toEqual([60_000, 70_000, 80_000, 90_000])
    expect(new Set(['at', 'cycle', 'window_tokens', 'compaction_tokens'].map((name) => curve[name].length))).toEqual(
      new Set([4]),
    )
    const { body: forecast } = await ask('GET', '/api/sessions/s1/forecast')
    expect(forecast.tokens_per_step).toBe(10_000)
    expect(forecast.levels.map(({ name, steps }: { name: string; steps: number }) => [name, steps])).toEqual([
      ['notice', 0],
      ['warning', 3],
      ['handoff', 6],
      ['critical', 7],
      ['compaction', 8],
    ])
  })

  test('a message to a session can be cancelled once', async () => {
    const { ask, app, seatId } = await start()
    const { body: sent } = await ask('POST', '/api/sessions/s1/messages', { text: ' Mind the tests. ', mode: 'urgent' })
    expect(sent).toMatchObject({
      seat_id: seatId,
      sender: 'user',
      mode: 'urgent',
      text: 'Mind the tests.',
      status: 'queued',
    })
    const { body } = await ask('GET', '/api/sessions/s1/messages')
    expect(body.messages).toContainEqual(sent)
    expect((await ask('DELETE', `/api/messages/${sent.message_id}`)).body.status).toBe('cancelled')
    expect(app.store.message(sent.message_id)?.status).toBe('cancelled')
    expect((await ask('DELETE', '/api/messages/none')).status).toBe(404)
  })

  test('a session is disabled and enabled again', async () => {
    const { ask } = await start()
    const enabled = async () => (await ask('GET', '/api/sessions/s1')).body.enabled
    expect((await ask('PUT', '/api/sessions/s1/enabled', { enabled: false })).body).toEqual({ enabled: false })
    expect(await enabled()).toBe(false)
    await ask('PUT', '/api/sessions/s1/enabled', { enabled: true })
    expect(await enabled()).toBe(true)
  })

  test('the seat of a session is named, and a name that another program could not type is refused', async () => {
    const { ask, seatId } = await start()
    const { body: before } = await ask('GET', '/api/sessions/s1')
    const named = await ask('PUT', '/api/sessions/s1/name', { name: 'backend' })
    expect(named.body).toEqual({ seat_id: seatId, name: 'backend', former_name: before.seat_name })
    expect((await ask('GET', '/api/sessions/backend')).body).toMatchObject({ session_id: 's1', seat_name: 'backend' })
    for (const name of ['', 'two words', 'seat_1', 'x'.repeat(65)])
      expect([name, (await ask('PUT', '/api/sessions/s1/name', { name })).status]).toEqual([name, 400])
  })

  test('a forgotten session keeps its figures, and its text is found nowhere', async () => {
    const { ask, archiveId, briefId } = await start()
    const { status, body } = await ask('POST', '/api/sessions/s1/forget')
    expect([status, body]).toMatchObject([200, { session_id: 's1', archives: 1 }])
    expect(body.words).toBeGreaterThan(0)
    expect((await ask('GET', `/api/archives/${archiveId}`)).status).toBe(404)
    expect((await ask('GET', `/api/briefs/${briefId}`)).status).toBe(404)
    expect((await ask('GET', '/api/archives/search?q=parser')).body.hits).toEqual([])
    const { body: session } = await ask('GET', '/api/sessions/s1')
    expect(session.used_tokens).toBe(90_000)
    expect(JSON.stringify(session.losses)).not.toContain(SECRET_TEXT)
  })
})

describe('routes of a brief', () => {
  test('a brief is shown with additions and predecessor, edited into a new brief, and cancelled', async () => {
    const { ask, briefId } = await start()
    const { body: first } = await ask('GET', `/api/briefs/${briefId}`)
    expect(first).toMatchObject({
      brief_id: briefId,
      verdict: 'genuine',
      author: 'user',
      parent: null,
      handoff_state: expect.any(String),
    })
    expect(first.text).toContain('Mend the parser')
    expect((await ask('POST', `/api/briefs/${briefId}/editing`, { editing: true })).status).toBe(200)
    const edited = await ask('PUT', `/api/briefs/${briefId}`, {
      text: '# Handoff brief\n\n## Goal\n\nMend the lexer.\n',
    })
    expect(edited).toMatchObject({ status: 200, body: { author: 'user', sequence: 2 } })
    const { body: second } = await ask('GET', `/api/briefs/${edited.body.brief_id}`)
    expect(second.text).toContain('Mend the lexer')
    expect((await ask('GET', `/api/briefs/${briefId}`)).body.status).toBe('superseded')
    expect(await ask('PUT', `/api/briefs/${briefId}`, { text: 'once more' })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining(briefId) },
    })
    expect((await ask('POST', `/api/briefs/${edited.body.brief_id}/cancel`)).body.status).toBe('cancelled')
    expect((await ask('DELETE', '/api/sessions/s1/handoff')).status).toBe(404)
    const { body } = await ask('GET', '/api/briefs?status=cancelled')
    expect(body.briefs).toMatchObject([{ brief_id: edited.body.brief_id, seat_name: null, review_until: null }])
  })

  test('a brief with a wrong signature is refused', async () => {
    const { ask, briefId, app } = await start()
    const forged = readFileSync(app.store.brief(briefId)!.path, 'utf8').replace('Mend the parser', 'Delete everything')
    expect(await ask('PUT', `/api/briefs/${briefId}`, { text: forged })).toMatchObject({ status: 409 })
  })
})

describe('routes of an archive', () => {
  test('an archive is read as messages, calls and results, and found by its words', async () => {
    const { ask, archiveId } = await start()
    const { body } = await ask('GET', `/api/archives/${archiveId}/transcript?limit=2`)
    expect(body.entries).toMatchObject([
      { line: 1, role: 'user', text: expect.stringContaining('Mend the parser') },
      { line: 2, role: 'agent', text: 'I look at it.' },
      { line: 2, role: 'call', tool: 'Bash', call_id: 'toolu_1', text: 'npm test' },
    ])
    const { body: rest } = await ask('GET', `/api/archives/${archiveId}/transcript?from=${body.next_line}`)
    expect(rest.entries).toMatchObject([
      { line: 3, role: 'result', call_id: 'toolu_1', ok: false, text: '3 failed' },
      { line: 4, role: 'agent', text: 'The parser drops <script>alert(1)</script> tags.' },
    ])
    expect(rest.next_line).toBeNull()
    expect((await ask('GET', `/api/archives/${archiveId}/transcript?subagent=nobody`)).status).toBe(404)
    const { body: found } = await ask('GET', '/api/archives/search?q=--json%20parser')
    expect(found.hits).toEqual([])
    const { body: hits } = await ask('GET', '/api/archives/search?q=parser&limit=1')
    expect(hits.hits).toMatchObject([{ archive_id: archiveId, session_id: 's1' }])
  })

  test('an archive is restored to an absolute path, and over a file only when forced', async () => {
    const { ask, archiveId, root, transcript } = await start()
    const to = join(root, 'restored.jsonl')
    expect((await ask('POST', `/api/archives/${archiveId}/restore`, { to: 'restored.jsonl' })).status).toBe(400)
    expect(existsSync(to)).toBe(false)
    expect((await ask('POST', `/api/archives/${archiveId}/restore`, { to })).body).toMatchObject({
      archive_id: archiveId,
      path: to,
    })
    expect(readFileSync(to, 'utf8')).toBe(readFileSync(transcript, 'utf8'))
    expect((await ask('POST', `/api/archives/${archiveId}/restore`, { to })).status).toBe(409)
    expect(
      (await ask('POST', `/api/archives/${archiveId}/restore`, { to: '~/restored.jsonl', force: true })).status,
    ).toBe(200)
  })
})

describe('routes of a job', () => {
  test('the log of a job has plain lines and is read on from a cursor', async () => {
    const { ask } = await start()
    const { body } = await ask('GET', '/api/jobs/job_1/log')
    expect(body.lines).toMatchObject([
      { kind: 'other' },
      { kind: 'agent', text: 'I look at it.' },
      { kind: 'call', text: 'Bash npm test' },
      { kind: 'result', text: '3 failed', ok: false },
      { kind: 'agent' },
    ])
    expect((await ask('GET', `/api/jobs/job_1/log?after=${body.next}`)).body).toEqual({
      lines: [],
      next: body.next,
      more: false,
    })
  })

  test('a job starts only in a known folder with an agent of its baton.yaml', async () => {
    const { ask, project, app } = await start()
    expect((await ask('GET', '/api/projects')).body).toEqual({ projects: [{ project, agents: [], trouble: null }] })
    expect((await ask('POST', '/api/jobs', { project: '/etc', agent: 'writer' })).status).toBe(404)
    expect(await ask('POST', '/api/jobs', { project, agent: 'writer' })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('writer') },
    })
    expect(app.store.jobs()).toHaveLength(1)
  })

  test('a job is cancelled once, and its events are listed alone', async () => {
    const { ask } = await start()
    expect((await ask('POST', '/api/jobs/job_1/cancel')).body.status).toBe('cancelled')
    expect((await ask('POST', '/api/jobs/job_1/cancel')).status).toBe(409)
    const { body } = await ask('GET', '/api/events?job=job_1')
    expect(body.events.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['job_progress', 'job_cancelled']),
    )
    expect(new Set(body.events.map(({ job_id }: { job_id: string }) => job_id))).toEqual(new Set(['job_1']))
  })
})

describe('history', () => {
  test('the history counts the signals of today', async () => {
    const { ask } = await start()
    const { body } = await ask('GET', '/api/history?days=2&timezone=UTC')
    expect(body.days).toHaveLength(2)
    expect(body.totals).toMatchObject({ sessions: 1, steps: 2, output_tokens: 100, cost_usd: 0.5 })
    expect(body.models).toMatchObject([{ model: 'claude-opus-4-6' }])
  })
})

describe('the doctor', () => {
  test('the doctor runs once for concurrent requests, and its result is cached', async () => {
    const { ask } = await start()
    const [a, b] = await Promise.all([ask('GET', '/api/doctor'), ask('GET', '/api/doctor')])
    expect(b.body.checked_at).toBe(a.body.checked_at)
    expect(a.body.checks.length).toBeGreaterThan(10)
    expect(a.body.checks[0].detail).toEqual(expect.any(String))
    expect((await ask('GET', '/api/doctor')).body.checked_at).toBe(a.body.checked_at)
  })
})
