import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tempDir } from '../../../../test/harness/temp-dir.js'
import type { Order } from '../../../contract/records/handoff.js'
import { pluginModuleFiles } from './mod.js'

const ORDER = '/live/s1.order.json'
const ENTRY = '/home/u/.claude/sessions/1.json'

/** A fake client: files in memory, timers fired by the test, and answers chosen by the test. */
class Client {
  files = new Map<string, string>()
  stamps = 0
  id = 's1'
  draft = ''
  agents: { status: string }[] = []
  done: string[] = []
  ticks: (() => Promise<void>)[] = []
  refusal: string | undefined
  clears = true
  drop: string | undefined
  commands: { name: string; plugin?: string }[] = []
  surface: string | null = 'terminal'
  /** Called before a file is written or read. */
  on: (what: string, at: string) => void = () => {}
  session = {
    id: async () => this.id,
    model: async () => 'm',
    usage: async () => ({ context: { tokens: 1, window: 2 }, cost: { usd: 0 } }),
    surface: async () => this.surface,
  }
  clock = {
    now: async () => Date.now(),
    sleep: async () => {},
    every: (_: number, look: () => Promise<void>) => void this.ticks.push(look),
    after: () => {},
  }
  env = { get: async (name: string) => (name === 'HOME' ? '/home/u' : undefined) }
  agent = { list: async () => this.agents }
  prompt = {
    read: async () => ({ text: this.draft, cursor: 0 }),
    fill: async () => ({ isFilled: this.refusal === undefined, refusal: this.refusal }),
    submit: async ({ text }: { text: string }) => {
      this.done.push(`submit ${this.id} ${text}`)
      return this.drop === undefined ? { text } : { drop: this.drop }
    },
  }
  command = {
    list: async () => this.commands,
    register: async ({ name }: { name: string }) => void this.done.push(`register ${name}`),
    run: async ({ command }: { command: string }) => {
      this.done.push(command)
      if (this.clears) this.id = `${this.id}x`
      return { text: '' }
    },
  }
  fs = {
    exists: async (at: string) => this.files.has(at),
    stat: async (at: string) => ({ mtimeMs: Number(this.files.get(`${at} stamp`)), size: this.files.get(at)!.length }),
    list: async (folder: string) =>
      [...this.files.keys()].filter((at) => path.dirname(at) === folder).map((at) => ({ name: path.basename(at) })),
    read: async (at: string) => {
      this.on('read', at)
      if (!this.files.has(at)) throw new Error('ENOENT')
      return this.files.get(at)!
    },
    write: async (at: string, text: string) => {
      this.on('write', at)
      this.files.set(at, text)
    },
  }

  give(change: Partial<Order> = {}): void {
    const until = Date.now() + 60_000
    this.put({ format: 1, orderId: 'o1', session: 's1', do: 'hand-off', prompt: '[baton] Go on.', until, ...change })
  }
  put(order: unknown): void {
    this.files.set(ORDER, JSON.stringify(order))
    this.files.set(`${ORDER} stamp`, String(++this.stamps))
  }
  status(status: string, statusUpdatedAt = Date.now()): void {
    this.files.set(ENTRY, JSON.stringify({ sessionId: this.id, kind: 'interactive', status, statusUpdatedAt }))
  }
  answer(orderId = 'o1', session = 's1') {
    const { state, reason } = JSON.parse(this.files.get(`/live/${session}.${orderId}.answer.json`) ?? '{}')
    return state === undefined ? null : reason === null ? state : `${state} ${reason}`
  }
  get problem() {
    return JSON.parse(this.files.get('/live/s1.json') ?? '{}').problem
  }
}

type Fire = (event: string, e?: object) => Promise<unknown>

async function start(
  client = new Client(),
  interactive = true,
): Promise<{ client: Client; fire: Fire; look(): Promise<void> }> {
  const at = path.join(tempDir(), 'register.mjs')
  const program = pluginModuleFiles({ liveDir: '/live', requestPrompt: '[baton] Write the brief.' })
  writeFileSync(at, program.find((file) => file.path === 'hooks/register.js')!.text)
  const { register } = await import(at)
  const hooks = new Map<string, (...args: unknown[]) => unknown>()
  register((event: string, ...rest: ((...args: unknown[]) => unknown)[]) => hooks.set(event, rest.at(-1)!))
  const fire: Fire = async (event, e = {}) => hooks.get(event)!(client, e, (given: unknown) => ({ passed: given }))
  await fire('session.start', { isInteractive: interactive })
  await settle()
  return {
    client,
    fire,
    look: async () => {
      for (const tick of client.ticks) await tick()
      await settle()
    },
  }
}

