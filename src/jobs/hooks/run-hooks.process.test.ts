import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { holdTime } from '../../../test/harness/held-time.js'
import { until } from '../../../test/harness/wait.js'
import type { HookEvent, HookSpec } from '../../contract/records/job.js'
import { isRunning } from '../../lib/process-info.js'
import {
  jobWithHooks,
  type ReceivedRequest,
  shellHook,
  startHookReceiver,
  webhookHook,
} from '../../testing/job-hooks.js'
import { hookContextText, lastHookDecision } from '../job-hooks.js'
import { endPayload, sessionStartPayload, thresholdPayload } from './payloads.js'
import { runHooks } from './run-hooks.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-hooks-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const THRESHOLD = thresholdPayload(jobWithHooks(), 's1', { used: 150_000, window: 200_000, point: 167_000, model: 'm' })
const START = sessionStartPayload(jobWithHooks({ handoffs: 1 }), 's2', 's1', 'Build it.')
const END = endPayload(
  jobWithHooks({
    state: 'completed',
    exitReason: 'success',
    endedAt: '2026-02-16T10:30:00Z',
    result: 'Done & <!channel>.',
  }),
)

const payloadOf = (event: HookEvent) =>
  event === 'context_threshold' ? THRESHOLD : event === 'session_start' ? START : END
const run = (event: HookEvent, hooks: HookSpec[], env: Record<string, string> = {}, graceMs = 100) =>
  runHooks(hooks, event, payloadOf(event), {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    jobId: 'j1',
    graceMs,
  })
const serve = async (answer: Parameters<typeof startHookReceiver>[0]) => {
  const server = await startHookReceiver(answer)
  onTestFinished(server.close)
  return server
}

describe('shell hooks', () => {
  test("a shell hook gets the payload on stdin, the working directory and the job's id", async () => {
    const { results } = await run('context_threshold', [
      shellHook('cat; echo; echo "$BATON_JOB_ID $(pwd)"', { name: 'Save' }),
    ])
    expect(results).toMatchObject([{ name: 'Save', type: 'shell', ok: true, exitCode: 0, error: null }])
    const [payload, line] = results[0]!.output.trim().split('\n')
    expect(JSON.parse(payload!)).toEqual(THRESHOLD)
    expect(line).toMatch(/^j1 .*baton-hooks-/)
  })

  test.each(['/bin/sh', 'bash', 'dash'])('a payload with any content survives an echo in %s', async (sh) => {
    const prompt = 'two\nlines,\ta "quote", a \\n that is none, \\u0041, \u0007'
    const payload = sessionStartPayload(jobWithHooks(), 's2', 's1', prompt)
    const ground = { cwd: folder, env: { PATH: process.env.PATH }, jobId: 'j1' }
    const hook = shellHook(`command -v ${sh} > there || exit 0; exec ${sh} -c 'PAYLOAD=$(cat); echo "$PAYLOAD"'`)
    const { results } = await runHooks([hook], 'session_start', payload, ground)
    if (readFileSync(join(folder, 'there'), 'utf8') !== '') expect(JSON.parse(results[0]!.output)).toEqual(payload)
  })

  test('a shell hook that hangs is killed with everything it started', async () => {
    const stubborn = `sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 0.1; done'`
    const time = holdTime()
    const running = run('failed', [shellHook(`${stubborn} & wait`, { timeoutMs: 1_500 }), shellHook('echo next')])
    await until(
      'it has begun',
      () => existsSync(join(folder, 'child')) && readFileSync(join(folder, 'child'), 'utf8') !== '',
    )
    const { results } = await time.pass(running)
    expect(results).toMatchObject([
      { name: 'shell 1', ok: false, exitCode: null, error: 'did not end within 1500 ms and was killed' },
      { name: 'shell 2', ok: true, output: 'next\n' },
    ])
    const child = Number(readFileSync(join(folder, 'child'), 'utf8'))
    await until('the child is gone', () => !isRunning(child))
  })

  test('a shell hook that prints 10 MB is read to its end, and 1 MB of it is kept', async () => {
    const { results } = await run('context_threshold', [
      shellHook('head -c 10000000 /dev/zero | tr "\\\\0" x; echo; echo continue'),
    ])
    expect(results[0]!.ok).toBe(true)
    expect(results[0]!.output.length).toBeGreaterThan(1_000_000)
    expect(results[0]!.output.length).toBeLessThan(1_100_000)
    expect(lastHookDecision({ results, stoppedBy: null }).decision).toBe('continue')
  })

  test('after a shell hook failed, the next one runs unless configured otherwise', async () => {
    const fails = 'echo no >&2; exit 1'
    const on = await run('completed', [shellHook(fails), shellHook('touch after')])
    expect(on).toMatchObject({
      results: [{ ok: false, exitCode: 1, error: 'exited with 1: no' }, { ok: true }],
      stoppedBy: null,
    })
    rmSync(join(folder, 'after'))
    const off = await run('completed', [
      shellHook(fails, { name: 'Gate', continueOnError: false }),
      shellHook('touch after'),
    ])
    expect(off.results).toHaveLength(1)
    expect(off.stoppedBy).toMatchObject({ name: 'Gate' })
    expect(existsSync(join(folder, 'after'))).toBe(false)
  })

  test('a shell hook in a missing folder fails without throwing', async () => {
    const ground = { cwd: join(folder, 'gone'), env: {}, jobId: 'j1' }
    const { results } = await runHooks([shellHook('true')], 'completed', END, ground)
    expect(results).toMatchObject([{ ok: false, error: expect.stringContaining('could not be started') }])
  })
})

