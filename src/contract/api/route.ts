import * as v from 'valibot'
import { text } from './shapes.js'

/**
 * The declaration of one HTTP route.
 * The schemas of a route validate requests and generate the OpenAPI document.
 */
export interface RouteSpec {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** Path template in OpenAPI notation: `/api/sessions/{id}`. */
  readonly path: string
  readonly summary: string
  /**
   * `open`: every process on the machine may call the route.
   * Absent: callers need the server's token or a browser's key.
   */
  readonly access?: 'open'
  /** Schemas of the query parameters, by name. */
  readonly query?: v.ObjectEntries
  readonly body?: v.GenericSchema
  /** Size limit of the body in megabytes. Absent means 1. */
  readonly bodyMegabytes?: number
  readonly reply: v.GenericSchema
  /**
   * Error statuses of the route besides 400, 401 and 403.
   * 404: the named object does not exist. 409: the request is not possible in its present state.
   */
  readonly refusals?: readonly (404 | 409)[]
}

/** Routes by name. The name is the operation id in OpenAPI. */
export type Routes = Readonly<Record<string, RouteSpec>>

/** Schema of a whole number in a query string. */
export const wholeNumber = (least: number, most: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'a whole number'), v.transform(Number), v.minValue(least), v.maxValue(most))
/** Schema of the optional `limit` query parameter. */
export const limit = (most: number) => v.optional(wholeNumber(1, most))
/** Schema of a switch in a query string: present means true, whatever its value. */
export const flag = v.optional(v.string())
/** Schema of an optional text in a query string. */
export const optionalText = v.optional(v.pipe(text, v.maxLength(1_000)))
