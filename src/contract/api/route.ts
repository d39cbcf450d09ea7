import * as v from 'valibot'
import { text } from './shapes.js'

/** The declaration of one route. Schemas check its requests and describe it in OpenAPI. */
export interface RouteSpec {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** As OpenAPI writes it: `/api/sessions/{id}`. */
  readonly path: string
  readonly summary: string
  /** Absent: callers need the server's token or a browser's key. `open`: everybody on the machine may call it. */
  readonly access?: 'open'
  /** Names and kinds of query parameters. */
  readonly query?: v.ObjectEntries
  readonly body?: v.GenericSchema
  /** Largest body; absent: 1. */
  readonly bodyMegabytes?: number
  readonly reply: v.GenericSchema
  /** Refusals beside 400 (bad input), 401 and 403. 404: no such thing. 409: not now, or not any more; the reason says why. */
  readonly refusals?: readonly (404 | 409)[]
}

/** Routes by name. The name is the operation's id in OpenAPI. */
export type Routes = Readonly<Record<string, RouteSpec>>

/** A whole number in a query. */
export const whole = (least: number, most: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'a whole number'), v.transform(Number), v.minValue(least), v.maxValue(most))
export const limit = (most: number) => v.optional(whole(1, most))
/** Given at all, whatever its value. */
export const flag = v.optional(v.string())
export const words = v.optional(v.pipe(text, v.maxLength(1_000)))
