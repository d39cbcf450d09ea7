import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import { terminalOf } from '../../lib/process-terminal.js'
import { createTestHome } from '../../testing/cli-home.js'

const configured = (notify: unknown, more: object = {}) => {
  const fixture = createTestHome()
  fixture.put(join(fixture.env.BATON_HOME!, 'config.yaml'), JSON.stringify({ notify, ...more }))
  return fixture
}

test('notify test tries every entry, also in overrides and for any event, and exits with 1 on a failure', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    request.resume()
    response.writeHead(request.url === '/gone' ? 404 : 200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fixture = configured(
    [
      { via: 'command', command: 'cat > told', on: ['job'] },
      { via: 'webhook', url: `${url}/gone` },
    ],
    { overrides: [{ when: { seat: 'api' }, notify: [{ via: 'ntfy', url: `${url}/topic` }] }] },
  )
  const { code, json } = await fixture.run(['notify', 'test', '--json'])
  expect(code).toBe(1)
  const host = new URL(url).host
  expect(json).toMatchObject({
    ok: false,
    entries: [
      { key: 'notify[0]', via: 'command', target: 'command `cat > told`', ok: true, detail: 'sent' },
      { key: 'notify[1]', via: 'webhook', target: `webhook ${host}`, ok: false, detail: 'answered 404' },
      { key: 'overrides[0].notify[0]', via: 'ntfy', target: `ntfy ${host}`, ok: true },
    ],
  })
  expect(asked.sort()).toEqual(['/gone', '/topic'])
  expect(JSON.parse(readFileSync(join(fixture.user, 'told'), 'utf8'))).toMatchObject({
    kind: 'test',
    text: 'shop: test notice of baton notify',
  })
  const text = await fixture.run(['notify', 'test'])
  expect(text.code).toBe(1)
  expect(text.stdout).toMatch(/✓ notify\[0\] \(user file .*\) command `cat > told`: sent in \d+ ms/)
  expect(text.stdout).toMatch(/✗ notify\[1\] .*: failed: answered 404/)
  const doctor = (await fixture.run(['doctor', '--json'])).json as { checks: { name: string; detail: string }[] }
  expect(doctor.checks.find(({ name }) => name === 'notify')?.detail).toContain('answered 404')
})

test('notify test exits with 0 when all is sent, 3 without entries, and 2 with an invalid file', async () => {
  expect(await configured([{ command: 'true' }]).run(['notify', 'test'])).toMatchObject({ code: 0, stderr: '' })
  expect(await createTestHome().run(['notify', 'test'])).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('baton config set notify'),
  })
  expect(await configured([{ via: 'bell', url: 'https://x' }]).run(['notify', 'test'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('notify[0].url: would have no effect'),
  })
  expect((await createTestHome().run(['notify', 'tset'])).stderr).toContain('test')
})

test('a process that outlives the runner sends the notice of a job’s end, with the job’s name', async () => {
  const fixture = configured([{ via: 'command', command: 'cat >> told', on: ['job'], at_most_every: '1ms' }])
  const prompt = 'the secret plan'
  const ran = await fixture.run(['run', '--prompt', prompt, '--runtime', 'scripted', '--work-item', 'fix-login'])
  expect(ran.code).toBe(0)
  const told = await until('the notice was sent', () => {
    const text = existsSync(join(fixture.user, 'told')) ? readFileSync(join(fixture.user, 'told'), 'utf8') : ''
    return text.endsWith('\n') ? text : null
  })
  expect(told).not.toContain(prompt)
  expect(JSON.parse(told)).toMatchObject({
    kind: 'job',
    text: expect.stringMatching(/^job fix-login completed in \d+ s$/),
    project: fixture.project,
    data: { state: 'completed', exit_reason: 'success', handoffs: 0 },
  })
})

test('an untrusted project file sends no notices, and notify test says so', async () => {
  const fixture = configured([{ command: 'true' }])
  writeFileSync(join(fixture.project, 'baton.yaml'), JSON.stringify({ notify: [{ command: 'touch pwned' }] }))
  const { code, stdout, stderr } = await fixture.run(['notify', 'test'])
  expect([code, stdout.split('\n').length - 1]).toEqual([0, 1])
  expect(stderr).toContain('is not trusted')
  expect(existsSync(join(fixture.user, 'pwned'))).toBe(false)
})

test('a bell without a terminal is skipped, and identical targets are numbered', async () => {
  const fixture = configured([{ via: 'bell' }, { command: 'true' }, { command: 'true', via: 'command', on: ['job'] }])
  const ran = await fixture.start(['notify', 'test', '--json']).done
  expect(ran.json.entries.slice(1)).toMatchObject([{ target: 'command `true` (1)' }, { target: 'command `true` (2)' }])
  const [bell] = ran.json.entries
  // The test process may have a terminal, which its children inherit.
  if (terminalOf(process.pid) === null) expect(bell).toMatchObject({ ok: true, skipped: true })
  else expect(bell).toMatchObject({ ok: true, skipped: false })
  expect([ran.code, ran.json.ok]).toEqual([0, true])
})

test('doctor names the entry of each failing notify target on its own line', async () => {
  const fixture = configured([{ command: 'exit 3' }, { command: 'exit 4' }])
  await fixture.run(['notify', 'test'])
  const { stdout } = await fixture.run(['doctor'])
  for (const key of ['notify[0]', 'notify[1]'])
    expect(stdout.split('\n').filter((line) => line.includes(`(${key})`))).toHaveLength(1)
})
