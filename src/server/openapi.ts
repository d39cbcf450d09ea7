import type { GenericSchema } from 'valibot'
import { ROUTES, type RouteName, type RouteSpec } from '../contract/api/routes.js'
import { problem } from '../contract/api/shapes.js'

export type JsonSchema = { readonly [key: string]: unknown }
type ToJsonSchema = typeof import('@valibot/to-json-schema').toJsonSchema

export interface Operation {
  operationId: string
  summary: string
  security: readonly object[]
  parameters?: readonly { name: string; in: 'path' | 'query'; required: boolean; schema: JsonSchema }[]
  requestBody?: { required: boolean; content: { 'application/json': { schema: JsonSchema } } }
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>
}

export interface OpenApi {
  openapi: string
  info: { title: string; version: string; description: string }
  paths: Record<string, Record<string, Operation>>
  components: object
}

let library: Promise<{ toJsonSchema: ToJsonSchema }> | null = null

/** The description of every route, made from the schemas that requests are checked by. The library for it is loaded when somebody asks. */
export async function describeRoutes(version: string): Promise<OpenApi> {
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
  return {
    openapi: '3.1.0',
    info: {
      title: 'Baton',
      version,
      description: 'Sessions of coding agents, what happens to them, and what may be done about it.',
    },
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}

type SchemaOf = (schema: GenericSchema, typeMode: 'input' | 'output') => JsonSchema

/** `{}`: also without. Beyond loopback everything needs the token. */
const SECURITY = { open: [{}], figures: [{}, { token: [] }], token: [{ token: [] }] } as const

const REFUSALS: Record<number, string> = {
  400: 'What was asked is wrong; the error names the key',
  401: 'The token is missing or wrong',
  403: 'From another origin, or for another host',
  404: 'There is no such thing',
  409: 'Not now, or not any more; the error says why',
  413: 'The body is too large',
  415: 'The body is not called JSON',
}

function operation(name: RouteName, spec: RouteSpec, schemaOf: SchemaOf): Operation {
  const parameters = [
    ...[...spec.path.matchAll(/\{(\w+)\}/g)].map(([, id]) => ({
      ...{ name: id!, in: 'path' as const, required: true, schema: { type: 'string', minLength: 1, maxLength: 300 } },
    })),
    ...Object.entries(spec.query ?? {}).map(([key, schema]) => ({
      ...{ name: key, in: 'query' as const, required: !isOptional(schema as GenericSchema) },
      schema: schemaOf(schema as GenericSchema, 'input'),
    })),
  ]
  const refusals = [400, 401, 403, ...(spec.refusals ?? []), ...(spec.body ? [413, 415] : [])]
  const refusal = schemaOf(problem, 'output')
  return {
    operationId: name,
    summary: spec.summary,
    security: SECURITY[spec.access],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(spec.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(spec.body, 'input') } } } }
      : {}),
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: schemaOf(spec.reply, 'output') } } },
      ...Object.fromEntries(
        refusals.map((status) => [
          status,
          { description: REFUSALS[status]!, content: { 'application/json': { schema: refusal } } },
        ]),
      ),
    },
  }
}

const isOptional = ({ type }: GenericSchema): boolean => type === 'optional'

const LIVE: Operation = {
  operationId: 'live',
  summary: 'What is so now, then everything as it happens, as server-sent events',
  security: SECURITY.figures,
  parameters: [{ name: 'last_event_id', in: 'query', required: false, schema: { type: 'string' } }],
  responses: { 200: { description: 'The stream', content: { 'text/event-stream': { schema: { type: 'string' } } } } },
}
