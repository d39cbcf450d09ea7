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
 * Every route that programs and the page call. The server mounts exactly these,
 * `/api/openapi.json` is made from them, and the page's client takes its types and paths from them.
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
export type ReplyOf<N extends RouteName> = v.InferOutput<Spec<N>['reply']>
export type BodyOf<N extends RouteName> =
  Spec<N> extends { body: infer B extends v.GenericSchema } ? v.InferInput<B> : undefined
export type TakenBody<N extends RouteName> =
  Spec<N> extends { body: infer B extends v.GenericSchema } ? v.InferOutput<B> : undefined
export type QueryOf<N extends RouteName> =
  Spec<N> extends { query: infer Q extends v.ObjectEntries }
    ? v.InferInput<v.ObjectSchema<Q, undefined>>
    : Record<never, never>
export type TakenQuery<N extends RouteName> =
  Spec<N> extends { query: infer Q extends v.ObjectEntries }
    ? v.InferOutput<v.ObjectSchema<Q, undefined>>
    : Record<never, never>