test('only hooks meant for the event and the payload run', async () => {
  const hooks = [
    shellHook('echo a', { onEvents: ['failed', 'timeout'] }),
    shellHook('echo b', { onEvents: ['completed'] }),
    shellHook('echo c', { when: 'result.success' }),
    shellHook('echo d', { when: 'result.error' }),
    shellHook('echo e', { when: 'result.constructor' }),
  ]
  expect((await run('completed', hooks)).results.map(({ output }) => output)).toEqual(['b\n', 'c\n'])
})

test('no hook is started once the job is stopped', async () => {
  const stop = new AbortController()
  const ground = { cwd: folder, env: { PATH: process.env.PATH }, jobId: 'j1', signal: stop.signal, graceMs: 100 }
  const going = runHooks([shellHook('touch begun; sleep 60'), shellHook('touch second')], 'completed', END, ground)
  await until('the hook runs', () => existsSync(join(folder, 'begun')))
  stop.abort()
  expect((await going).results).toMatchObject([{ ok: false, error: 'was killed with the job' }])
  expect(existsSync(join(folder, 'second'))).toBe(false)
})

describe('webhooks', () => {
  test('a webhook gets the payload with variables filled in, and its reply is the answer', async () => {
    const server = await serve(() => ({ body: '{"decision":"continue"}' }))
    const hook = webhookHook(`${server.url}/in?key=\${KEY}`, {
      method: 'PUT',
      headers: { Authorization: `Bearer \${TOKEN}` },
    })
    const done = await run('context_threshold', [hook], { KEY: 'k-1234', TOKEN: 't-5678' })
    expect(server.received).toMatchObject([
      {
        path: '/in?key=k-1234',
        method: 'PUT',
        headers: { authorization: 'Bearer t-5678', 'content-type': 'application/json' },
      },
    ])
    expect(JSON.parse(server.received[0]!.body)).toEqual(THRESHOLD)
    expect(lastHookDecision(done)).toEqual({ decision: 'continue', reason: 'the hook `webhook 1` answered continue' })
  })

  test('a webhook may have a timeout larger than a timer can count', async () => {
    const server = await serve(() => ({ body: '{}' }))
    for (const timeoutMs of [3_000_000_000, 10_000_000_000])
      expect((await run('completed', [webhookHook(server.url, { timeoutMs })])).results).toMatchObject([{ ok: true }])
  })

  test('a webhook that is down, slow, refuses or redirects fails with a sentence', async () => {
    const gone = await startHookReceiver(() => ({}))
    await gone.close()
    const slow = await serve(() => null)
    const angry = await serve(({ path }) =>
      path === '/away' ? { status: 302, headers: { location: '/' } } : { status: 503 },
    )
    const { results } = await run('completed', [
      webhookHook(gone.url),
      webhookHook(slow.url, { timeoutMs: 200 }),
      webhookHook(angry.url),
      webhookHook(`${angry.url}/away`),
    ])
    expect(results.map(({ ok }) => ok)).toEqual([false, false, false, false])
    expect(results.map(({ error }) => error)).toEqual([
      'is not reachable: ECONNREFUSED',
      'no answer within 200 ms',
      'answered 503',
      expect.stringContaining('answered 302'),
    ])
  })

  test('the whole URL of a webhook may come from the environment if it is a valid one', async () => {
    const server = await serve(() => ({ body: '{}' }))
    const whole = webhookHook(`\${HOOK_URL}`)
    expect((await run('completed', [whole], { HOOK_URL: `${server.url}/in` })).results).toMatchObject([{ ok: true }])
    expect(server.received).toMatchObject([{ path: '/in' }])
    expect((await run('completed', [whole], { HOOK_URL: 'data:,{}' })).results).toMatchObject([
      { ok: false, error: 'the value of its url does not begin with https:// or http://' },
    ])
  })

  test('a webhook is not called while one of its variables is not set', async () => {
    const server = await serve(() => ({}))
    const { results } = await run('completed', [webhookHook(server.url, { headers: { A: `\${GONE}` } })])
    expect(results).toMatchObject([{ ok: false, error: 'GONE: not set in the environment' }])
    expect(server.received).toEqual([])
  })

  test('a webhook whose reply never ends is cut off at its timeout', async () => {
    const { createServer } = await import('node:http')
    const server = createServer((_, response) => {
      response.write('{"decision":')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as { port: number }
    const { results } = await run('context_threshold', [webhookHook(`http://127.0.0.1:${port}`, { timeoutMs: 300 })])
    expect(results).toMatchObject([{ ok: false, error: 'no answer within 300 ms' }])
  })
})

test('no hook result contains a secret, whichever hook prints it', async () => {
  const echo = await serve((received: ReceivedRequest) => ({ status: 500, body: JSON.stringify(received) }))
  const secret = 's3cr3t/with+signs'
  const env = { HIDDEN: secret, SLACK_BOT_TOKEN: 'xoxb-42-42', MY_API_KEY: 'key-42-42' }
  const { results } = await run(
    'completed',
    [
      webhookHook(`${echo.url}/?k=\${HIDDEN}`, { headers: { Authorization: `Bearer \${HIDDEN}` } }),
      webhookHook(`http://127.0.0.1:1/\${HIDDEN}`),
      webhookHook(`http://\${HIDDEN} bad address`),
      {
        ...shellHook(''),
        type: 'slack',
        channelId: 'C',
        botTokenEnv: null,
        baseUrl: echo.url,
        username: null,
        iconEmoji: null,
      } as HookSpec,
      shellHook('echo "$MY_API_KEY"; echo "$MY_API_KEY" >&2; exit 1'),
    ],
    env,
  )
  expect(results.map(({ ok }) => ok)).toEqual([false, false, false, false, false])
  expect(results[0]!.output).toContain('Bearer [secret]')
  for (const value of [secret, encodeURIComponent(secret), 'xoxb-42-42', 'key-42-42'])
    expect(JSON.stringify(results)).not.toContain(value)
})

test('secrets are redacted before a text is cut, and also where a reply quotes them', async () => {
  const quoted = 'pa"ss\\word-42'
  const echo = await serve((received: ReceivedRequest) => ({ status: 500, body: JSON.stringify(received.headers) }))
  const { results } = await run(
    'completed',
    [
      shellHook('echo "$MY_API_KEY" >&2; head -c 1990 /dev/zero | tr "\\0" x >&2; exit 1'),
      webhookHook(echo.url, { headers: { 'X-Key': `\${QUOTED}` } }),
    ],
    { MY_API_KEY: 'abcdefghijklmnopqrstuvwxyz', QUOTED: quoted },
  )
  expect(results[0]!.error).toMatch(/^exited with 1: [\s\S]*x{1990}$/)
  expect(results[0]!.error).not.toContain('xyz')
  expect(results[1]!.output).toContain('"x-key":"[secret]"')
})

describe('chat hooks', () => {
  const base = { name: null, onEvents: null, when: null, continueOnError: true, timeoutMs: 30_000 }
  const chat = { channelId: 'C1', botTokenEnv: null, username: null }

  test('a Slack hook sends one message, and a refusal in a 200 reply is a failure', async () => {
    const server = await serve(({ body }) => ({
      body: body.includes('"C1"') ? '{"ok":true}' : '{"ok":false,"error":"channel_not_found"}',
    }))
    const hook: HookSpec = {
      ...base,
      ...chat,
      type: 'slack',
      baseUrl: `${server.url}/api/`,
      username: 'Baton',
      iconEmoji: ':baton:',
    }
    const { results } = await run('completed', [hook, { ...hook, channelId: 'C2' }], { SLACK_BOT_TOKEN: 'xoxb-1' })
    expect(results).toMatchObject([
      { ok: true },
      { ok: false, error: 'Slack answered with the error channel_not_found' },
    ])
    expect(server.received[0]).toMatchObject({
      path: '/api/chat.postMessage',
      headers: { authorization: 'Bearer xoxb-1' },
    })
    expect(JSON.parse(server.received[0]!.body)).toEqual({
      channel: 'C1',
      text: '*coder is done after 1 h 30 min (job j1)*\nDone &amp; &lt;!channel&gt;.',
      username: 'Baton',
      icon_emoji: ':baton:',
    })
  })

  test('a Discord hook sends one message that mentions nobody', async () => {
    const server = await serve(() => ({ body: '{"id":"1"}' }))
    const hook: HookSpec = {
      ...base,
      ...chat,
      type: 'discord',
      baseUrl: server.url,
      botTokenEnv: 'BOT',
      avatarUrl: null,
    }
    const { results } = await run('context_threshold', [hook, { ...hook, username: 'Baton' }], { BOT: 'bot-1' })
    expect(results).toMatchObject([{ ok: true }, { ok: true }])
    expect(server.received[0]).toMatchObject({ path: '/channels/C1/messages', headers: { authorization: 'Bot bot-1' } })
    const text = 'coder is at 90 % of its compaction point on agent/coder/j1 (job j1)'
    expect(JSON.parse(server.received[0]!.body)).toEqual({ content: text, allowed_mentions: { parse: [] } })
    expect(JSON.parse(server.received[1]!.body)).toMatchObject({
      embeds: [{ author: { name: 'Baton' }, description: text }],
    })
  })

  test('a chat hook without its token fails and names the variable', async () => {
    const { results } = await run('completed', [{ ...base, ...chat, type: 'discord', baseUrl: null, avatarUrl: null }])
    expect(results).toMatchObject([{ ok: false, error: 'DISCORD_BOT_TOKEN: not set in the environment' }])
  })
})

test('a failing threshold hook causes the built-in handoff, and start output goes before the prompt', async () => {
  const gate = await run('context_threshold', [shellHook('exit 1', { name: 'Gate', continueOnError: false })])
  expect(lastHookDecision(gate)).toEqual({
    decision: 'handoff',
    reason: expect.stringContaining('the hook `Gate` failed (exited with 1)'),
  })
  const server = await serve(() => ({ body: '{"context":"From the web."}' }))
  const start = await run('session_start', [
    shellHook('echo "From the shell."'),
    webhookHook(server.url),
    shellHook('echo lost; exit 1'),
  ])
  expect(hookContextText(start)).toBe('From the shell.\n\nFrom the web.')
})
