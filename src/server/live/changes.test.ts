import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import { sampleHandoff } from '../../store/samples.cases.js'
import { statusLine, type TrialOptions, trialServer } from '../trial-server.js'
import { type Listener, listenTo } from './trial-listener.js'

type Trial = Awaited<ReturnType<typeof trialServer>>
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A server that knows sessions, each heard of once. */
async function serverOf(ids: string[], options: TrialOptions = {}): Promise<Trial> {
  const trial = await trialServer(options)
  ends.push(trial.end)
  for (const id of ids) await trial.post('/signals/claude-code/status-line', statusLine(id, 50_000, 1))
  return trial
}

async function listenAt(trial: Trial, headers: Record<string, string> = {}): Promise<Listener> {
  const listener = await listenTo(trial.url, { headers })
  ends.push(listener.end)
  await until('the snapshot', () => listener.heard.length > 0)
  return listener
}

describe('a handoff that something hinders', () => {
  it('says what it waits for, in lists, of its session and on the stream', async () => {
    const trial = await serverOf(['s1'])
    const { store, home } = trial.house
    const { seatId } = store.session('s1')!
    store.transaction(() => store.putHandoff(sampleHandoff('h1', { seatId, state: 'clearing', way: 'mod', orderId: 'o1' })))
    const listener = await listenAt(trial)
    expect(listener.heard[0]!.data.sessions).toMatchObject([{ handoff: { state: 'clearing', hindered_by: null } }])
    mkdirSync(home.live, { recursive: true })
    writeFileSync(join(home.live, 's1.o1.seen.json'), '{"by":"draft"}')
    await until('the row', () =>
      listener.heard.some(({ event, data }) => event === 'session' && data.handoff.hindered_by === 'draft'),
    )
    const hindered = { handoff: { hindered_by: 'draft' } }
    expect((await trial.get('/api/sessions')).body).toMatchObject({ sessions: [hindered] })
    expect((await trial.get('/api/sessions/s1')).body).toMatchObject(hindered)
  })
})
