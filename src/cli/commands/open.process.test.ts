import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BATON } from '../../../test/harness/paths.js'
import { until } from '../../../test/harness/wait.js'
import { createTestHome, type TestHome } from '../../testing/cli-home.js'

/** Creates a browser that stores its arguments and the page that it was asked to show. */
function browser(fixture: TestHome): { env: Record<string, string>; called: string; shown: string } {
  const [program, called, shown] = ['browser', 'called', 'shown'].map((name) => join(fixture.dir, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(
    program,
    `#!/bin/sh\necho "$@" > '${called}.part'\ncat "\${1#file://}" > '${shown}'\nmv '${called}.part' '${called}'\n`,
  )
  chmodSync(program, 0o755)
  return { env: { BROWSER: program }, called, shown }
}
const enter = async (url: string, ticket: string) =>
  fetch(`${url}/api/enter`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ticket }),
  })
const ticketIn = (text: string): string => /#ticket=([\w-]{20,})/.exec(text)?.[1] ?? ''

test('open uses a running server, and its ticket is only in a private file, not in arguments or output', async () => {
  const fixture = createTestHome()
  const server = fixture.start(['serve', '--port', '0', '--json'])
  const { url } = JSON.parse(await server.firstLine())
  const { env, called, shown } = browser(fixture)
  const opened = await fixture.run(['open'], { env })
  const port = new URL(url).port
  expect(opened).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^Baton is at http://127\\.[0-9.]+:${port}\\.\n$`)),
    stderr: '',
  })
  const file = join(fixture.env.BATON_HOME!, 'run', 'open.html')
  expect(readFileSync(called, 'utf8')).toBe(`file://${file}\n`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const ticket = ticketIn(readFileSync(shown, 'utf8'))
  expect((await enter(url, ticket)).status).toBe(200)
  expect((await enter(url, ticket)).status).toBe(401)
  expect((await fixture.run(['open', '--json'], { env })).json).toEqual({ url: opened.stdout.slice(12, -2) })
  await server.stop()
})

