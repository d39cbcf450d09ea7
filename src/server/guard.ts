import { type Caller, keyEnd, NOBODY, whoAsks } from './access.js'

/** Who may speak to the server. A page of another origin, or a name that merely resolves to this machine, may not. */
export interface Bound {
  host: string
  port: number
  token: string
  /** Everybody has to give the token, for everything: always so where the server listens beyond loopback. */
  locked: boolean
}

export interface Asking {
  method?: string | undefined
  path?: string | undefined
  host: string | undefined
  origin: string | undefined
  authorization: string | undefined
  cookie?: string | undefined
  /** What browsers say of who had them ask: `sec-fetch-site`, `sec-fetch-mode`. */
  site?: string | undefined
  mode?: string | undefined
}

/** `status` null: welcome. */
export type Judged = { status: null; caller: Caller } | { status: 401 | 403; reason: string }

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]', '::1'])
export const FILES_COOKIE = 'baton-files'

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host)
}

export function judge(asking: Asking, bound: Bound, now: () => Date): Judged {
  const name = hostName(asking.host)
  if (!isLoopback(name) && name !== bound.host && !bound.locked) return no(`host ${name || '(none)'} is not this server`)
  if (asking.origin !== undefined && asking.origin !== `http://${asking.host ?? ''}`)
    return no(`origin ${asking.origin} is not this server`)
  if (isForeign(asking)) return no('another page may not ask')
  // A browser whose key is over comes back here for another one.
  if (isAtTheDoor(asking)) return { status: null, caller: NOBODY }
  const caller = whoAsks(asking.authorization, bound.token, now())
  if (caller === null) return { status: 401, reason: 'the token is wrong, or its time is over' }
  if (!bound.locked || caller.words) return { status: null, caller }
  if (hasFilesKey(asking.cookie, bound.token, now())) return { status: null, caller: { ...NOBODY, by: 'files' } }
  return { status: 401, reason: 'a token is needed (Authorization: Bearer …)' }
}

const no = (reason: string): Judged => ({ status: 403, reason })

/** Requests that need no origin, such as pictures, still say that another page had them sent. A person may follow a link from anywhere. */
const isForeign = ({ site, mode }: Asking): boolean => (site === 'cross-site' || site === 'same-site') && mode !== 'navigate'

/** Where a ticket or the token is exchanged for a key. */
const isAtTheDoor = ({ method, path }: Asking): boolean => method === 'POST' && path === '/api/enter'

function hasFilesKey(cookie: string | undefined, token: string, now: Date): boolean {
  const key = new RegExp(`(?:^|; *)${FILES_COOKIE}=([^;]+)`).exec(cookie ?? '')?.[1]
  return key !== undefined && keyEnd(key, token, 'files', now) !== null
}

function hostName(host: string | undefined): string {
  return (host ?? '').replace(/:\d+$/, '').toLowerCase()
}
