import type { Context, Hono } from 'hono'
import type { BaseIssue } from 'valibot'
import * as v from 'valibot'
import type { RouteSpec } from '../contract/api/route.js'
import { type ParsedBody, type ParsedQuery, type ReplyOf, ROUTES, type RouteName } from '../contract/api/routes.js'
import type { Problem } from '../contract/api/shapes.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { CallerEnv } from './access.js'

export type ServerEnv = CallerEnv

export interface RouteRequest<N extends RouteName> {
  /** Id in the path. Empty when the route has none. */
  id: string
  query: ParsedQuery<N>
  body: ParsedBody<N>
}

/** Handles a request whose caller was checked before. Throws a `BatonError` to refuse. */
export type RouteHandler<N extends RouteName> = (
  asked: RouteRequest<N>,
  c: Context<ServerEnv>,
) => ReplyOf<N> | Promise<ReplyOf<N>>
export type RouteHandlers<N extends RouteName> = { readonly [Name in N]: RouteHandler<Name> }

/** Registers handlers under the methods and paths of the table of routes. */
export function mountRoutes<N extends RouteName>(app: Hono<ServerEnv>, handlers: RouteHandlers<N>): void {
  for (const [name, spec] of Object.entries<RouteSpec>(ROUTES)) {
    const handle = (handlers as Record<string, unknown>)[name] as RouteHandler<RouteName> | undefined
    if (handle === undefined) continue
    app.on(spec.method.toUpperCase(), pathOf(spec.path), async (c) => {
      try {
        const asked = { id: idOf(c.req.param('id')), query: queryOf(spec, c), body: await bodyOf(spec, c) }
        return c.json(await handle(asked as RouteRequest<RouteName>, c))
      } catch (error) {
        if (!(error instanceof BatonError)) throw error
        return c.json(problemOf(error), statusOf(error, spec))
      }
    })
  }
}

const MEGABYTE = 1024 * 1024

/** Converts a path to Hono's notation: `{id}` becomes `:id`. */
const pathOf = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Checks an id. The id is used for lookups and must never be part of a file path. */
function idOf(id: string | undefined): string {
  if (id === undefined) return ''
  if (id.length <= 300 && !/[\x00-\x1f\x7f/\\]|\.\./.test(id)) return id
  throw new BatonError(
    'The id in the path is not valid.',
    'Ids contain neither slashes nor control characters.',
    EXIT.usage,
  )
}

/** Parses the query. Unknown keys are ignored, as programs and proxies add keys of their own. */
function queryOf(spec: RouteSpec, c: Context): unknown {
  const parsed = v.safeParse(v.object(spec.query ?? {}), c.req.query(), { abortEarly: true })
  if (parsed.success) return parsed.output
  throw new BatonError(
    `${firstIssue(parsed.issues)}.`,
    'See /api/openapi.json for the parameters of this route.',
    EXIT.usage,
  )
}

async function bodyOf(spec: RouteSpec, c: Context): Promise<unknown> {
  if (spec.body === undefined) return undefined
  const parsed = v.safeParse(spec.body, await readJson(c.req.raw, (spec.bodyMegabytes ?? 1) * MEGABYTE), {
    abortEarly: true,
  })
  if (parsed.success) return parsed.output
  throw new BatonError(`${firstIssue(parsed.issues)}.`, 'See /api/openapi.json for the body of this route.', EXIT.usage)
}

function problemOf({ message, hint }: BatonError): Problem {
  return hint === '' ? { error: message } : { error: message, hint }
}

/** Returns the HTTP status of an error. */
function statusOf({ exit, details }: BatonError, { refusals }: RouteSpec): 400 | 404 | 409 | 413 | 415 | 500 {
  if (details.status === 413 || details.status === 415) return details.status
  if (exit === EXIT.usage) return 400
  if (exit === EXIT.notFound) return 404
  return exit === EXIT.refused || refusals?.includes(409) ? 409 : 500
}

/** Short text of the first issue, with its key: `limit: must be a whole number`. */
function firstIssue(issues: readonly [BaseIssue<unknown>, ...BaseIssue<unknown>[]]): string {
  const [issue] = issues
  // A union reports that no form fitted. The issue of the nearest form says more.
  const near = issue.type === 'union' ? issue.issues?.find(({ path }) => path !== undefined) : undefined
  const { type, received, expected, path, message } = near ?? issue
  const name = path?.map(({ key }) => String(key)).join('.') ?? ''
  const key = name === '' ? 'the body' : name
  if (expected === 'never') return `${key}: unknown key`
  if (received === 'undefined') return `${key}: missing`
  if (type === 'picklist') return `${key}: must be one of ${expected}`
  return `${key}: ${KINDS.has(type) ? `must be ${KINDS.get(type)}` : shortenIssue(message)}`
}

const KINDS = new Map<string, string>([
  ['string', 'a string'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['strict_object', 'an object'],
  ['min_length', 'a value that is not empty'],
])

/** Shortens Valibot's text, as `Invalid length: Expected <=5 but received 7`, to `must be <=5`. */
const shortenIssue = (message: string): string =>
  message.replace(/^Invalid \w+: Expected /, 'must be ').replace(/ but received .*$/s, '')

/** Reads a request's JSON. `{}` when the body is empty. Never holds more than `most` bytes. */
async function readJson(request: Request, most: number): Promise<unknown> {
  const text = await textOf(request, most)
  if (text === '') return {}
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw new BatonError('The body must be JSON.', 'Send Content-Type: application/json.', EXIT.usage, { status: 415 })
  try {
    return JSON.parse(text)
  } catch {
    throw new BatonError(
      'The body is not valid JSON.',
      'Check that the body is complete and that its quotes are correct.',
      EXIT.usage,
    )
  }
}

async function textOf(request: Request, most: number): Promise<string> {
  if (request.body === null) return ''
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge(most)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > most) throw tooLarge(most)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const tooLarge = (most: number): BatonError =>
  new BatonError('The body is too large.', `The limit is ${most / 1024 / 1024} MB.`, EXIT.usage, { status: 413 })
