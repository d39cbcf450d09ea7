import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import { createTestHome, statusLineJson } from '../../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'

test('serve prints its address first, and Ctrl-C ends it with 0 and removes its announcement', async () => {
  const fixture = createTestHome()
  const server = fixture.start(['serve', '--port', '0', '--json'])
  const { url } = JSON.parse(await server.firstLine())
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const announced = join(fixture.env.BATON_HOME!, 'run', 'server')
  expect(readFileSync(announced, 'utf8')).toMatch(
    new RegExp(`^${new URL(url).port} [0-9a-f]{64} ${server.child.pid}\\b`),
  )
  expect(statSync(announced).mode & 0o777).toBe(0o600)
  const headers = fixture.authorized()
  const { version } = (await fixture.run(['--version', '--json'])).json
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ ok: true })
  expect(await (await fetch(`${url}/api/access`, { headers })).json()).toMatchObject({ version })
  const taken = await fetch(`${url}/signals/claude-code/status-line`, {
    method: 'POST',
    headers,
    body: statusLineJson({ session: A, project: fixture.project, used: 118_600 }),
  })
  expect(await taken.text()).toContain('71%')
  expect((await fixture.run(['status', '--json'])).json.sessions).toMatchObject([
    { session_id: A, used_tokens: 118_600 },
  ])
  expect(await (await fetch(`${url}/api/sessions/aaaa`, { headers })).json()).toMatchObject({ session_id: A, cycle: 1 })
  const ended = await server.stop('SIGINT')
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(ended.stdout.split('\n')).toHaveLength(2)
  expect(existsSync(announced)).toBe(false)
  expect(existsSync(join(fixture.env.BATON_HOME!, 'run', 'serving'))).toBe(false)
})

test('serve prints a sentence for users, and SIGTERM also ends it', async () => {
  const fixture = createTestHome()
  const server = fixture.start(['serve'], { env: { BATON_PORT: '0' } })
  expect(await server.firstLine()).toMatch(/^Baton listens on http:\/\/127\.0\.0\.1:\d+\. Ctrl-C ends it\.$/)
  expect(await server.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' })
})

test('serve processes signals from before its start at once, and later spooled ones soon after', async () => {
  const fixture = createTestHome()
  const spool = join(fixture.env.BATON_HOME!, 'spool')
  const put = (session: string) => {
    const body = JSON.stringify({
      session_id: session,
      cwd: fixture.project,
      hook_event_name: 'UserPromptSubmit',
      prompt: 'go',
    })
    return fixture.put(
      join(spool, `${session}.1700000000.000001.1.UserPromptSubmit`),
      `claude-code\nUserPromptSubmit\n1700000000\n\n\n${body}\n#end\n`,
    )
  }
  const early = put('early')
  const server = fixture.start(['serve', '--port', '0', '--json'])
  const { url } = JSON.parse(await server.firstLine())
  const ids = async () =>
    (
      (await (await fetch(`${url}/api/sessions`, { headers: fixture.authorized() })).json()) as {
        sessions: { session_id: string }[]
      }
    ).sessions.map((s) => s.session_id)
  await until('the early one', async () => (await ids()).includes('early'))
  const late = put('late')
  await until('the late one', async () => (await ids()).includes('late'))
  expect([existsSync(early), existsSync(late)]).toEqual([false, false])
  await server.stop()
})

test('a second server for the same home is refused and does not affect the first', async () => {
  const fixture = createTestHome()
  const server = fixture.start(['serve', '--port', '0', '--json'])
  const { url } = JSON.parse(await server.firstLine())
  const second = await fixture.run(['serve', '--port', '0', '--json'])
  expect(second).toMatchObject({ code: 4, stdout: '' })
  expect(JSON.parse(second.stderr)).toMatchObject({
    error: `Baton already serves this home at ${url} (process ${server.child.pid}).`,
    code: 4,
  })
  expect((await fetch(`${url}/health`)).status).toBe(200)
  await server.stop()
})

test('a server starts normally after its predecessor was killed', async () => {
  const fixture = createTestHome()
  const first = fixture.start(['serve', '--port', '0', '--json'])
  await first.firstLine()
  await first.stop('SIGKILL')
  expect(existsSync(join(fixture.env.BATON_HOME!, 'run', 'serving'))).toBe(true)
  const second = fixture.start(['serve', '--port', '0', '--json'])
  expect(await second.firstLine()).toContain('url')
  expect(await second.stop()).toMatchObject({ code: 0 })
})

test('serve needs a token for an address beyond loopback', async () => {
  const fixture = createTestHome()
  const refused = await fixture.run(['serve', '--host', '0.0.0.0', '--port', '0'])
  expect(refused).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('--token-file') })
  expect(existsSync(join(fixture.env.BATON_HOME!, 'baton.db'))).toBe(false)
  const file = fixture.put(join(fixture.user, 'token'), `${'s3cret'.repeat(6)}\n`)
  expect(
    await fixture.run(['serve', '--host', '0.0.0.0', '--token-file', join(fixture.user, 'nowhere')]),
  ).toMatchObject({
    code: 2,
    stdout: '',
  })
  const short = fixture.put(join(fixture.user, 'short'), 'abc')
  expect(await fixture.run(['serve', '--host', '0.0.0.0', '--token-file', short])).toMatchObject({
    code: 2,
    stdout: '',
  })
  const server = fixture.start(['serve', '--host', '0.0.0.0', '--port', '0', '--token-file', file, '--json'])
  const { url } = JSON.parse(await server.firstLine())
  const local = url.replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${local}/api/sessions`)).status).toBe(401)
  expect(
    (await fetch(`${local}/api/sessions`, { headers: { authorization: `Bearer ${'s3cret'.repeat(6)}` } })).status,
  ).toBe(200)
  expect(statSync(join(fixture.env.BATON_HOME!, 'run', 'server')).mode & 0o077).toBe(0)
  await server.stop()
})

test('serve reports an address that is not of this machine', async () => {
  const fixture = createTestHome()
  const file = fixture.put(join(fixture.user, 'token'), 'a-secret-of-sixteen-characters\n')
  for (const host of ['192.0.2.1', 'no-such-host.invalid']) {
    expect(await fixture.run(['serve', '--port', '0', '--host', host, '--token-file', file])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`${host}: it is not an address of this machine.*--host`, 's')),
    })
  }
})

test('serve reports a port that is in use or impossible', async () => {
  const fixture = createTestHome()
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await until('it listens', () => other.listening)
  const { port } = other.address() as AddressInfo
  expect(await fixture.run(['serve', '--port', String(port)])).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining(`Cannot listen on port ${port}: another program uses it.`),
  })
  for (const [args, env] of [
    [['--port', '70000'], {}],
    [['--port', 'http'], {}],
    [[], { BATON_PORT: '84 20' }],
  ] as const) {
    expect(await fixture.run(['serve', ...args], { env })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/port from 1 to 65535/),
    })
  }
  expect(existsSync(join(fixture.env.BATON_HOME!, 'run', 'serving'))).toBe(false)
})
