import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addressOf, encodingFor } from './page-files.js'
import { SIGN_IN } from './sign-in.js'
import { speak, statusLine, type TrialOptions, trialServer } from './trial-server.js'

type Trial = Awaited<ReturnType<typeof trialServer>>
const trials: Trial[] = []
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
  for (const trial of trials.splice(0)) await trial.end()
  rmSync(web, { recursive: true, force: true })
})
const start = async (options: TrialOptions = {}): Promise<Trial> => {
  const trial = await trialServer({ web, ...options })
  trials.push(trial)
  return trial
}
const DOCUMENT = '<!doctype html><title>Baton</title>'
const HTML = { Accept: 'text/html,application/xhtml+xml' }

it('the document is sent for every address of the page, the data of a session to whoever does not want a document', async () => {
  const trial = await start()
  await trial.post('/signals/claude-code/status-line', statusLine('s1', 50_000, 1))
  for (const path of ['/', '/sessions/s1', '/jobs', '/jobs/j1', '/briefs/b', '/archive/a?line=7', '/history', '/settings', '/?x'])
    expect(await (await fetch(`${trial.url}${path}`, { headers: HTML })).text(), path).toContain('<title>Baton')
  expect((await trial.get('/sessions/s1')).body).toMatchObject({ session_id: 's1' })
})

it('a person who mistypes an address is shown the page, which says so; a program is told', async () => {
  const trial = await start()
  for (const path of ['/no/page', '/sesions', '/assets/gone.js']) {
    const shown = await fetch(`${trial.url}${path}`, { headers: HTML })
    expect([shown.status, shown.headers.get('etag'), await shown.text()], path).toEqual([404, null, DOCUMENT])
    const told = await trial.get(path)
    expect([told.status, told.body.error], path).toEqual([404, `Nothing at ${path}`])
  }
  for (const path of ['/api/nothing', '/signals/x', '/hooks', '/health/x'])
    expect((await fetch(`${trial.url}${path}`, { headers: HTML })).headers.get('content-type'), path).toContain('json')
})

it('says what the page may do, what may be kept, and what is known already', async () => {
  const trial = await start()
  const document = await fetch(trial.url, { headers: HTML })
  expect(Object.fromEntries(document.headers)).toMatchObject({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; worker-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cache-control': 'no-cache',
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
  const etag = document.headers.get('etag')!
  expect((await fetch(trial.url, { headers: { ...HTML, 'If-None-Match': `"other", W/${etag}` } })).status).toBe(304)
  expect((await fetch(trial.url, { headers: { ...HTML, 'If-None-Match': '"other"' } })).status).toBe(200)
  const asset = await fetch(`${trial.url}/assets/index-a1b2.js`)
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(await asset.text()).toBe('console.log(1)')
  const data = await fetch(`${trial.url}/api/sessions`)
  expect(data.headers.get('cache-control')).toBe('no-store')
  expect(data.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
})

it('sends the compressed file a browser takes, and only its head where that is asked', async () => {
  const trial = await start()
  const head = (encoding: string) =>
    speak(
      trial.url,
      `HEAD /assets/index-a1b2.js HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: ${encoding}\r\nConnection: close\r\n\r\n`,
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

it('never leaves its folder, however the way out is written', async () => {
  const trial = await start()
  writeFileSync(join(web, '..', 'baton-test-beside'), 'beside')
  for (const path of [
    ...[
      '/../baton-test-beside',
      '/%2e%2e/baton-test-beside',
      '/assets/../../baton-test-beside',
      '/assets/..%2f..%2fbaton-test-beside',
    ],
    ...[
      '/..\\baton-test-beside',
      '/assets/%5c..%5c..%5cbaton-test-beside',
      '//etc/passwd',
      '/secret',
      '/index.html.br',
      '/assets/',
    ],
    ...['/%00', '/assets/index-a1b2.js%00.html', '/assets/%', '/...//...//etc/passwd'],
  ]) {
    const heard = await speak(trial.url, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
    expect(heard, path).toMatch(/^HTTP\/1.1 (400|404)/)
  }
  rmSync(join(web, '..', 'baton-test-beside'))
})

it('a program without a page still answers', async () => {
  const trial = await start({ web: join(web, 'nowhere') })
  expect((await fetch(trial.url, { headers: HTML })).status).toBe(404)
  expect((await trial.get('/health')).status).toBe(200)
})

describe('where everybody has to give the token', () => {
  const token = 'a-secret-of-sixteen'

  it('a browser is asked for it, and then a cookie opens the files and no data', async () => {
    const trial = await start({ token })
    const asked = await fetch(`${trial.url}/jobs`, { headers: HTML })
    expect(asked.status).toBe(401)
    expect(await asked.text()).toBe(SIGN_IN)
    expect(asked.headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/)
    expect((await fetch(`${trial.url}/assets/index-a1b2.js`)).status).toBe(401)
    const entered = await trial.post('/api/enter', { token }, { 'Content-Type': 'application/json' })
    const cookie = entered.headers.get('set-cookie')!
    expect(cookie).toMatch(/^baton-files=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/)
    const Cookie = cookie.split(';')[0]!
    expect(await (await fetch(`${trial.url}/jobs`, { headers: { ...HTML, Cookie } })).text()).toContain('<title>Baton')
    expect((await fetch(`${trial.url}/assets/index-a1b2.js`, { headers: { Cookie } })).status).toBe(200)
    for (const path of ['/api/sessions', '/health', '/sessions/s1', '/api/live', '/api/jobs'])
      expect((await trial.get(path, { Cookie })).status, path).toBe(401)
    expect((await trial.post('/signals/claude-code/Stop', {}, { Cookie })).status).toBe(401)
    const inPieces = { method: 'POST', body: new Blob(['{}']).stream(), duplex: 'half', headers: { Cookie } } as RequestInit
    expect((await fetch(`${trial.url}/signals/claude-code/Stop`, inPieces)).status).toBe(401)
    expect((await trial.post('/hooks/context-usage', {}, { Cookie })).status).toBe(401)
    const { key } = (await entered.json()) as { key: string }
    expect((await trial.get('/api/sessions', { Authorization: `Bearer ${key}` })).status).toBe(200)
  })
})

it('knows which addresses are pages', () => {
  const at = (path: string, accept = 'text/html') => addressOf({ path, headers: { accept } })
  expect(at('/')).toBe('/index.html')
  expect(at('/sessions/x')).toBe('/index.html')
  expect(at('/sessions/x', '*/*')).toBeNull()
  expect(at('/jobs/x', '*/*')).toBe('/index.html')
  for (const data of ['/api', '/api/x', '/health', '/signals/x', '/hooks/context-usage']) expect(at(data), data).toBeNull()
})
