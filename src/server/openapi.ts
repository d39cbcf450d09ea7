import type { GenericSchema } from 'valibot'
import * as live from '../contract/api/live.js'
import type { RouteSpec } from '../contract/api/route.js'
import { ROUTES, type RouteName } from '../contract/api/routes.js'
import {
  contextReportReply,
  monitoredSession as monitoredSchema,
  contextReport as reportSchema,
} from '../contract/api/sessions.js'
import { problem } from '../contract/api/shapes.js'

export type JsonSchema = { readonly [key: string]: unknown }
type ToJsonSchema = typeof import('@valibot/to-json-schema').toJsonSchema

export interface Operation {
  operationId: string
  summary: string
  description?: string
  security: readonly object[]
  parameters?: readonly { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: JsonSchema }[]
  requestBody?: { required: boolean; content: { 'application/json': { schema: JsonSchema } } }
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>
}

export interface OpenApi {
  openapi: string
  info: { title: string; version: string; description: string }
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes: object; schemas: Record<string, JsonSchema> }
}

let library: Promise<{ toJsonSchema: ToJsonSchema }> | null = null

/** Describes every route from the schemas that check requests. Loads the library on first use. */
export async function describeRoutes(version: string, agents: readonly string[]): Promise<OpenApi> {
  library ??= import('@valibot/to-json-schema')
  const { toJsonSchema } = await library
  const schemaOf = (schema: GenericSchema, typeMode: 'input' | 'output'): JsonSchema => {
    const { $schema: _, ...rest } = toJsonSchema(schema, { typeMode, errorMode: 'ignore', target: 'draft-2020-12' })
    return rest
  }
  const paths: OpenApi['paths'] = {}
  for (const [name, spec] of Object.entries<RouteSpec>(ROUTES))
    paths[spec.path] = { ...paths[spec.path], [spec.method]: operation(name as RouteName, spec, schemaOf) }
  paths['/api/live'] = { get: LIVE }
  paths['/sessions'] = { get: sessionList(schemaOf) }
  paths['/sessions/{id}'] = { get: monitoredSession(schemaOf) }
  paths['/hooks/context-usage'] = { post: contextReport(schemaOf) }
  paths['/signals/{agent}/{kind}'] = { post: signal(agents) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Baton',
      version,
      description: 'Sessions of coding agents, their events, and the actions on them.',
    },
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Event: schemaOf(live.event, 'output'),
        Snapshot: schemaOf(live.snapshot, 'output'),
        Gone: schemaOf(live.gone, 'output'),
      },
    },
  }
}

type SchemaOf = (schema: GenericSchema, typeMode: 'input' | 'output') => JsonSchema

/** Security requirements by access. `{}` allows requests without the token. */
const SECURITY = { open: [{}], token: [{ token: [] }] } as const

const REFUSALS: Record<number, string> = {
  400: 'The request is invalid; the error names the key',
  401: 'The token is missing or wrong',
  403: 'The request is from another origin or for another host',
  404: 'Not found',
  409: 'Not possible in the current state; the error says why',
  413: 'The body is too large',
  415: 'The content type of the body is not JSON',
}

function operation(name: RouteName, spec: RouteSpec, schemaOf: SchemaOf): Operation {
  const parameters = [
    ...[...spec.path.matchAll(/\{(\w+)\}/g)].map(([, id]) => ({
      name: id!,
      in: 'path' as const,
      required: true,
      schema: { type: 'string', minLength: 1, maxLength: 300 },
    })),
    ...Object.entries(spec.query ?? {}).map(([key, schema]) => ({
      name: key,
      in: 'query' as const,
      required: !isOptional(schema as GenericSchema),
      schema: schemaOf(schema as GenericSchema, 'input'),
    })),
  ]
  const refusals = [400, 401, 403, ...(spec.refusals ?? []), ...(spec.body ? [413, 415] : [])]
  const problemSchema = schemaOf(problem, 'output')
  return {
    operationId: name,
    summary: spec.summary,
    security: SECURITY[spec.access ?? 'token'],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(spec.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(spec.body, 'input') } } } }
      : {}),
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: schemaOf(spec.reply, 'output') } } },
      ...Object.fromEntries(
        refusals.map((status) => [
          status,
          { description: REFUSALS[status]!, content: { 'application/json': { schema: problemSchema } } },
        ]),
      ),
    },
  }
}

