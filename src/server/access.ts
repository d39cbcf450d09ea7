import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The caller of a request, as far as the caller proved its identity. Handlers find it in `c.env`.
 */
export interface Caller {
  /**
   * `token`: a program of this user. `key`: a browser that `baton open` let in.
   * `nobody`: a caller that gave neither.
   */
  by: 'token' | 'key' | 'nobody'
  /** End of the browser's key, ISO 8601 UTC. Null for every other caller. */
  expiresAt: string | null
}

export interface CallerEnv {
  Bindings: Caller & { address: string }
}

export const UNKNOWN_CALLER: Caller = { by: 'nobody', expiresAt: null }

const DAY = 24 * 3_600_000
export const KEY_MS = 30 * DAY

/** Returns a new token: 256 random bits as hex. */
export const newToken = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')

/**
 * Makes a browser's key. The server stores no keys: a key holds its own end, signed with the token.
 * The key becomes invalid when the server ends, because the next server has another token.
 * An open page sends its key to any program that takes the port of a dead server.
 */
export function makeKey(token: string, now: Date): { key: string; expiresAt: string } {
  const expiry = String(now.getTime() + KEY_MS)
  return {
    key: `${Buffer.from(expiry).toString('base64url')}.${signatureOf(token, expiry)}`,
    expiresAt: new Date(Number(expiry)).toISOString(),
  }
}

/** Returns the time (ISO) at which a browser's key expires. Null when it is forged or expired. */
export function keyEnd(key: string, token: string, now: Date): string | null {
  const [head = '', signature = '', ...more] = key.split('.')
  const expiry = Buffer.from(head, 'base64url').toString('latin1')
  if (more.length > 0 || !/^\d{1,15}$/.test(expiry) || !sameSecret(signature, signatureOf(token, expiry))) return null
  return Number(expiry) > now.getTime() ? new Date(Number(expiry)).toISOString() : null
}

/** Reads the `Authorization` header. Null when it holds neither the token nor a valid key. */
export function readCaller(authorization: string | undefined, token: string, now: Date): Caller | null {
  if (authorization === undefined) return UNKNOWN_CALLER
  const given = /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
  if (given === undefined) return null
  if (sameSecret(given, token)) return { by: 'token', expiresAt: null }
  const expiresAt = keyEnd(given, token, now)
  return expiresAt === null ? null : { by: 'key', expiresAt }
}

/** Compares two secrets in constant time, so that the duration tells nothing about them. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const signatureOf = (token: string, expiry: string): string =>
  createHmac('sha256', token).update(`page${expiry}`).digest('base64url')
