import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../contract/api/routes.js'
import { EVENT_TYPES } from '../contract/records/event.js'
import { faultsIn } from '../testing/api-schema.js'
import { fullServer, OWNER_HEADERS } from './fixtures/full-server.js'
import type { JsonSchema, OpenApi, Operation } from './openapi.js'

type Full = Awaited<ReturnType<typeof fullServer>>
let server: Full
let document: OpenApi
beforeAll(async () => {
  server = await fullServer()
  document = (await server.ask('GET', '/api/openapi.json')).body
})
afterAll(() => server.end())

interface Case {
  method: string
  path: string
  operation: Operation
}

/** Operations that must run last, because they remove what others need. */
const LAST = [
  'holdBrief',
  'approveBrief',
  'editBrief',
  'cancelBrief',
  'handOff',
  'cancelHandoff',
  'switchSession',
  'pauseJob',
  'cancelJob',
  'resumeJob',
  'forget',
]
function cases(): Case[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const place = ({ operation }: Case): number => LAST.indexOf(operation.operationId)
  return all.filter(({ operation }) => operation.operationId in ROUTES).sort((a, b) => place(a) - place(b))
}

const idFor = (path: string, message: string): string =>
  path.startsWith('/api/briefs')
    ? server.briefId
    : path.startsWith('/api/archives')
      ? server.archiveId
      : path.startsWith('/api/jobs')
        ? 'job_1'
        : path.startsWith('/api/messages')
          ? message
          : 's1'

const VALUES: Record<string, string> = {
  limit: '5',
  days: '3',
  from: '1',
  timezone: 'Europe/Berlin',
  session: 's1',
  job: 'job_1',
  since: '1',
  q: 'parser',
  status: 'checked',
  subagent: '',
  after: '',
  all: '',
  fresh: '',
  before: '2',
  whole: '1',
  without_readings: '1',
}
const valueFor = (name: string): string =>
  name === 'seat' ? server.seatId : name === 'project' ? server.project : VALUES[name]!

const bodyFor = (operationId: string): unknown =>
  ({
    enter: { ticket: 'none' },
    send: { text: 'hello' },
    handOff: { reason: 'it is late' },
    switchSession: { enabled: false },
    nameSeat: { name: 'backend' },
    startJob: { project: server.project, agent: 'nobody' },
    editBrief: { text: '# Handoff brief\n\nAnother goal.\n' },
    holdBrief: { editing: true },
    restoreArchive: { to: join(server.root, 'restored.jsonl') },
  })[operationId]

/** Sends a request and checks the response against the OpenAPI document. */
async function check(
  { method, path, operation }: Case,
  asked: { path: string; body?: unknown; headers?: Record<string, string> },
) {
  const reply = await server.ask(method, asked.path, asked.body, asked.headers)
  const where =
    `${method} ${asked.path} ${JSON.stringify(asked.body) ?? ''} → ${reply.status} ` +
    `${JSON.stringify(reply.body)?.slice(0, 200)}`
  const described = operation.responses[reply.status]?.content?.['application/json']?.schema
  expect(described, `${where} (${path} does not say so)`).toBeDefined()
  expect(faultsIn(reply.body, described!), where).toEqual([])
  return reply.status
}

describe('the OpenAPI document', () => {
  test('the OpenAPI document describes every route of the table and the event stream', () => {
    expect(document.openapi).toBe('3.1.0')
    const described = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(described.sort()).toEqual(
      [...Object.keys(ROUTES), 'live', 'signal', 'sessionList', 'monitoredSession', 'contextUsage'].sort(),
    )
    expect(document.paths['/api/briefs/{id}']!.put!.requestBody!.content['application/json'].schema).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['text'],
    })
    expect(document.paths['/api/history']!.get!.parameters).toMatchObject([
      { name: 'days', required: false },
      { name: 'timezone' },
    ])
  })
})

describe('the routes beside the table', () => {
  const described = (path: string, method: string, status: number): JsonSchema =>
    document.paths[path]![method]!.responses[status]!.content!['application/json']!.schema

  test('GET /sessions needs the token and answers JSON as described to a caller that wants JSON', async () => {
    const accept = { Accept: 'application/json' }
    const list = await server.ask('GET', '/sessions', undefined, { ...OWNER_HEADERS, ...accept })
    expect(list.status).toBe(200)
    expect(list.body.sessions.map((one: { session_id: string }) => one.session_id)).toContain('s1')
    expect(faultsIn(list.body, described('/sessions', 'get', 200))).toEqual([])
    expect((await server.ask('GET', '/sessions', undefined, accept)).status).toBe(401)
  })

  test('the endpoints of older context monitors answer as described', async () => {
    for (const [path, status] of [
      ['/sessions/s1', 200],
      ['/sessions/nobody', 404],
    ] as const) {
      const reply = await server.ask('GET', path)
      expect(reply.status).toBe(status)
      expect(faultsIn(reply.body, described('/sessions/{id}', 'get', status)), path).toEqual([])
    }
    const reports: [unknown, string][] = [
      [{ session_id: 's1', total_input_tokens: 91_000, used_percentage: 45.5 }, 'ok'],
      [{ session_id: 's1', event: 'compaction' }, 'compaction_logged'],
      [{ session_id: 's1' }, 'no_usage'],
      [{ session_id: 'nobody' }, 'unknown_session'],
    ]
    for (const [report, status] of reports) {
      const reply = await server.ask('POST', '/hooks/context-usage', report)
      expect(reply.body.status).toBe(status)
      expect(faultsIn(reply.body, described('/hooks/context-usage', 'post', 200)), status).toEqual([])
    }
    expect((await server.ask('POST', '/hooks/context-usage', '{')).status).toBe(204)
  })

  test('signals are described with the agents that the server supports', async () => {
    const { parameters, responses } = document.paths['/signals/{agent}/{kind}']!.post!
    expect(parameters![0]!.schema.enum).toEqual(Object.keys(server.app.engine.deps.agents))
    const refused = await server.ask('POST', '/signals/nobody/Stop', {})
    expect(Object.keys(responses)).toContain(String(refused.status))
    expect(faultsIn(refused.body, described('/signals/{agent}/{kind}', 'post', refused.status))).toEqual([])
  })

  test('the data of every type of event is described, and stored events match the description', async () => {
    const event = document.components.schemas.Event!
    const types = (event.oneOf ?? event.anyOf) as { properties: { type: { const: string }; data: JsonSchema } }[]
    expect(types.map(({ properties }) => properties.type.const).sort()).toEqual([...EVENT_TYPES].sort())
    const { body } = await server.ask('GET', '/api/events?limit=10000')
    expect(new Set(body.events.map(({ type }: { type: string }) => type)).size).toBeGreaterThan(8)
    for (const one of body.events) expect(faultsIn(one, event), JSON.stringify(one)).toEqual([])
  })
})

