import { type Caller, readCaller, UNKNOWN_CALLER } from './access.js'

/** Address and token of a running server. */
export interface BoundServer {
  host: string
  port: number
  token: string
  /** Address of the page. Null when it is the server's own. */
  pageUrl?: string | null
}

/** The parts of a request that decide who sent it. */
export interface RequestHead {
  method?: string | undefined
  path?: string | undefined
  host: string | undefined
  origin: string | undefined
  authorization: string | undefined
  /**
   * The headers `Sec-Fetch-Site` and `Sec-Fetch-Mode`, which say from which page a request came.
   */
  site?: string | undefined
  mode?: string | undefined
}

/** Result of checking a caller. `status` is null when the request may proceed as this caller. */
export type CallerCheck = { status: null; caller: Caller } | { status: 401 | 403; reason: string; hint?: string }

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]', '::1'])

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/**
 * Checks host, origin and authorization, in this order and before the rest of the request is read.
 * A caller without an `Authorization` header passes as the caller `nobody`.
 * The caller `nobody` may send only requests for which `needsToken` is false.
 */
export function checkCaller(head: RequestHead, bound: BoundServer, now: () => Date): CallerCheck {
  const name = hostName(head.host)
  // A name that merely resolves to this machine is DNS rebinding.
  // Beyond loopback the server may have any name.
  if (isLoopback(bound.host) && !isLoopback(name) && name !== bound.host)
    return forbidden(`The host ${name || '(none)'} is not this server.`)
  if (head.origin !== undefined && head.origin !== `http://${head.host ?? ''}`)
    return forbidden(`The origin ${head.origin} is not this server.`)
  if (isForeign(head)) return forbidden('Pages of other origins may not call this server.')
  // A browser whose key has expired still sends that key when it comes back for another one.
  if (isEntrance(head)) return { status: null, caller: UNKNOWN_CALLER }
  const caller = readCaller(head.authorization, bound.token, now())
  return caller === null
    ? { status: 401, reason: 'The token or key is wrong or expired.', hint: HINT }
    : { status: null, caller }
}

/**
 * True when a route is closed to a caller without token or key.
 * Loopback is shared by all users of a machine, so only two routes are open to everybody.
 * The page's files, which hold no data, are sent before this check.
 */
export function needsToken({ method, path }: Pick<RequestHead, 'method' | 'path'>): boolean {
  return !isEntrance({ method, path }) && !((method === 'GET' || method === 'HEAD') && path === '/health')
}

const HINT =
  'Run baton open for a browser. Programs send Authorization: Bearer with the token from run/server in Baton’s home.'
export const TOKEN_NEEDED_REPLY = { status: 401, reason: 'This route needs the token.', hint: HINT } as const

const forbidden = (reason: string): CallerCheck => ({ status: 403, reason })

/**
 * True for a request that another page caused, as `Sec-Fetch-Site` says even without an origin.
 * Links are allowed, as users may follow them from anywhere.
 */
const isForeign = ({ site, mode }: RequestHead): boolean =>
  (site === 'cross-site' || site === 'same-site') && mode !== 'navigate'

/** The route where a ticket or the token is exchanged for a key. */
const isEntrance = ({ method, path }: Pick<RequestHead, 'method' | 'path'>): boolean =>
  method === 'POST' && path === '/api/enter'

function hostName(host: string | undefined): string {
  return (host ?? '').replace(/:\d+$/, '').toLowerCase()
}
