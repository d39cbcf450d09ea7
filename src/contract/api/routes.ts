import type * as v from 'valibot'
import { archiveRoutes } from './archives.js'
import { briefRoutes } from './briefs.js'
import { historyRoutes } from './history.js'
import { jobRoutes } from './jobs.js'
import { eventRoutes } from './live.js'
import { messageRoutes } from './messages.js'
import { sessionRoutes } from './sessions.js'
import { serverRoutes } from './settings.js'

/**
 * Every route that programs and the page call. The server mounts exactly these routes.
 * `/api/openapi.json` is generated from them.
 * The page's client derives its types and paths from them.
 */
export const ROUTES = {
  ...sessionRoutes,
  ...messageRoutes,
  ...eventRoutes,
  ...jobRoutes,
  ...briefRoutes,
  ...archiveRoutes,
  ...historyRoutes,
  ...serverRoutes,
} as const

export type RouteName = keyof typeof ROUTES
type Spec<N extends RouteName> = (typeof ROUTES)[N]
/** The reply of a route. */
export type ReplyOf<N extends RouteName> = v.InferOutput<Spec<N>['reply']>
/** The body that a caller of a route sends. Undefined when the route takes none. */
export type BodyOf<N extends RouteName> =
  Spec<N> extends { body: infer B extends v.GenericSchema } ? v.InferInput<B> : undefined
/** The body that a route's handler receives, after defaults were filled in. */
export type ParsedBody<N extends RouteName> =
  Spec<N> extends { body: infer B extends v.GenericSchema } ? v.InferOutput<B> : undefined
/** The query that a caller of a route sends. */
export type QueryOf<N extends RouteName> =
  Spec<N> extends { query: infer Q extends v.ObjectEntries }
    ? v.InferInput<v.ObjectSchema<Q, undefined>>
    : Record<never, never>
/** The query that a route's handler receives, after parsing. */
export type ParsedQuery<N extends RouteName> =
  Spec<N> extends { query: infer Q extends v.ObjectEntries }
    ? v.InferOutput<v.ObjectSchema<Q, undefined>>
    : Record<never, never>