const isOptional = ({ type }: GenericSchema): boolean => type === 'optional'

const LIVE: Operation = {
  operationId: 'live',
  summary: 'The current state, then every change, as server-sent events',
  description:
    'First `event: snapshot` with a Snapshot. Then unnamed messages, each with an Event and its id; ' +
    '`event: session`, `job` and `brief` with a changed row; `event: gone` with a Gone. ' +
    'The components contain the schemas.',
  security: SECURITY.token,
  parameters: [{ name: 'last_event_id', in: 'query', required: false, schema: { type: 'string' } }],
  responses: { 200: { description: 'The stream', content: { 'text/event-stream': { schema: { type: 'string' } } } } },
}

/** Routes that older context monitors of the same user call without the token. */
const SAME_USER = [{ token: [] }, {}] as const
const MONITOR_NOTE =
  'Without the token, only for processes of the same user, on systems that report the user of a connection.'

const json = (description: string, schema: JsonSchema) => ({ description, content: { 'application/json': { schema } } })
const refusal = (status: 400 | 401 | 403 | 404, schemaOf: SchemaOf) =>
  json(REFUSALS[status]!, schemaOf(problem, 'output'))

function sessionList(schemaOf: SchemaOf): Operation {
  return {
    operationId: 'sessionList',
    summary: 'The sessions of /api/sessions for a caller that asks for JSON; the page for a browser',
    security: SECURITY.token,
    parameters: [{ name: 'Accept', in: 'header', required: true, schema: { const: 'application/json' } }],
    responses: {
      200: json('The sessions', schemaOf(ROUTES.sessions.reply, 'output')),
      401: refusal(401, schemaOf),
      403: refusal(403, schemaOf),
    },
  }
}

function monitoredSession(schemaOf: SchemaOf): Operation {
  return {
    operationId: 'monitoredSession',
    summary: 'One session with the names that older context monitors read; `id` is a session or a seat',
    description: MONITOR_NOTE,
    security: SAME_USER,
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', minLength: 1, maxLength: 300 } }],
    responses: {
      200: json('The session', schemaOf(monitoredSchema, 'output')),
      401: refusal(401, schemaOf),
      403: refusal(403, schemaOf),
      404: refusal(404, schemaOf),
    },
  }
}

function contextReport(schemaOf: SchemaOf): Operation {
  return {
    operationId: 'contextUsage',
    summary: 'A report of an older context monitor: token figures or a compaction',
    description: `${MONITOR_NOTE} Figures count as an estimate and never lead to a handoff.`,
    security: SAME_USER,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaOf(reportSchema, 'input') } },
    },
    responses: {
      200: json('The outcome', schemaOf(contextReportReply, 'output')),
      204: { description: 'The body could not be read' },
      401: refusal(401, schemaOf),
      403: refusal(403, schemaOf),
    },
  }
}

const NOT_TAKEN: JsonSchema = { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] }

function signal(agents: readonly string[]): Operation {
  return {
    operationId: 'signal',
    summary: 'The payload of a client’s hook, unchanged; the response is what the hook prints',
    description:
      '`kind` is `status-line` or the name of the client’s event. ' +
      '`X-Baton-Signal` is an idempotency key: a signal sent twice with it counts once. ' +
      '`X-Env-NAME` contains a variable of the client’s environment.',
    security: SECURITY.token,
    parameters: [
      { name: 'agent', in: 'path', required: true, schema: { enum: agents } },
      { name: 'kind', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'X-Baton-Signal', in: 'header', required: false, schema: { type: 'string' } },
    ],
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    responses: {
      200: {
        description: 'The text that the hook or status line prints; empty when there is none',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      400: json('The body is not a signal of this agent', NOT_TAKEN),
      401: json(REFUSALS[401]!, NOT_TAKEN),
      403: json(REFUSALS[403]!, NOT_TAKEN),
      404: json('Unknown agent', NOT_TAKEN),
      503: json('The signal could not be stored; send it again', NOT_TAKEN),
    },
  }
}
