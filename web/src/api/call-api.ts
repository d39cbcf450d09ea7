import type { BodyOf, QueryOf, ReplyOf, ROUTES, RouteName } from '../../../src/contract/api/routes.js'
import type { Problem } from '../../../src/contract/api/shapes.js'
import { currentKey, dropKey } from './key.js'

type Routes = typeof ROUTES
/**
 * Method and path of every route, inserted by the build (`web/vite.config.ts`).
 * The build takes them from the contract, so the page does not load the contract's schemas.
 */
declare const ROUTE_PATHS: { readonly [N in RouteName]: `${Routes[N]['method']} ${Routes[N]['path']}` }

/** Arguments of `call`: an id if the path has one, a query and a body if the route takes them. */
export type CallArgs<N extends RouteName> = (Routes[N]['path'] extends `${string}{id}${string}`
  ? { id: string }
  : { id?: never }) & {
  query?: AsText<QueryOf<N>>
} & (BodyOf<N> extends undefined ? { body?: never } : { body: BodyOf<N> }) & {
    signal?: AbortSignal
    /** True for a request that must be sent even if the page is being closed. */
    keepalive?: boolean
  }
type AsText<Q> = { [K in keyof Q]?: string | number | boolean | undefined }

/** Error of a failed call, with the server's own message and hint if it sent any. */
export class CallProblem extends Error implements Problem {
  readonly error: string
  readonly hint: string | undefined
  /** HTTP status. 0 when no server answered. */
  readonly status: number

  constructor(status: number, problem: Problem) {
    super(problem.error)
    this.status = status
    this.error = problem.error
    this.hint = problem.hint
  }
}

export async function callApi<N extends RouteName>(name: N, args: CallArgs<N>): Promise<ReplyOf<N>> {
  const [method, path] = ROUTE_PATHS[name].split(' ') as [string, string]
  const key = currentKey()
  const response = await sendRequest(address(path, args.id, args.query), {
    method: method.toUpperCase(),
    headers: {
      Accept: 'application/json',
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(method === 'get' ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(args.body === undefined ? {} : { body: JSON.stringify(args.body) }),
    ...(args.signal ? { signal: args.signal } : {}),
    ...(args.keepalive ? { keepalive: true } : {}),
  })
  if (response.ok) return (await response.json()) as ReplyOf<N>
  const problem = await readProblem(response)
  if (problem.status === 401 && key !== null) dropKey(key)
  throw problem
}

function address(path: string, id: string | undefined, query: object | undefined): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== false) parameters.set(name, value === true ? '1' : String(value))
  }
  const rest = parameters.toString()
  return path.replace('{id}', encodeURIComponent(id ?? '')) + (rest === '' ? '' : `?${rest}`)
}

async function sendRequest(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, cache: 'no-store', credentials: 'same-origin', redirect: 'error' })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new CallProblem(0, {
      error: 'Baton’s server does not answer.',
      hint: 'Start it with baton serve. This page then continues by itself.',
    })
  }
}

async function readProblem(response: Response): Promise<CallProblem> {
  const reply = (await response.json().catch(() => null)) as Partial<Problem> | null
  const error = typeof reply?.error === 'string' ? reply.error : `The server answered ${response.status}.`
  return new CallProblem(response.status, { error, ...(typeof reply?.hint === 'string' ? { hint: reply.hint } : {}) })
}

/** Joins error and hint into one text, for places that show only one. */
export function problemText({ error, hint }: Problem): string {
  const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)
  return hint === undefined ? sentence(error) : `${sentence(error)} ${sentence(hint)}`
}

export const problemFrom = (error: unknown): CallProblem =>
  error instanceof CallProblem
    ? error
    : new CallProblem(0, { error: error instanceof Error ? error.message : String(error) })
