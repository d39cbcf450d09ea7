import { describe, expect, test } from 'vitest'
import type { RouteSpec } from '../contract/api/route.js'
import { ROUTES } from '../contract/api/routes.js'
import { makeKey } from './access.js'
import { type BoundServer, checkCaller, isLoopback, needsToken, type RequestHead } from './guard.js'

const token = 'secret'
const open: BoundServer = { host: '127.0.0.1', port: 8420, token }
const beyond: BoundServer = { host: '0.0.0.0', port: 8420, token }
const NOW = new Date('2026-11-16T12:00:00Z')
const refuse = (asking: RequestHead, bound: BoundServer) => {
  const judged = checkCaller(asking, bound, () => NOW)
  return judged.status === null ? null : judged
}
const ask = (host?: string, origin?: string, authorization?: string) => ({ host, origin, authorization })

describe('checking callers', () => {
  test('a request to any name of loopback is accepted', () => {
    for (const host of ['127.0.0.1:8420', 'localhost:8420', '[::1]:8420', 'LOCALHOST', '127.0.0.1'])
      expect(refuse(ask(host), open), host).toBeNull()
  })

  test('a request to a host name that merely resolves to this machine is refused', () => {
    for (const host of [
      'evil.example',
      'evil.example:8420',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      undefined,
      '',
    ])
      expect(refuse(ask(host), open)?.status, String(host)).toBe(403)
  })

  test('a request from another origin or port is refused, and one from the page’s own accepted', () => {
    expect(refuse(ask('127.0.0.1:8420', 'http://evil.example'), open)?.status).toBe(403)
    expect(refuse(ask('127.0.0.1:8420', 'http://127.0.0.1:3000'), open)?.status).toBe(403)
    expect(refuse(ask('127.0.0.1:8420', 'null'), open)?.status).toBe(403)
    expect(refuse(ask('127.0.0.1:8420', 'http://127.0.0.1:8420'), open)).toBeNull()
  })

  test('a server beyond loopback accepts any host name but still no other origin', () => {
    expect(refuse(ask('box.lan:8420'), beyond)).toBeNull()
    expect(refuse(ask('box.lan:8420', 'http://evil.example'), beyond)?.status).toBe(403)
    expect(refuse(ask('box.lan:8420', undefined, 'Bearer wrong'), beyond)?.status).toBe(401)
  })

  test('a caller is recognised by token or key, and a wrong one is refused on every route', () => {
    const asked = (authorization?: string) =>
      checkCaller(ask('127.0.0.1:8420', undefined, authorization), open, () => NOW)
    const { key, expiresAt } = makeKey(token, NOW)
    expect(asked()).toEqual({ status: null, caller: { by: 'nobody', expiresAt: null } })
    expect(asked('Bearer secret')).toEqual({ status: null, caller: { by: 'token', expiresAt: null } })
    expect(asked(`Bearer ${key}`)).toEqual({ status: null, caller: { by: 'key', expiresAt } })
    const wrong = ['Bearer wrong', 'Bearer', '', 'Basic c2VjcmV0', 'Bearer secret secret', `Bearer ${key}x`]
    const forged = `Bearer ${makeKey('other-secret', NOW).key}`
    for (const given of [...wrong, forged]) expect(asked(given).status, given).toBe(401)
  })

  test('a request that another page caused is refused even without an origin, unless it is a link', () => {
    for (const site of ['cross-site', 'same-site']) {
      expect(refuse({ ...ask('127.0.0.1:8420'), site, mode: 'no-cors' }, open)?.status).toBe(403)
      expect(refuse({ ...ask('127.0.0.1:8420'), site, mode: 'navigate' }, open)).toBeNull()
    }
    expect(refuse({ ...ask('127.0.0.1:8420'), site: 'same-origin', mode: 'cors' }, open)).toBeNull()
  })

  test('a browser with an expired key may enter again', () => {
    const expired = ask('127.0.0.1:8420', undefined, 'Bearer old')
    expect(refuse({ ...expired, method: 'POST', path: '/api/enter' }, open)).toBeNull()
    expect(refuse({ ...expired, method: 'GET', path: '/api/enter' }, open)?.status).toBe(401)
  })

  test('a route needs no token only if the table of routes calls it open', () => {
    const calls = Object.values<RouteSpec>(ROUTES).map(({ method, path, access }) => ({
      method: method.toUpperCase(),
      path,
      access,
    }))
    const opened = calls.filter((call) => !needsToken(call))
    expect(opened.map(({ path }) => path)).toEqual(['/health', '/api/enter'])
    expect(opened).toEqual(calls.filter(({ access }) => access === 'open'))
    for (const path of ['/health/', '/health/x', '//health', '/Health', '/api/enter/', '/api/live', '/', ''])
      for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'OPTIONS'])
        expect(needsToken({ method, path }), path).toBe(true)
  })

  test('loopback is the whole network 127.0.0.0/8', () => {
    expect(isLoopback('127.8.9.1')).toBe(true)
    expect(isLoopback('0.0.0.0')).toBe(false)
    expect(isLoopback('128.0.0.1')).toBe(false)
  })
})
