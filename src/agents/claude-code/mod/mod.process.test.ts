import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../../test/harness/temp-dir.js'
import { PLUGIN_NAME, pluginModuleFiles } from './mod.js'

const file = (name: string, liveDir = '/home/u/.local/state/baton/live'): string =>
  pluginModuleFiles({ liveDir, version: '1.2.3' }).find(({ path: at }) => at === name)!.text

test('the plugin module is a plugin of four files that names its version', () => {
  expect(pluginModuleFiles({ liveDir: '/live' }).map(({ path: at }) => at)).toEqual([
    '.claude-plugin/plugin.json',
    'hooks/hooks.json',
    'hooks/register.js',
    'README.md',
  ])
  expect(JSON.parse(file('.claude-plugin/plugin.json'))).toMatchObject({ name: PLUGIN_NAME, version: '1.2.3' })
  expect(JSON.parse(file('hooks/hooks.json'))).toEqual({ modules: ['./register.js'] })
})

test.each(['/plain', `/with "quotes" and 'more' and \${this} and \\back\`tick`, '/mit Umläuten/и'])(
  'a live folder named %s is quoted correctly',
  (liveDir) => {
    const dir = tempDir()
    mkdirSync(path.join(dir, 'hooks'))
    const at = path.join(dir, 'register.mjs')
    writeFileSync(at, `${file('hooks/register.js', liveDir)}\nprocess.stdout.write(LIVE)\n`)
    const run = spawnSync(process.execPath, [at], { encoding: 'utf8' })
    expect([run.stderr, run.stdout]).toEqual(['', liveDir])
  },
)

interface Call {
  path: string
  report: Record<string, unknown>
}

/** Runs the module's program with a fake client, whose answers the test controls. */
async function run(
  script: (client: Client, fire: (event: string, e?: object) => Promise<unknown>) => Promise<void>,
): Promise<Call[]> {
  const at = path.join(tempDir(), 'register.mjs')
  writeFileSync(at, file('hooks/register.js', '/live'))
  const { register } = await import(at)
  const client = new Client()
  type Hook = ($: unknown, e: object, next: (e: object) => unknown) => unknown
  const hooks = new Map<string, Hook>()
  register((event: string, hook: Hook) => hooks.set(event, hook))
  await script(client, async (event, e = {}) =>
    hooks.get(event)!(client, e, (given) => ({ passed: given, messages: [] })),
  )
  await client.quiet()
  return client.written
}

