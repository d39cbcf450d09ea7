import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../../test/harness/temp-dir.js'
import { until } from '../../../../test/harness/wait.js'
import { pluginModuleFiles } from './mod.js'

type Hook = ($: unknown, e: object, next: (e: object) => unknown) => Promise<unknown>
type Result = { messages?: object[]; skip?: string; tokensBefore?: number; tokensAfter?: number }

const SUMMARY = '<analysis>a</analysis>\n<summary>The login is fixed.</summary>'
const DONE: Result = {
  messages: [
    { role: 'user', text: 'This session is being continued … The login is fixed.', toolUses: [], handle: 'h1' },
    {
      role: 'assistant',
      text: 'I look.',
      toolUses: [{ tool_use_id: 't1', tool: 'Bash', input: { command: 'ls src' } }],
    },
    { role: 'user', text: '', toolUses: [], toolResults: [{ tool_use_id: 't1', text: 'login.ts' }] },
  ],
  tokensBefore: 169_080,
  tokensAfter: 2703,
}

/** A client with a file system in memory. */
class Client {
  files = new Map<string, string>()
  /** Called before every write. May throw or never end. */
  onWrite: (at: string, text: string) => unknown = () => {}
  hooks = new Map<string, Hook>()
  session = {
    id: async () => 's1',
    model: async () => 'claude-opus-4-6',
    usage: async () => ({ context: { tokens: 150_000, window: 200_000 } }),
  }
  clock = {
    now: async () => Date.now(),
    /** Never resolves, so that no write in memory counts as one that hangs. */
    sleep: (): Promise<void> => new Promise(() => {}),
  }
  fs = {
    write: async (at: string, text: string) => {
      await this.onWrite(at, text)
      this.files.set(at, text)
    },
  }
  note(): Record<string, unknown> | null {
    const file = this.files.get('/live/s1.summary.json')
    return file === undefined ? null : JSON.parse(file)
  }
  fire(event: string, e: object, next: () => unknown = () => ({})): Promise<unknown> {
    return this.hooks.get(event)!(this, e, async () => next())
  }
  /** Runs a compaction like the client does. `inside` is what its hooks do before it ends. */
  compact(inside: () => unknown = () => {}, e: object = { trigger: 'auto' }, result: Result = DONE): Promise<unknown> {
    return this.fire('session.compact', e, async () => {
      await this.fire('classic.SubagentStop', { agent_type: '', agent_id: 'a1', last_assistant_message: SUMMARY })
      await inside()
      await this.fire('classic.PostCompact', { compact_summary: SUMMARY })
      return result
    })
  }
}

async function load(): Promise<Client> {
  const at = path.join(tempDir(), 'register.mjs')
  writeFileSync(at, pluginModuleFiles({ liveDir: '/live' }).find((file) => file.path === 'hooks/register.js')!.text)
  const { register } = await import(at)
  const client = new Client()
  register((event: string, hook: Hook) => client.hooks.set(event, hook))
  return client
}

test('the summary is written before the session restarts, its figures after the compaction', async () => {
  const client = await load()
  let early: unknown
  await client.compact(() => {
    early = client.note()
  })
  expect(early).toMatchObject({
    format: 1,
    session: 's1',
    trigger: 'auto',
    summary: SUMMARY,
    tokensAfter: null,
    kept: null,
  })
  expect(client.note()).toEqual({
    format: 1,
    session: 's1',
    at: expect.any(Number),
    trigger: 'auto',
    tokensBefore: 169_080,
    tokensAfter: 2703,
    summary: SUMMARY,
    kept: { messages: 2, text: 'I look.\nBash {"command":"ls src"}\n\nlogin.ts', whole: true },
  })
})

test('a client without the early events still reports the summary at the end', async () => {
  const client = await load()
  await client.fire('session.compact', { trigger: 'manual' }, () => DONE)
  expect(client.note()).toMatchObject({ trigger: 'manual', summary: expect.stringContaining('The login is fixed.') })
})

test('another subagent that ends during a compaction is not mistaken for the summariser', async () => {
  const client = await load()
  const others = [
    { agent_type: 'general-purpose', last_assistant_message: '<summary>mine</summary>' },
    { agent_type: '', last_assistant_message: 'A title' },
    { agent_type: '' },
  ]
  await client.fire('session.compact', { trigger: 'auto' }, async () => {
    for (const e of others) await client.fire('classic.SubagentStop', e)
    expect(client.note()).toBeNull()
    return DONE
  })
  for (const e of [{ agent_type: '', last_assistant_message: SUMMARY }]) await client.fire('classic.SubagentStop', e)
  expect(client.note()?.summary).not.toBe(SUMMARY)
})

test('the client gets its own compaction result unchanged', async () => {
  const client = await load()
  expect(await client.compact()).toBe(DONE)
})

test('a disk that hangs delays the compaction only up to the limits', async () => {
  const client = await load()
  client.onWrite = () => new Promise(() => {})
  client.clock.sleep = async () => {}
  expect(await client.compact()).toBe(DONE)
})

test('a failure changes nothing except the reported problem', async () => {
  const client = await load()
  await client.fire('session.start', {})
  client.onWrite = (at) => {
    if (at.endsWith('.summary.json')) throw new Error('disk full')
  }
  expect(await client.compact()).toBe(DONE)
  await until('the report', () => client.files.get('/live/s1.json')?.includes('disk full'))
  expect(JSON.parse(client.files.get('/live/s1.json')!)).toMatchObject({ epoch: 1, problem: 'Error: disk full' })
})

test('a compaction that is skipped, prepared, failed or of a subagent writes no note', async () => {
  const client = await load()
  const skip = { skip: 'blocked' }
  expect(await client.fire('session.compact', { trigger: 'auto' }, () => skip)).toBe(skip)
  expect(await client.fire('session.compact', { trigger: 'precompute' }, () => DONE)).toBe(DONE)
  expect(await client.fire('session.compact', { trigger: 'auto', agentId: 'a1' }, () => DONE)).toBe(DONE)
  const failing = client.fire('session.compact', { trigger: 'auto' }, () => {
    throw new Error('no answer')
  })
  await expect(failing).rejects.toThrow('no answer')
  await client.fire('classic.SubagentStop', { agent_type: '', last_assistant_message: SUMMARY })
  expect(client.note()).toBeNull()
})

test('a kept tail too long for the note is cut at its beginning', async () => {
  const client = await load()
  const tail = { role: 'assistant', text: `${'x'.repeat(200_000)}end`, toolUses: [] }
  await client.compact(() => {}, { trigger: 'auto' }, { messages: [DONE.messages![0]!, tail] })
  const { kept } = client.note() as { kept: { text: string; whole: boolean } }
  expect([kept.text.length, kept.text.endsWith('end'), kept.whole]).toEqual([150_000, true, false])
})
