/** Who may speak to the server. A page of another origin, or a name that merely resolves to this machine, may not. */
export interface Bound {
  host: string
  port: number
  /** Required from everybody when the server listens beyond loopback; null: loopback only. */
  token: string | null
}

export interface Asking {
  host: string | undefined
  origin: string | undefined
  authorization: string | undefined
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]', '::1'])

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** null: welcome; else why not. */
export function refuse(asking: Asking, bound: Bound): { status: 401 | 403; reason: string } | null {
  const name = hostName(asking.host)
  if (!isLoopback(name) && name !== bound.host && bound.token === null)
    return { status: 403, reason: `host ${name || '(none)'} is not this server` }
  if (asking.origin !== undefined && !isOwnOrigin(asking.origin, asking.host))
    return { status: 403, reason: `origin ${asking.origin} is not this server` }
  if (bound.token !== null && asking.authorization !== `Bearer ${bound.token}`)
    return { status: 401, reason: 'a token is needed (Authorization: Bearer …)' }
  return null
}

function hostName(host: string | undefined): string {
  return (host ?? '').replace(/:\d+$/, '').toLowerCase()
}

function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return origin === `http://${host ?? ''}`
}
