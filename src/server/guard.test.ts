import { describe, expect, it } from 'vitest'
import { makeKey } from './access.js'
import { type Asking, type Bound, FILES_COOKIE, isLoopback, judge } from './guard.js'

const open: Bound = { host: '127.0.0.1', port: 8420, token: 'secret', locked: false }
const locked: Bound = { host: '0.0.0.0', port: 8420, token: 'secret', locked: true }
const NOW = new Date('2026-11-16T12:00:00Z')
const refuse = (asking: Asking, bound: Bound) => {
  const judged = judge(asking, bound, () => NOW)
  return judged.status === null ? null : judged
}
const ask = (host?: string, origin?: string, authorization?: string) => ({ host, origin, authorization })

describe('who may ask', () => {
  it('welcomes loopback under any of its names', () => {
    for (const host of ['127.0.0.1:8420', 'localhost:8420', '[::1]:8420', 'LOCALHOST', '127.0.0.1'])
      expect(refuse(ask(host), open), host).toBeNull()
  })

  it('refuses a name that merely resolves to this machine', () => {
    for (const host of ['evil.example', 'evil.example:8420', '127.0.0.1.evil.example', 'localhost.evil.example', undefined, ''])
      expect(refuse(ask(host), open)?.status, String(host)).toBe(403)
  })

  it('refuses a page of another origin, also of another port, and welcomes its own', () => {
    expect(refuse(ask('127.0.0.1:8420', 'http://evil.example'), open)?.status).toBe(403)
    expect(refuse(ask('127.0.0.1:8420', 'http://127.0.0.1:3000'), open)?.status).toBe(403)
    expect(refuse(ask('127.0.0.1:8420', 'null'), open)?.status).toBe(403)
    expect(refuse(ask('127.0.0.1:8420', 'http://127.0.0.1:8420'), open)).toBeNull()
  })

  it('needs the token from everybody beyond loopback', () => {
    expect(refuse(ask('box.lan:8420'), locked)?.status).toBe(401)
    expect(refuse(ask('box.lan:8420', undefined, 'Bearer wrong'), locked)?.status).toBe(401)
    expect(refuse(ask('127.0.0.1:8420'), locked)?.status).toBe(401)
    expect(refuse(ask('box.lan:8420', undefined, 'Bearer secret'), locked)).toBeNull()
  })

  it('tells who asks: nobody, the token, a key of a browser; whoever gives a wrong one is refused, also where none is needed', () => {
    const asked = (authorization?: string) => judge(ask('127.0.0.1:8420', undefined, authorization), open, () => NOW)
    const { key, expiresAt } = makeKey('secret', 'page', NOW)
    expect(asked()).toEqual({ status: null, caller: { words: false, by: 'nobody', expiresAt: null } })
    expect(asked('Bearer secret')).toEqual({ status: null, caller: { words: true, by: 'token', expiresAt: null } })
    expect(asked(`Bearer ${key}`)).toEqual({ status: null, caller: { words: true, by: 'key', expiresAt } })
    for (const wrong of ['Bearer wrong', 'Bearer', '', 'Basic c2VjcmV0', 'Bearer secret secret', `Bearer ${key}x`])
      expect(asked(wrong).status, wrong).toBe(401)
  })

  it('refuses what another page had a browser send without an origin, and lets people follow links', () => {
    for (const site of ['cross-site', 'same-site']) {
      expect(refuse({ ...ask('127.0.0.1:8420'), site, mode: 'no-cors' }, open)?.status).toBe(403)
      expect(refuse({ ...ask('127.0.0.1:8420'), site, mode: 'navigate' }, open)).toBeNull()
    }
    expect(refuse({ ...ask('127.0.0.1:8420'), site: 'same-origin', mode: 'cors' }, open)).toBeNull()
  })

  it('lets a cookie open files, never as the token, and everybody come to the door', () => {
    const { key } = makeKey('secret', 'files', NOW)
    const cookie = `a=b; ${FILES_COOKIE}=${key}; c=d`
    expect(judge({ ...ask('box.lan'), cookie }, locked, () => NOW)).toMatchObject({ caller: { words: false, by: 'files' } })
    expect(refuse({ ...ask('box.lan'), cookie: `${FILES_COOKIE}=${makeKey('secret', 'page', NOW).key}` }, locked)?.status).toBe(
      401,
    )
    expect(refuse(ask('box.lan', undefined, `Bearer ${key}`), locked)?.status).toBe(401)
    expect(refuse({ ...ask('box.lan', undefined, 'Bearer old'), method: 'POST', path: '/api/enter' }, locked)).toBeNull()
    expect(refuse({ ...ask('box.lan'), method: 'GET', path: '/api/enter' }, locked)?.status).toBe(401)
  })

  it('knows what loopback is', () => {
    expect(isLoopback('127.8.9.1')).toBe(true)
    expect(isLoopback('0.0.0.0')).toBe(false)
    expect(isLoopback('128.0.0.1')).toBe(false)
  })
})