/** Waits for the next turn of the event loop, after everything that the client answers at once. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('an executed order clears the session, sends the prompt and is answered with done', async () => {
  const { client, look } = await start()
  client.done = []
  client.status('idle')
  client.give()
  await look()
  expect(client.done).toEqual(['clear', 'submit s1x [baton] Go on.'])
  expect(client.answer()).toBe('done')
  await look()
  expect(client.done).toHaveLength(2)
})

test('an order to submit a prompt leaves the session, the draft and background work alone', async () => {
  const { client, look } = await start()
  client.done = []
  client.draft = 'half a thought'
  client.agents = [{ status: 'running' }]
  client.give({ do: 'say' })
  await look()
  expect([client.done, client.answer()]).toEqual([['submit s1 [baton] Go on.'], 'done'])
})

const HINDRANCES: [string, (client: Client, fire: Fire) => unknown, (client: Client, fire: Fire) => unknown][] = [
  ['draft', (client) => (client.draft = 'x'), (client) => (client.draft = '')],
  ['turn', (client) => client.status('busy'), (client) => client.status('idle')],
  ['dialog', (client) => client.status('waiting'), (client) => client.status('idle')],
  ['dialog', (client) => (client.refusal = 'dialog'), (client) => (client.refusal = undefined)],
  [
    'subagent',
    (client) => (client.agents = [{ status: 'running' }]),
    (client) => (client.agents = [{ status: 'completed' }]),
  ],
  [
    'background',
    (_, fire) => fire('classic.Stop', { background_tasks: [{ id: 'b1' }] }),
    (_, fire) => fire('classic.Stop', { background_tasks: [] }),
  ],
  [
    'turn',
    (_, fire) => fire('turn.start', { turnId: 't1' }),
    async (_, fire) => {
      await fire('turn.complete', { turnId: 't1' })
      vi.setSystemTime(Date.now() + 110)
    },
  ],
]

test.each(HINDRANCES)(
  'an order waits while there is a %s, and is refused with that reason when its time is over',
  async (word, on, off) => {
    onTestFinished(() => void vi.useRealTimers())
    for (const late of [false, true]) {
      const { client, fire, look } = await start()
      client.done = []
      await on(client, fire)
      client.give({ until: Date.now() + 60_000 })
      await look()
      expect([client.done, client.answer()]).toEqual([[], null])
      if (late) vi.setSystemTime(Date.now() + 60_001)
      else await off(client, fire)
      await look()
      expect([client.done.length, client.answer()]).toEqual(late ? [0, `refused ${word}`] : [2, 'done'])
    }
  },
)

test('a turn whose end was never reported does not block orders once the client has reported idle', async () => {
  const { client, fire, look } = await start()
  await fire('turn.start', { turnId: 't1' })
  client.status('idle', Date.now() - 1000)
  client.give()
  await look()
  expect(client.answer()).toBeNull()
  client.status('idle', Date.now() + 1)
  await look()
  expect(client.answer()).toBe('done')
})

const NEVER: [string, Record<string, unknown>, string][] = [
  ['format', { format: 2 }, 'refused format'],
  ['action', { do: 'delete' }, 'refused format'],
  ['prompt', { prompt: 'rm -rf' }, 'refused format'],
  ['session', { session: 's2' }, 'refused session'],
  ['time', { until: Date.now() - 1 }, 'refused late'],
]

test.each(NEVER)('an order with a wrong %s is refused', async (_, change, said) => {
  const { client, look } = await start()
  client.done = []
  client.give(change as Partial<Order>)
  await look()
  expect([client.done, client.answer()]).toEqual([[], said])
})

test.each(['null', '"x"', '{', '{"orderId":"../x"}'])(
  'a file that is no order (%s) is reported as a problem, and nothing is done',
  async (text) => {
    const { client, look } = await start()
    client.done = []
    client.files.set(ORDER, text)
    client.files.set(`${ORDER} stamp`, '1')
    await look()
    expect(client.done).toEqual([])
    expect(client.problem).toContain('unknown format')
    expect([...client.files.keys()].filter((at) => at.includes('answer'))).toEqual([])
  },
)

test('an order with an answer is not started again, however incomplete the answer is', async () => {
  const { client, look } = await start()
  client.done = []
  client.files.set('/live/s1.o1.answer.json', '')
  client.give()
  await look()
  expect(client.done).toEqual([])
})

test('an order withdrawn while it is being started is not executed', async () => {
  const { client, look } = await start()
  client.done = []
  client.give()
  client.on = (what, at) => what === 'write' && at.endsWith('.answer.json') && client.files.delete(ORDER)
  await look()
  expect([client.done, client.answer()]).toEqual([[], 'refused withdrawn'])
})

test('text that the user starts to type while an order is being started is not cleared', async () => {
  const { client, look } = await start()
  client.done = []
  client.give()
  client.on = (what) => {
    if (what === 'write') client.draft = 'x'
  }
  await look()
  expect([client.done, client.answer()]).toEqual([[], 'refused draft'])
})

test('an order limits automatic handoffs per hour, and requested ones do not count', async () => {
  const { client, look } = await start()
  const give = async (orderId: string, limit: Partial<Order>): Promise<string | null> => {
    client.id = 's1'
    client.give({ orderId, ...limit })
    await look()
    return client.answer(orderId)
  }
  for (let n = 1; n <= 7; n++) expect(await give(`asked${n}`, {})).toBe('done')
  expect(await give('o1', { perHour: 2 })).toBe('done')
  expect(await give('o2', { perHour: 2 })).toBe('done')
  expect(await give('o3', { perHour: 2 })).toBe('refused guard')
  expect(await give('o4', { perHour: 3 })).toBe('done')
  expect(await give('asked8', {})).toBe('done')
})

test('endless handoffs are stopped, even if requested', async () => {
  const { client, look } = await start()
  client.done = []
  for (let n = 1; n <= 62; n++) {
    client.id = 's1'
    client.give({ orderId: `o${n}` })
    await look()
  }
  expect(client.done.filter((one) => one === 'clear')).toHaveLength(60)
  expect([client.answer('o60'), client.answer('o61')]).toEqual(['done', 'refused guard'])
})

test('a client that does not clear, or drops the prompt after it, is reported as a problem', async () => {
  const dropped = await start()
  dropped.client.drop = 'stopped'
  dropped.client.give()
  await dropped.look()
  expect(dropped.client.answer()).toBe('refused failed after the clear: stopped')

  const unclearable = await start()
  unclearable.client.clears = false
  unclearable.client.done = []
  unclearable.client.give()
  await unclearable.look()
  expect([unclearable.client.done, unclearable.client.answer()]).toEqual([
    ['clear'],
    'refused failed: the session was not cleared',
  ])
  expect(unclearable.client.problem).toContain('the session was not cleared')
})

test('in print mode no orders are read and no command is offered', async () => {
  const client = new Client()
  client.surface = null
  const { fire } = await start(client, false)
  await fire('turn.start', { turnId: 't1' })
  await settle()
  expect([client.ticks, client.done]).toEqual([[], []])
})

test('a module reloaded within a session reads orders from the next turn on', async () => {
  const client = new Client()
  const { fire } = await start(client, false)
  expect(client.ticks).toHaveLength(0)
  await fire('turn.start', { turnId: 't1' })
  await fire('turn.start', { turnId: 't2' })
  await settle()
  expect(client.ticks).toHaveLength(1)
})

test('/handoff STATUS is an action, and a misspelt action hands nothing over', async () => {
  const { client, fire } = await start()
  const later: (() => Promise<void>)[] = []
  client.clock.after = (...[, work]: unknown[]) => void later.push(work as () => Promise<void>)
  const type = (args: string) => fire('command.run', { args }) as Promise<{ text: string }>
  await type(' STATUS ')
  for (const work of later.splice(0)) await work()
  expect(client.done.at(-1)).toBe('submit s1 [baton] /handoff status')
  for (const [typed, meant] of [
    ['stauts', 'status'],
    ['canceled', 'cancel'],
    ['aprove', 'approve'],
  ])
    expect((await type(typed!)).text).toContain(`Did you mean /handoff ${meant}?`)
  expect(later).toEqual([])
  expect(client.files.has('/live/s1.request.json')).toBe(false)
  await type('start')
  expect(client.files.has('/live/s1.request.json')).toBe(true)
})

test('/handoff is offered and stores a request, unless the user has a command of that name', async () => {
  const own = await start()
  expect(own.client.done).toEqual(['register handoff'])
  const said = (await own.fire('command.run', { args: ' mind the test ' })) as { text: string }
  expect(said.text).toContain('fresh session')
  expect(JSON.parse(own.client.files.get('/live/s1.request.json')!)).toMatchObject({
    format: 1,
    session: 's1',
    words: 'mind the test',
  })

  const client = new Client()
  client.commands = [{ name: 'handoff' }]
  const users = await start(client)
  expect(client.done).toEqual([])
  const e = { args: '' }
  expect(await users.fire('command.run', e)).toEqual({ passed: e })
  expect(client.files.has('/live/s1.request.json')).toBe(false)
})
