import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  AUTHORIZED,
  sendRawBytes,
  startTestServer,
  statusLine,
  type TestServerOptions,
  TOKEN_LINE,
} from '../testing/http-server.js'
import { addressOf, encodingFor } from './page-files.js'

type TestServer = Awaited<ReturnType<typeof startTestServer>>
const fixtures: TestServer[] = []
let web: string
beforeEach(() => {
  web = mkdtempSync(join(tmpdir(), 'baton-test-page-'))
  mkdirSync(join(web, 'assets'))
  const put = (name: string, body: string): void => {
    writeFileSync(join(web, name), body)
    writeFileSync(join(web, `${name}.br`), brotliCompressSync(body))
    writeFileSync(join(web, `${name}.gz`), gzipSync(body))
  }
  put('index.html', DOCUMENT)
  put('assets/index-a1b2.js', 'console.log(1)')
  writeFileSync(join(web, 'secret'), 'not a file of the page')
})
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.end()
  rmSync(web, { recursive: true, force: true })
})
const start = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const fixture = await startTestServer({ web, ...options })
  fixtures.push(fixture)
  return fixture
}
const DOCUMENT = '<!doctype html><title>Baton</title>'
const HTML = { Accept: 'text/html,application/xhtml+xml' }

test('every address of the page sends the document, or session data to a caller that wants no HTML', async () => {
  const fixture = await start()
  await fixture.post('/signals/claude-code/status-line', statusLine('s1', 50_000, 1))
  for (const path of [
    '/',
    '/sessions/s1',
    '/jobs',
    '/jobs/j1',
    '/briefs/b',
    '/archive/a?line=7',
    '/history',
    '/settings',
    '/?x',
  ])
    expect(await (await fetch(`${fixture.url}${path}`, { headers: HTML })).text(), path).toContain('<title>Baton')
  expect((await fixture.get('/sessions/s1')).body).toMatchObject({ session_id: 's1' })
  const list = await fixture.get('/sessions', { Accept: 'application/json' })
  expect(list.body).toMatchObject({ sessions: [{ session_id: 's1' }] })
})

test('an unknown address sends the page with status 404 to a browser and an error to a program', async () => {
  const fixture = await start()
  for (const path of ['/no/page', '/sesions', '/assets/gone.js']) {
    const shown = await fetch(`${fixture.url}${path}`, { headers: HTML })
    expect([shown.status, shown.headers.get('etag'), await shown.text()], path).toEqual([404, null, DOCUMENT])
    const told = await fixture.get(path)
    expect([told.status, told.body.error], path).toEqual([404, expect.stringContaining(path)])
  }
  for (const path of ['/api/nothing', '/signals/x', '/hooks', '/health/x'])
    expect((await fetch(`${fixture.url}${path}`, { headers: HTML })).headers.get('content-type'), path).toContain(
      'json',
    )
})

test('page files have a security policy, caching rules and an ETag', async () => {
  const fixture = await start()
  const document = await fetch(fixture.url, { headers: HTML })
  expect(Object.fromEntries(document.headers)).toMatchObject({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src " +
      "'self'; worker-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cache-control': 'no-cache',
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
  const etag = document.headers.get('etag')!
  expect((await fetch(fixture.url, { headers: { ...HTML, 'If-None-Match': `"other", W/${etag}` } })).status).toBe(304)
  expect((await fetch(fixture.url, { headers: { ...HTML, 'If-None-Match': '"other"' } })).status).toBe(200)
  const asset = await fetch(`${fixture.url}/assets/index-a1b2.js`)
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(await asset.text()).toBe('console.log(1)')
  const data = await fetch(`${fixture.url}/api/sessions`, { headers: AUTHORIZED })
  expect(data.headers.get('cache-control')).toBe('no-store')
  expect(data.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
})

test('a page file is sent in the encoding a browser accepts, and HEAD sends only the headers', async () => {
  const fixture = await start()
  const head = (encoding: string) =>
    sendRawBytes(
      fixture.url,
      `HEAD /assets/index-a1b2.js HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: ${encoding}\r\n` +
        'Connection: close\r\n\r\n',
    )
  expect(await head('gzip, deflate, br')).toMatch(/^HTTP\/1.1 200.*Content-Encoding: br\r\n.*\r\n\r\n$/s)
  expect(await head('gzip')).toMatch(/^HTTP\/1.1 200.*Content-Encoding: gzip\r\n.*\r\n\r\n$/s)
  expect(await head('identity')).not.toContain('Content-Encoding')
  const bytes = { br: Buffer.of(1), gzip: Buffer.of(1), identity: Buffer.of(1) }
  expect(encodingFor('br;q=0, gzip;q=0.5', { bytes })).toBe('gzip')
  expect(encodingFor('*', { bytes })).toBe('br')
  expect(encodingFor(undefined, { bytes })).toBe('identity')
  expect(encodingFor('br', { bytes: { identity: Buffer.of(1) } })).toBe('identity')
})

test('no path leads out of the folder of page files', async () => {
  const fixture = await start()
  writeFileSync(join(web, '..', 'baton-test-beside'), 'beside')
  for (const path of [
    '/../baton-test-beside',
    '/%2e%2e/baton-test-beside',
    '/assets/../../baton-test-beside',
    '/assets/..%2f..%2fbaton-test-beside',
    '/..\\baton-test-beside',
    '/assets/%5c..%5c..%5cbaton-test-beside',
    '//etc/passwd',
    '/secret',
    '/index.html.br',
    '/assets/',
    '/%00',
    '/assets/index-a1b2.js%00.html',
    '/assets/%',
    '/...//...//etc/passwd',
  ]) {
    const heard = await sendRawBytes(
      fixture.url,
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\nConnection: close\r\n\r\n`,
    )
    expect(heard, path).toMatch(/^HTTP\/1.1 (400|404)/)
  }
  rmSync(join(web, '..', 'baton-test-beside'))
})

test('a server without page files still answers other requests', async () => {
  const fixture = await start({ web: join(web, 'nowhere') })
  expect((await fetch(fixture.url, { headers: { ...HTML, ...AUTHORIZED } })).status).toBe(404)
  expect((await fixture.get('/health')).status).toBe(200)
})

test('addresses of pages are distinguished from those of data', () => {
  const at = (path: string, accept = 'text/html') => addressOf({ path, headers: { accept } })
  expect(at('/')).toBe('/index.html')
  expect(at('/sessions/x')).toBe('/index.html')
  expect(at('/sessions/x', '*/*')).toBeNull()
  expect(at('/jobs/x', '*/*')).toBe('/index.html')
  expect(at('/sessions', 'application/json')).toBeNull()
  expect(at('/sessions', '*/*')).toBe('/index.html')
  expect(at('/sessions', 'text/html, application/json;q=0.9')).toBe('/index.html')
  for (const data of ['/api', '/api/x', '/health', '/signals/x', '/hooks/context-usage'])
    expect(at(data), data).toBeNull()
})