class Client {
  written: Call[] = []
  id = 's1'
  tokens: number | undefined
  window = 200_000
  now = 1000
  breakdowns = 0
  failing = false
  private busy = 0
  session = {
    id: async () => this.slow(this.id),
    model: async () => 'claude-opus-4-6',
    usage: async (args?: { breakdown: string }) => {
      if (this.failing) throw new Error('no usage')
      if (args) this.breakdowns++
      const breakdown = {
        autoCompactThreshold: this.window - 33_000,
        rawMaxTokens: this.window,
        autocompactSource: 'model-default',
        isAutoCompactEnabled: true,
      }
      return this.slow({
        context: { tokens: this.tokens, window: this.window, ...(args ? { breakdown } : {}) },
        cost: { usd: 1 },
      })
    },
  }
  clock = { now: async () => this.now, sleep: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)) }
  fs = {
    write: async (at: string, text: string) => {
      const call = await this.slow({ path: at, report: JSON.parse(text) })
      if (!at.endsWith('.summary.json')) this.written.push(call)
    },
  }
  async slow<T>(value: T): Promise<T> {
    this.busy++
    await new Promise((resolve) => setTimeout(resolve, 1))
    this.busy--
    return value
  }
  async quiet(): Promise<void> {
    for (let quietTurns = 0; quietTurns < 10; quietTurns = this.busy === 0 ? quietTurns + 1 : 0)
      await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

test('reports are written one after the other with rising stamps, even if the clock stops or goes back', async () => {
  const calls = await run(async (client, fire) => {
    await fire('session.start')
    await client.quiet()
    for (const tokens of [10, 20, 30]) {
      client.tokens = tokens
      client.now -= 100
      await fire('tool.call')
      await client.quiet()
    }
  })
  expect(calls.map(({ report }) => report.tokens)).toEqual([null, 10, 20, 30])
  const stamps = calls.map(({ report }) => report.at as number)
  expect(new Set(stamps).size).toBe(4)
  expect(stamps).toEqual([...stamps].sort((a, b) => a - b))
})

test('a burst of tool calls ends with the newest figure and few writes', async () => {
  const calls = await run(async (client, fire) => {
    await fire('turn.start')
    for (let i = 1; i <= 20; i++) {
      client.tokens = i
      await fire('tool.call')
    }
  })
  expect(calls.at(-1)?.report.tokens).toBe(20)
  expect(calls.length).toBeLessThan(5)
})

test('the expensive breakdown is requested at starts and when the window changes, not at every tool', async () => {
  let asked = 0
  await run(async (client, fire) => {
    await fire('session.start')
    await client.quiet()
    for (let i = 0; i < 5; i++) {
      await fire('tool.call')
      await client.quiet()
    }
    asked = client.breakdowns
    client.window = 1_000_000
    await fire('tool.call')
    await client.quiet()
    expect(client.breakdowns).toBe(asked + 1)
  })
  expect(asked).toBe(1)
})

test('a subagent is never reported', async () => {
  const calls = await run(async (_, fire) => {
    await fire('tool.call', { agentId: 'a1' })
    await fire('turn.start', { agentId: 'a1' })
    await fire('turn.complete', { agentId: 'a1' })
    await fire('session.compact', { agentId: 'a1', trigger: 'auto' })
  })
  expect(calls).toEqual([])
})

test('a compaction resets the figure, and a skipped or prepared one does not', async () => {
  const calls = await run(async (client, fire) => {
    client.tokens = 150_000
    await fire('turn.start')
    await client.quiet()
    await fire('session.compact', { trigger: 'precompute' })
    await fire('session.compact', { trigger: 'auto' })
    await client.quiet()
    client.tokens = undefined
    await fire('session.measure')
    await client.quiet()
    client.tokens = 30_000
    await fire('tool.call')
  })
  expect(calls.map(({ report }) => [report.tokens, report.epoch])).toEqual([
    [150_000, 0],
    [null, 1],
    [null, 1],
    [30_000, 1],
  ])
})

test('a client that loses its figure during shutdown does not reset it in the report', async () => {
  const calls = await run(async (client, fire) => {
    client.tokens = 50_000
    await fire('turn.start')
    await client.quiet()
    client.tokens = undefined
    await fire('session.measure')
  })
  expect(calls.map(({ report }) => report.tokens)).toEqual([50_000, 50_000])
})

test('after a /clear the old figure is never reported for the new session', async () => {
  const calls = await run(async (client, fire) => {
    client.tokens = 50_000
    await fire('turn.start')
    await client.quiet()
    client.id = 's2'
    await fire('session.measure')
    await client.quiet()
    client.tokens = undefined
    await fire('turn.start')
  })
  expect(calls.map(({ report }) => [report.session, report.tokens])).toEqual([
    ['s1', 50_000],
    ['s2', null],
  ])
})

test('every hook passes its event on, and a failure appears only in the report', async () => {
  const calls = await run(async (client, fire) => {
    client.failing = true
    for (const event of [
      'session.start',
      'turn.start',
      'tool.call',
      'turn.complete',
      'session.measure',
      'session.compact',
      'session.end',
    ]) {
      const e = { event }
      expect(await fire(event, e)).toEqual({ passed: e, messages: [] })
    }
  })
  expect(calls.at(-1)?.report).toMatchObject({
    session: 's1',
    tokens: null,
    compaction: null,
    problem: 'Error: no usage',
  })
})

test('figures known before a failure stay in the report', async () => {
  const calls = await run(async (client, fire) => {
    client.tokens = 50_000
    await fire('turn.start')
    await client.quiet()
    client.failing = true
    await fire('tool.call')
  })
  expect(calls.at(-1)?.report).toMatchObject({
    tokens: 50_000,
    compaction: { threshold: 167_000 },
    problem: 'Error: no usage',
  })
})
