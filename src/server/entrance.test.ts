import { afterEach, describe, expect, test, vi } from 'vitest'
import { until } from '../../test/harness/wait.js'
import { startTestServer, TEST_TOKEN, type TestServerOptions } from '../testing/http-server.js'
import { entranceRoutes, makeWrongTryDelay } from './entrance.js'

type TestServer = Awaited<ReturnType<typeof startTestServer>>
const fixtures: TestServer[] = []
const start = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const fixture = await startTestServer(options)
  fixtures.push(fixture)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.end()
})

const JSON_TYPE = { 'Content-Type': 'application/json' }
const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` })
const access = async (fixture: TestServer, secret: string) => (await fixture.get('/api/access', bearer(secret))).body

describe('entering with a browser', () => {
  test('the token buys a ticket, the ticket buys one key, and the key opens every route', async () => {
    const fixture = await start()
    const anonymous = await fetch(`${fixture.url}/api/access`)
    expect([anonymous.status, await anonymous.json()]).toMatchObject([
      401,
      { hint: expect.stringContaining('baton open') },
    ])
    expect((await fetch(`${fixture.url}/api/tickets`, { method: 'POST' })).status).toBe(401)
    const given = await fixture.post('/api/tickets', '', bearer(TEST_TOKEN))
    const { ticket } = (await given.json()) as { ticket: string }
    const entered = await fixture.post('/api/enter', { ticket }, JSON_TYPE)
    expect(entered.headers.get('set-cookie')).toBeNull()
    const { key, expires_at } = (await entered.json()) as { key: string; expires_at: string }
    expect(await access(fixture, key)).toEqual({ expires_at, version: 'test', pid: process.pid })
    expect((await fixture.post('/api/enter', { ticket }, JSON_TYPE)).status).toBe(401)
    expect((await fixture.post('/api/tickets', '', bearer(key))).status, 'a key is no token').toBe(401)
  })

  test('the token itself is exchanged for a key, even by a browser with an expired key', async () => {
    const fixture = await start()
    const entered = await fixture.post('/api/enter', { token: TEST_TOKEN }, { ...JSON_TYPE, ...bearer('over') })
    const { key } = (await entered.json()) as { key: string }
    expect(await access(fixture, key)).toMatchObject({ version: 'test' })
  })

  test('a malformed entrance request is refused with its reason, and an eleventh wrong try with 429', async () => {
    const now = new Date()
    const fixture = await start({ now: () => now })
    const status = async (body: unknown, headers = JSON_TYPE as Record<string, string>) =>
      (await fixture.post('/api/enter', body, headers)).status
    expect(await status('not json')).toBe(400)
    expect(await status({})).toBe(400)
    expect(await status({ ticket: 'a', token: 'b' })).toBe(400)
    expect(await status({ ticket: 7 })).toBe(400)
    expect(await status({ token: TEST_TOKEN }, { 'Content-Type': 'text/plain' })).toBe(400)
    expect(await status({ token: 'x'.repeat(5_000) })).toBe(413)
    for (let i = 0; i < 10; i++) expect(await status({ token: `wrong ${i}` })).toBe(401)
    const enough = await fixture.post('/api/enter', { token: 'wrong again' }, JSON_TYPE)
    expect(enough.status).toBe(429)
    expect(enough.headers.get('retry-after')).toBe('60')
  })
})

/** Builds the entrance without a server. The clock stands still, and the test ends delays. */
function buildEntrance() {
  const release: (() => void)[] = []
  const app = entranceRoutes({
    version: 'test',
    token: TEST_TOKEN,
    pageUrl: null,
    now: () => new Date(0),
    delay: () => new Promise((resolve) => release.push(resolve)),
  })
  const post = (path: string, body: unknown) =>
    app.request(
      path,
      { method: 'POST', body: JSON.stringify(body), headers: JSON_TYPE },
      { by: 'token', expiresAt: null, address: '127.0.0.1' },
    )
  return { post, release, enter: async (body: unknown) => (await post('/api/enter', body)).status }
}

test('a correct ticket and token are accepted while wrong tries from the same address are delayed', async () => {
  const { post, release, enter } = buildEntrance()
  const { ticket } = (await (await post('/api/tickets', {})).json()) as { ticket: string }
  const wrong = Array.from({ length: 40 }, (_, n) => enter(n % 2 ? { token: `x${n}` } : { ticket: `x${n}` }))
  expect(await Promise.all([enter({ ticket }), enter({ token: TEST_TOKEN })])).toEqual([200, 200])
  await until('thirty wrong tries are delayed', () => release.length === 30)
  const again = enter({ ticket })
  await until('the used ticket is delayed', () => release.length === 31)
  for (const end of release) end()
  const statuses = await Promise.all(wrong)
  expect(statuses.filter((status) => status === 401)).toHaveLength(10)
  expect(statuses.filter((status) => status === 429)).toHaveLength(30)
  expect(await again, 'a used ticket counts as a wrong try').toBe(429)
})

test('a wrong try beyond the limit is delayed by a second, and at most a hundred are delayed at once', async () => {
  vi.useFakeTimers()
  try {
    const delay = makeWrongTryDelay()
    let ended = 0
    const count = (): void => void ended++
    for (let n = 0; n < 100; n++) void delay().then(count)
    await vi.advanceTimersByTimeAsync(999)
    expect(ended).toBe(0)
    await delay()
    await vi.advanceTimersByTimeAsync(1)
    expect(ended).toBe(100)
    void delay().then(count)
    await vi.advanceTimersByTimeAsync(999)
    expect(ended).toBe(100)
  } finally {
    vi.useRealTimers()
  }
})
