import { afterEach, describe, expect, test, vi } from 'vitest'
import { until } from '../../test/harness/wait.js'
import { TRIAL_TOKEN, type TrialOptions, trialServer } from '../testing/http-server.js'
import { entrance, makeDelay } from './entrance.js'

type Trial = Awaited<ReturnType<typeof trialServer>>
const trials: Trial[] = []
const start = async (options: TrialOptions = {}): Promise<Trial> => {
  const trial = await trialServer(options)
  trials.push(trial)
  return trial
}
afterEach(async () => {
  for (const trial of trials.splice(0)) await trial.end()
})

const JSON_TYPE = { 'Content-Type': 'application/json' }
const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` })
const access = async (trial: Trial, secret: string) => (await trial.get('/api/access', bearer(secret))).body

describe('entering with a browser', () => {
  test('the token buys a ticket, the ticket buys one key, and the key opens every route', async () => {
    const trial = await start()
    const anonymous = await fetch(`${trial.url}/api/access`)
    expect([anonymous.status, await anonymous.json()]).toMatchObject([
      401,
      { hint: expect.stringContaining('baton open') },
    ])
    expect((await fetch(`${trial.url}/api/tickets`, { method: 'POST' })).status).toBe(401)
    const given = await trial.post('/api/tickets', '', bearer(TRIAL_TOKEN))
    const { ticket } = (await given.json()) as { ticket: string }
    const entered = await trial.post('/api/enter', { ticket }, JSON_TYPE)
    expect(entered.headers.get('set-cookie')).toBeNull()
    const { key, expires_at } = (await entered.json()) as { key: string; expires_at: string }
    expect(await access(trial, key)).toEqual({ expires_at, version: 'test', pid: process.pid })
    expect((await trial.post('/api/enter', { ticket }, JSON_TYPE)).status).toBe(401)
    expect((await trial.post('/api/tickets', '', bearer(key))).status, 'a key is no token').toBe(401)
  })

  test('the token itself is exchanged for a key, even by a browser with an expired key', async () => {
    const trial = await start()
    const entered = await trial.post('/api/enter', { token: TRIAL_TOKEN }, { ...JSON_TYPE, ...bearer('over') })
    const { key } = (await entered.json()) as { key: string }
    expect(await access(trial, key)).toMatchObject({ version: 'test' })
  })

  test('a malformed entrance request is refused with its reason, and an eleventh wrong try with 429', async () => {
    const now = new Date()
    const trial = await start({ now: () => now })
    const status = async (body: unknown, headers = JSON_TYPE as Record<string, string>) =>
      (await trial.post('/api/enter', body, headers)).status
    expect(await status('not json')).toBe(400)
    expect(await status({})).toBe(400)
    expect(await status({ ticket: 'a', token: 'b' })).toBe(400)
    expect(await status({ ticket: 7 })).toBe(400)
    expect(await status({ token: TRIAL_TOKEN }, { 'Content-Type': 'text/plain' })).toBe(400)
    expect(await status({ token: 'x'.repeat(5_000) })).toBe(413)
    for (let i = 0; i < 10; i++) expect(await status({ token: `wrong ${i}` })).toBe(401)
    const enough = await trial.post('/api/enter', { token: 'wrong again' }, JSON_TYPE)
    expect(enough.status).toBe(429)
    expect(enough.headers.get('retry-after')).toBe('60')
  })
})

/** Builds the entrance without a server. The clock stands still, and the test ends delays. */
function buildEntrance() {
  const release: (() => void)[] = []
  const app = entrance({
    version: 'test',
    token: TRIAL_TOKEN,
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
  expect(await Promise.all([enter({ ticket }), enter({ token: TRIAL_TOKEN })])).toEqual([200, 200])
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
    const delay = makeDelay()
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
