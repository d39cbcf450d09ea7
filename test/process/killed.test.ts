import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { crowd, type HookRun, pretend } from '../harness/hooks.js'
import { type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const client = (it: Stage): number => spawn('sleep', ['300'], { env: it.home.env, stdio: 'ignore' }).pid!
const expectQuiet = (runs: HookRun[]): void =>
  expect(runs.filter(({ code, stderr }) => code !== 0 || stderr !== '')).toEqual([])

test('hooks continue without a server that is killed under load, and every signal counts once', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = pretend(it.home, client(it))
  await session.statusLine(5008)
  const runs = await crowd(80, 8, async (n) => {
    if (n === 30) server.kill('SIGKILL')
    return session.hook('PostToolBatch', { tool_calls: [{ tool_name: 'Bash', tool_use_id: `t${n}` }] })
  })
  expectQuiet(runs)
  expect((await it.baton('status')).stdout).toMatch(/\(80 tool calls, \d+ min\)/)
  expect(await it.events('silence_alarm')).toHaveLength(1)
  // Another server continues where the killed one stopped.
  await it.serve()
  expect((await session.batch(90_008)).code).toBe(0)
  expect(await it.session()).toMatchObject({ used_tokens: 90_008, level: 'notice' })
})

/** Counts the connections to 127.0.0.1 that a stopped server has not accepted. */
function backlogOf(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const row = readFileSync('/proc/net/tcp', 'utf8').match(new RegExp(`0100007F:${port} 00000000:0000 0A \\S+:(\\S+)`))
  return Number.parseInt(row![1]!, 16)
}

test('only one hook connects to a server that does not answer, and its signals count once', async () => {
  const it = await stage({})
  const server = await it.serve()
  const session = pretend(it.home, client(it))
  await session.statusLine(5008)
  const hook = (n: number): Promise<HookRun> =>
    session.hook('PostToolBatch', { tool_calls: [{ tool_name: 'Bash', tool_use_id: `t${n}` }] })
  const runs = [await hook(0)]
  // On a busy machine hooks may already avoid the running server as slow.
  rmSync(path.join(it.home.batonHome, 'run', 'slow'), { force: true })
  server.kill('SIGSTOP')
  for (const n of [1, 2, 3, 4]) runs.push(await hook(n))
  expect(backlogOf(server.url)).toBe(1)
  server.kill('SIGCONT')
  expectQuiet(runs)
  // The continued server receives the signal of that hook, which was already counted.
  await until('the server takes it', () => backlogOf(server.url) === 0)
  for (let n = 5; n < 19; n++) await hook(n)
  expect(await it.events('silence_alarm')).toEqual([])
  await hook(19)
  expect(await it.events('silence_alarm')).toHaveLength(1)
})

test('a hook does not wait for a client that never closes its pipe or stops in the middle', async () => {
  const it = await stage({})
  const session = pretend(it.home, client(it))
  const begun = JSON.stringify({
    session_id: session.id,
    hook_event_name: 'PostToolBatch',
    tool_calls: ['x'.repeat(50_000)],
  })
  const runs = await Promise.all([
    session.hook('PostToolBatch', {}, { stdin: '', open: true }),
    session.hook('Stop', {}, { stdin: begun.slice(0, 200), open: true }),
    session.hook('UserPromptSubmit', {}, { stdin: begun.slice(0, 40_000), open: true }),
  ])
  for (const run of runs) expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await it.sessions()).toEqual([])
  // A batch signal needs only the beginning of its payload.
  const batch = await session.hook('PostToolBatch', {}, { stdin: begun.slice(0, 40_000), open: true })
  expect(batch).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await it.sessions()).toMatchObject([{ session_id: session.id, state: 'working' }])
})