describe('requests made from the OpenAPI document', () => {
  test('a wrong token is refused on every route except the entrance', async () => {
    for (const one of cases()) {
      const path = one.path.replace('{id}', idFor(one.path, 'none'))
      const asked = { path, headers: { Authorization: 'Bearer wrong' }, body: bodyFor(one.operation.operationId) }
      expect(await check(one, asked), path).toBe(401)
    }
  })

  test('a request without a token is answered only on open routes', async () => {
    for (const one of cases()) {
      const path = one.path.replace('{id}', idFor(one.path, 'none'))
      const open = one.operation.security.some((way) => Object.keys(way).length === 0)
      const status = await check(one, { path, headers: {}, body: bodyFor(one.operation.operationId) })
      // The entrance is open, but the ticket is invalid.
      expect(status, path).toBe(open && one.operation.operationId !== 'enter' ? 200 : 401)
    }
  })

  test('malformed ids, parameters and bodies are refused with the reason', async () => {
    for (const one of cases()) {
      const { parameters = [], requestBody, operationId } = one.operation
      const path = one.path.replace('{id}', idFor(one.path, 'none'))
      const body = bodyFor(operationId)
      if (one.path.includes('{id}')) {
        expect(await check(one, { path: one.path.replace('{id}', 'no-such-thing-1'), body })).toBe(404)
        expect([400, 404]).toContain(
          await check(one, { path: one.path.replace('{id}', '..%2f..%2fetc%2fpasswd'), body }),
        )
      }
      const bounded = parameters.filter(({ in: where, schema }) => where === 'query' && 'pattern' in schema)
      for (const { name } of bounded) expect(await check(one, { path: `${path}?${name}=minus-one` })).toBe(400)
      if (requestBody && operationId !== 'enter') {
        expect(await check(one, { path, body: { ...(body as object), surplus: 1 } })).toBe(400)
        expect(await check(one, { path, body: '{"text":' })).toBe(400)
        expect(
          await check(one, { path, body: 'text=1', headers: { ...OWNER_HEADERS, 'Content-Type': 'text/plain' } }),
        ).toBe(415)
      }
    }
    expect(await check(caseOf('searchArchives'), { path: '/api/archives/search' })).toBe(400)
    expect(await check(caseOf('history'), { path: '/api/history?timezone=Mars/Olympus' })).toBe(400)
    expect(await check(caseOf('briefs'), { path: '/api/briefs?status=wonderful' })).toBe(400)
  })

  test('every route answers as described, with the fewest and with all parameters', async () => {
    const sent = await server.ask('POST', '/api/sessions/s1/messages', { text: 'take me back' })
    const statuses: Record<string, number> = {}
    for (const one of cases()) {
      const { parameters = [], operationId } = one.operation
      const newest = server.app.store.briefs().at(-1)!.briefId
      const id = operationId === 'cancelBrief' ? newest : idFor(one.path, sent.body.message_id)
      const path = one.path.replace('{id}', id)
      const queries = parameters.filter(({ in: where }) => where === 'query')
      const text = (chosen: typeof queries): string =>
        chosen.map(({ name }) => `${name}=${encodeURIComponent(valueFor(name))}`).join('&')
      const least = queries.filter(({ required }) => required)
      const full = queries.filter(({ name }) => valueFor(name) !== '' || name === 'all')
      statuses[operationId] = await check(one, { path: `${path}?${text(least)}`, body: bodyFor(operationId) })
      if (full.length > least.length)
        expect(await check(one, { path: `${path}?${text(full)}`, body: bodyFor(operationId) }), operationId).toBe(200)
    }
    const others = Object.entries(statuses).filter(([, status]) => status !== 200)
    // Expected refusals: no ticket was issued, the project has no agent, the user's own brief needs
    // no review, and the job is first paused and later cancelled.
    expect(Object.fromEntries(others)).toEqual({
      enter: 401,
      startJob: 400,
      approveBrief: 409,
      pauseJob: 409,
      resumeJob: 409,
    })
  })
})

function caseOf(operationId: string): Case {
  return cases().find(({ operation }) => operation.operationId === operationId)!
}
