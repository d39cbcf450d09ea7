import type { Context, Hono } from 'hono'
import * as v from 'valibot'
import { type ReplyOf, ROUTES, type RouteName, type RouteSpec, type TakenBody, type TakenQuery } from '../contract/api/routes.js'
import type { Problem } from '../contract/api/shapes.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { CallerEnv } from './access.js'
import { firstIssue } from './first-issue.js'
import { readJson } from './read-json.js'

export type ServerEnv = CallerEnv

export interface Asked<N extends RouteName> {
  /** What stands in the path; the empty string where the route has none. */
  id: string
  query: TakenQuery<N>
  body: TakenBody<N>
  words: boolean
}

/** Answers with the whole truth; what a caller may not see of it is left out afterwards. Throws a `BatonError` to refuse. */
export type Handler<N extends RouteName> = (asked: Asked<N>, c: Context<ServerEnv>) => ReplyOf<N> | Promise<ReplyOf<N>>
export type Handlers<N extends RouteName> = { readonly [Name in N]: Handler<Name> }

/** Routes that everybody on the machine may ask: of each it is said what is left out for those without the token. */
export type FiguresRoute = { [N in RouteName]: (typeof ROUTES)[N]['access'] extends 'figures' ? N : never }[RouteName]
export type Withholders = { readonly [N in FiguresRoute]?: (reply: ReplyOf<N>) => object }

/** Puts routes of the table where it says they are. */
export function mount<N extends RouteName>(app: Hono<ServerEnv>, handlers: Handlers<N>, withhold: Withholders): void {
  for (const [name, spec] of Object.entries<RouteSpec>(ROUTES)) {
    const handle = (handlers as Record<string, unknown>)[name] as Handler<RouteName> | undefined
    if (handle === undefined) continue
    const bare = (withhold as Record<string, ((reply: never) => object) | undefined>)[name]
    if (spec.access === 'figures' && bare === undefined) throw new Error(`nobody says what ${name} withholds`)
    app.on(spec.method.toUpperCase(), pathOf(spec.path), async (c) => {
      const words = c.env?.words === true
      if (spec.access === 'token' && !words) return c.json(NEEDS_TOKEN, 401)
      try {
        const asked = { id: idOf(c.req.param('id')), query: queryOf(spec, c), body: await bodyOf(spec, c, name), words }
        const reply = await handle(asked as Asked<RouteName>, c)
        return c.json(words || bare === undefined ? reply : bare(reply as never))
      } catch (error) {
        if (!(error instanceof BatonError)) throw error
        return c.json(problemOf(error), statusOf(error, spec))
      }
    })
  }
}

const USUAL = 1024 * 1024
/** A brief may have a million characters, and JSON may spell each of them with more than one byte. */
const LARGE = 4 * USUAL

/** As Hono writes paths. */
const pathOf = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

const NEEDS_TOKEN: Problem = {
  error: 'This needs the token: it tells words of conversations, or changes something.',
  hint: 'baton open lets a browser in; programs send Authorization: Bearer and the token.',
}

/** An id is a word that something is looked up by, never a part of a path. */
function idOf(id: string | undefined): string {
  if (id === undefined) return ''
  if (id.length <= 300 && !/[\x00-\x1f\x7f/\\]|\.\./.test(id)) return id
  throw new BatonError('That cannot be an id.', 'Ids hold neither slashes nor control characters.', EXIT.usage)
}

/** Keys that no route knows are left alone: programs and proxies add their own. */
function queryOf(spec: RouteSpec, c: Context): unknown {
  const taken = v.safeParse(v.object(spec.query ?? {}), c.req.query(), { abortEarly: true })
  if (taken.success) return taken.output
  throw new BatonError(`${firstIssue(taken.issues)}.`, '/api/openapi.json says what may stand there.', EXIT.usage)
}

async function bodyOf(spec: RouteSpec, c: Context, name: string): Promise<unknown> {
  if (spec.body === undefined) return undefined
  const taken = v.safeParse(spec.body, await readJson(c.req.raw, name === 'editBrief' ? LARGE : USUAL), { abortEarly: true })
  if (taken.success) return taken.output
  throw new BatonError(`${firstIssue(taken.issues)}.`, '/api/openapi.json says what may stand in the body.', EXIT.usage)
}

function problemOf({ message, hint }: BatonError): Problem {
  return hint === '' ? { error: message } : { error: message, hint }
}

/** Where a route may refuse, what failed for a reason that a person can be told is such a refusal. */
function statusOf({ exit, details }: BatonError, { refusals }: RouteSpec): 400 | 404 | 409 | 413 | 415 | 500 {
  if (details.status === 413 || details.status === 415) return details.status
  if (exit === EXIT.usage) return 400
  if (exit === EXIT.notFound) return 404
  return exit === EXIT.refused || refusals?.includes(409) ? 409 : 500
}
