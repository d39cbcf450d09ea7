/** Page and id that a path names. `nowhere` for an unknown path. */
export type Route =
  | { page: 'overview' }
  | { page: 'session'; id: string }
  | { page: 'jobs'; id: string | null }
  | { page: 'briefs'; id: string | null }
  | { page: 'archive'; id: string | null }
  | { page: 'history' }
  | { page: 'settings' }
  | { page: 'nowhere' }

export type PageName = Route['page']

export function routeOf(pathname: string): Route {
  const [first, second, ...rest] = pathname.split('/').filter(Boolean)
  if (rest.length > 0) return { page: 'nowhere' }
  const id = second === undefined ? null : decodePart(second)
  if (second !== undefined && id === null) return { page: 'nowhere' }
  if (first === undefined) return { page: 'overview' }
  if (first === 'sessions') return id === null ? { page: 'overview' } : { page: 'session', id }
  if (first === 'jobs' || first === 'briefs' || first === 'archive') return { page: first, id }
  if ((first === 'history' || first === 'settings') && id === null) return { page: first }
  return { page: 'nowhere' }
}

function decodePart(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

export const sessionHref = (id: string): string => `/sessions/${encodeURIComponent(id)}`
export const jobHref = (id: string): string => `/jobs/${encodeURIComponent(id)}`
export const briefHref = (id: string): string => `/briefs/${encodeURIComponent(id)}`
export const archiveHref = (id: string, line?: number): string =>
  `/archive/${encodeURIComponent(id)}${line === undefined ? '' : `?line=${line}`}`