test('open without a server runs one until it is ended', async () => {
  const fixture = createTestHome()
  const { env, called, shown } = browser(fixture)
  const opened = fixture.start(['open', '--port', '0', '--json'], { env })
  const { url } = JSON.parse(await opened.firstLine())
  await until('the browser', () => existsSync(called))
  const entered = await enter(url, ticketIn(readFileSync(shown, 'utf8')))
  const { key } = (await entered.json()) as { key: string }
  const access = await fetch(`${url}/api/access`, { headers: { Authorization: `Bearer ${key}` } })
  expect(await access.json()).toMatchObject({ expires_at: expect.any(String) })
  expect(await opened.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' })
  expect(existsSync(join(fixture.env.BATON_HOME!, 'run', 'server'))).toBe(false)
  const again = fixture.start(['serve', '--port', '0', '--json'])
  const second = JSON.parse(await again.firstLine()).url
  const later = await fetch(`${second}/api/access`, { headers: { Authorization: `Bearer ${key}` } })
  expect(later.status, 'the key ends with its server').toBe(401)
  await again.stop()
})

test('open --print prints an address for one browser, also with the user’s own token', async () => {
  const fixture = createTestHome()
  const file = fixture.put(join(fixture.user, 'token'), 'a-secret-of-sixteen-characters\n')
  for (const args of [[], ['--token-file', file]]) {
    const server = fixture.start(['serve', '--port', '0', '--json', ...args])
    const { url } = JSON.parse(await server.firstLine())
    const printed = await fixture.run(['open', '--print'])
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    const address = new URL(printed.stdout.trim())
    expect(address.port).toBe(new URL(url).port)
    expect((await enter(address.origin, ticketIn(printed.stdout))).status).toBe(200)
    expect((await fixture.run(['open', '--print', '--json'])).json.url).toContain('#ticket=')
    await server.stop()
  }
})

test.runIf(process.platform === 'linux')(
  'each server’s page has its own loopback address, so no earlier listener can have left a service worker',
  async () => {
    const fixture = createTestHome()
    const file = fixture.put(join(fixture.user, 'token'), 'a-secret-of-sixteen-characters\n')
    const origins: string[] = []
    let port = '0'
    for (const args of [[], [], ['--token-file', file], ['--token-file', file]]) {
      const server = fixture.start(['serve', '--port', port, '--json', ...args])
      port = new URL(JSON.parse(await server.firstLine()).url).port
      const { origin, hostname } = new URL((await fixture.run(['open', '--print'])).stdout.trim())
      expect(hostname).toMatch(/^127\.(?!0\.0\.1$)/)
      expect(await (await fetch(`${origin}/health`)).json()).toEqual({ ok: true })
      origins.push(origin)
      await server.stop()
      await expect(fetch(`${origin}/health`)).rejects.toThrow()
    }
    const [first, second, own, again] = origins
    expect(first).not.toBe(second)
    expect(own, 'with a token of the user’s own open pages reconnect').toBe(again)
  },
)

test('open --print in a script without a server fails at once and says what to start', async () => {
  const fixture = createTestHome()
  for (const args of [[], ['--json']]) {
    const { code, stdout, stderr } = await fixture.run(['open', '--print', '--port', '0', ...args])
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toContain('No server runs')
    expect(stderr).toContain('baton serve')
  }
  expect(existsSync(join(fixture.env.BATON_HOME!, 'run', 'server'))).toBe(false)
})

test('open --print on a terminal without a server prints the address and says that it keeps serving', async () => {
  const fixture = createTestHome()
  const words = [process.execPath, BATON, 'open', '--print', '--port', '0'].map((word) => `'${word}'`).join(' ')
  const typed = spawn('script', ['-qfec', words, '/dev/null'], { env: { ...fixture.env, TERM: 'dumb', NO_COLOR: '1' } })
  let shown = ''
  typed.stdout.on('data', (chunk) => {
    shown += chunk
  })
  onTestFinished(() => void typed.kill())
  await until('the address', () => ticketIn(shown) !== '' && shown.includes('Ctrl-C'))
  expect(shown).toContain('No server was running, so this command runs one until Ctrl-C.')
  const url = /http:\/\/127\.[0-9.]+:\d+/.exec(shown)![0]
  expect((await enter(url, ticketIn(shown))).status).toBe(200)
  const ended = new Promise((resolve) => typed.once('exit', resolve))
  typed.stdin.write('\x03')
  await ended
  expect(existsSync(join(fixture.env.BATON_HOME!, 'run', 'server'))).toBe(false)
})

test('open without a browser says how to open the page by hand', async () => {
  const fixture = createTestHome()
  const server = fixture.start(['serve', '--port', '0', '--json'])
  await server.firstLine()
  const none = await fixture.run(['open'])
  expect(none).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/No browser could be opened.*baton open --print/s),
  })
  const broken = await fixture.run(['open'], { env: { BROWSER: '/bin/false' } })
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('ended with 1') })
  await server.stop()
})

test('the server’s token is new at each start and is in no log', async () => {
  const fixture = createTestHome()
  const tokens: string[] = []
  for (let i = 0; i < 2; i++) {
    const server = fixture.start(['serve', '--port', '0', '--json'], { env: { BATON_LOG: 'debug' } })
    const { url } = JSON.parse(await server.firstLine())
    tokens.push(fixture.authorized().Authorization.replace('Bearer ', ''))
    await fixture.run(['open', '--print'], { env: { BATON_LOG: 'debug' } })
    for (const given of [tokens[0]!, 'wrong'])
      expect((await fetch(`${url}/api/access`, { headers: { Authorization: `Bearer ${given}` } })).status).toBe(
        given === tokens.at(-1) ? 200 : 401,
      )
    const { stdout, stderr } = await server.stop()
    for (const token of tokens) expect(stdout + stderr).not.toContain(token)
  }
  expect(tokens[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(tokens[1]).not.toBe(tokens[0])
  const log = join(fixture.env.BATON_HOME!, 'baton.log')
  const logged = existsSync(log) ? readFileSync(log, 'utf8') : ''
  for (const token of tokens) expect(logged).not.toContain(token)
})

test('a server that cannot show its page exits and releases its lock', async () => {
  const fixture = createTestHome()
  fixture.put(join(fixture.env.BATON_HOME!, 'run', 'open.html', 'in-the-way'), '')
  const { code, stderr } = await fixture.run(['open', '--port', '0'], { env: { BROWSER: '/bin/true' } })
  expect(code).toBe(1)
  expect(stderr).not.toBe('')
  expect(existsSync(join(fixture.env.BATON_HOME!, 'run', 'serving'))).toBe(false)
  expect(existsSync(join(fixture.env.BATON_HOME!, 'run', 'server'))).toBe(false)
})
