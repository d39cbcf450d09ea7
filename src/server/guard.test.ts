import { describe, expect, it } from 'vitest'
import { type Bound, isLoopback, refuse } from './guard.js'

const open: Bound = { host: '127.0.0.1', port: 8420, token: null }
const locked: Bound = { host: '0.0.0.0', port: 8420, token: 'secret' }
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

  it('knows what loopback is', () => {
    expect(isLoopback('127.8.9.1')).toBe(true)
    expect(isLoopback('0.0.0.0')).toBe(false)
    expect(isLoopback('128.0.0.1')).toBe(false)
  })
})
