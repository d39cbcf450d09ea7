import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** Who asks. Handlers find it in `c.env`. */
export interface Caller {
  /** Words of conversations are told, and changes taken. */
  words: boolean
  /** By the token itself, or the key of one browser; `files`: by a cookie that opens the page's files and nothing that holds data. */
  by: 'token' | 'key' | 'files' | 'nobody'
  /** When the key ends; null: it is no key. ISO 8601, UTC. */
  expiresAt: string | null
}

export interface CallerEnv {
  Bindings: Caller & { address: string }
}

export const NOBODY: Caller = { words: false, by: 'nobody', expiresAt: null }

const DAY = 24 * 3_600_000
export const KEY_MS = 30 * DAY

/** What a key is good for. `page`: everything, as `Authorization: Bearer …`. `files`: the page's files alone, as a cookie. */
export type KeyUse = 'page' | 'files'

/** A key that needs no memory: it holds its end, signed with the token. It survives a restart and dies with the token. */
export function makeKey(token: string, use: KeyUse, now: Date): { key: string; expiresAt: string } {
  const expiry = String(now.getTime() + KEY_MS)
  return {
    key: `${Buffer.from(expiry).toString('base64url')}.${signed(token, use, expiry)}`,
    expiresAt: new Date(Number(expiry)).toISOString(),
  }
}

/** When the key ends; null: it is none, or its time is over. */
export function keyEnd(key: string, token: string, use: KeyUse, now: Date): string | null {
  const [head = '', sign = '', ...more] = key.split('.')
  const expiry = Buffer.from(head, 'base64url').toString('latin1')
  if (more.length > 0 || !/^\d{1,15}$/.test(expiry) || !sameSecret(sign, signed(token, use, expiry))) return null
  return Number(expiry) > now.getTime() ? new Date(Number(expiry)).toISOString() : null
}

/** null: what was given is wrong. Who gives nothing is nobody. */
export function whoAsks(authorization: string | undefined, token: string, now: Date): Caller | null {
  if (authorization === undefined) return NOBODY
  const given = /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
  if (given === undefined) return null
  if (sameSecret(given, token)) return { words: true, by: 'token', expiresAt: null }
  const expiresAt = keyEnd(given, token, 'page', now)
  return expiresAt === null ? null : { words: true, by: 'key', expiresAt }
}

/** Takes the same time wherever they differ, and however long they are. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const signed = (token: string, use: KeyUse, expiry: string): string =>
  createHmac('sha256', token).update(`${use}${expiry}`).digest('base64url')
