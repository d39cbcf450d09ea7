import { afterEach, describe, expect, it } from 'vitest'
import { TRIAL_TOKEN, type TrialOptions, trialServer } from './trial-server.js'

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
const access = async (trial: Trial, secret?: string) => (await trial.get('/api/access', secret ? bearer(secret) : {})).body

describe('how a browser comes by its key', () => {
  it('a ticket for the token, a key for the ticket, once; the key is told words', async () => {
    const trial = await start()
    expect(await access(trial)).toEqual({ words: false, expires_at: null, version: 'test' })
    expect((await trial.post('/api/tickets', '')).status).toBe(401)
    const given = await trial.post('/api/tickets', '', bearer(TRIAL_TOKEN))
    const { ticket } = (await given.json()) as { ticket: string }
    const entered = await trial.post('/api/enter', { ticket }, JSON_TYPE)
    expect(entered.headers.get('set-cookie')).toBeNull()
    const { key, expires_at } = (await entered.json()) as { key: string; expires_at: string }
    expect(await access(trial, key)).toEqual({ words: true, expires_at, version: 'test' })
    expect((await trial.post('/api/enter', { ticket }, JSON_TYPE)).status).toBe(401)
    expect((await trial.post('/api/tickets', '', bearer(key))).status, 'a key is no token').toBe(401)
  })

  it('a key for the token itself, also by a browser whose key is over', async () => {
    const trial = await start()
    const entered = await trial.post('/api/enter', { token: TRIAL_TOKEN }, { ...JSON_TYPE, ...bearer('over') })
    const { key } = (await entered.json()) as { key: string }
    expect(await access(trial, key)).toMatchObject({ words: true })
  })

  it('says what is wrong with a request, and after ten wrong tries that it is enough, a second later', async () => {
    const trial = await start()
    const status = async (body: unknown, headers = JSON_TYPE as Record<string, string>) =>
      (await trial.post('/api/enter', body, headers)).status
    expect(await status('not json')).toBe(400)
    expect(await status({})).toBe(400)
    expect(await status({ ticket: 'a', token: 'b' })).toBe(400)
    expect(await status({ ticket: 7 })).toBe(400)
    expect(await status({ token: TRIAL_TOKEN }, { 'Content-Type': 'text/plain' })).toBe(400)
    expect(await status({ token: 'x'.repeat(5_000) })).toBe(413)
    for (let i = 0; i < 10; i++) expect(await status({ token: `wrong ${i}` })).toBe(401)
    const began = performance.now()
    const enough = await trial.post('/api/enter', { token: 'wrong again' }, JSON_TYPE)
    expect(enough.status).toBe(429)
    expect(Number(enough.headers.get('retry-after'))).toBeGreaterThan(50)
    expect(performance.now() - began).toBeGreaterThan(900)
  })

  it('lets in whoever is right, at once, however often others at the same address are wrong', async () => {
    const trial = await start()
    const { ticket } = (await (await trial.post('/api/tickets', '', bearer(TRIAL_TOKEN))).json()) as { ticket: string }
    const status = async (body: unknown) => (await trial.post('/api/enter', body, JSON_TYPE)).status
    const wrong = await Promise.all(
      Array.from({ length: 40 }, (_, n) => status(n % 2 ? { token: `x${n}` } : { ticket: `x${n}` })),
    )
    expect(wrong.filter((one) => one === 401)).toHaveLength(10)
    expect(wrong.filter((one) => one === 429)).toHaveLength(30)
    let answered = 0
    const others = Array.from({ length: 20 }, (_, n) => status({ token: `y${n}` }).then(() => answered++))
    expect(await Promise.all([status({ ticket }), status({ token: TRIAL_TOKEN })])).toEqual([200, 200])
    expect(answered, 'they waited behind nobody').toBe(0)
    expect(await status({ ticket }), 'a ticket is still good once').toBe(429)
    await Promise.all(others)
  })
})
