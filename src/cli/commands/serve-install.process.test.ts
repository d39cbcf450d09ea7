import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome, type TestHome } from '../../testing/cli-home.js'

const LINUX = process.platform === 'linux'

/** Creates a user's home and a systemctl that stores its arguments and answers as given. */
function prepared(answer = 'exit 0') {
  const fixture = createTestHome()
  const [bin, asked] = [join(fixture.dir, 'bin'), join(fixture.dir, 'asked')]
  mkdirSync(bin)
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$@" >> '${asked}'\n${answer}\n`)
  chmodSync(join(bin, 'systemctl'), 0o755)
  const env = { PATH: `${bin}:${fixture.env.PATH}`, BATON_HOME: '' }
  const unit = join(fixture.user, '.config', 'systemd', 'user', 'baton.service')
  const readCalls = (): string[] => (existsSync(asked) ? readFileSync(asked, 'utf8').trim().split('\n') : [])
  return { fixture, env, unit, readCalls, run: (args: string[]) => fixture.run(['serve', ...args], { env }) }
}
const put = (fixture: TestHome, path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  fixture.put(path, text)
}

test.runIf(LINUX)(
  'serve install writes and starts the unit, changes nothing when repeated, and serve remove undoes it',
  async () => {
    const { run, unit, readCalls } = prepared()
    const dry = await run(['install', '--dry-run', '--json'])
    expect(dry.json).toMatchObject({ changed: false, dry_run: true, files: [{ path: unit, action: 'created' }] })
    expect([existsSync(unit), readCalls()]).toEqual([false, []])
    const first = await run(['install', '--port', '9000', '--json'])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.json).toMatchObject({ changed: true, files: [{ path: unit, action: 'created', backup: null }] })
    expect(readFileSync(unit, 'utf8')).toMatch(/ExecStart=".*node" ".*baton\.mjs" "serve" "--port" "9000"\n/)
    expect(readCalls()).toEqual(['--user daemon-reload', '--user enable --now baton.service'])
    expect((await run(['install', '--port', '9000', '--json'])).json).toMatchObject({
      changed: false,
      files: [{ action: 'unchanged' }],
    })
    expect((await run(['install', '--json'])).json).toMatchObject({ changed: true, files: [{ action: 'updated' }] })
    expect(readCalls().at(-1)).toBe('--user restart baton.service')
    const removed = await run(['remove'])
    expect(removed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Removed .*baton\.service/) })
    expect(existsSync(unit)).toBe(false)
    expect(readCalls().slice(-2)).toEqual(['--user disable --now baton.service', '--user daemon-reload'])
    const before = readCalls().length
    expect(await run(['remove'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to remove') })
    expect(readCalls()).toHaveLength(before)
  },
)

test.runIf(LINUX)('when systemctl fails, serve install still writes the unit and reports the failure', async () => {
  const { run, unit } = prepared(
    'echo "Removed /a/link." >&2\necho "Failed to connect to bus: No medium found" >&2\nexit 1',
  )
  const failed = await run(['install', '--json'])
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect(JSON.parse(failed.stderr)).toMatchObject({
    error: expect.stringContaining('systemctl --user daemon-reload: Failed to connect to bus: No medium found'),
    hint: expect.stringContaining('baton serve'),
  })
  expect(existsSync(unit)).toBe(true)
  const removed = await run(['remove'])
  expect(removed).toMatchObject({ code: 1, stderr: expect.stringContaining('baton doctor') })
  expect(removed.stderr).not.toContain('Until then')
  expect(existsSync(unit)).toBe(false)
})

test.runIf(LINUX)('serve install refuses while a server that was started by hand runs, and names it', async () => {
  const { fixture, env, run } = prepared()
  const server = fixture.start(['serve', '--port', '0', '--json'], { env })
  await server.firstLine()
  expect(await run(['install'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`process ${server.child.pid}`),
  })
  await server.stop()
})

test.runIf(LINUX)('serve install does not change a unit that Baton did not write', async () => {
  const { fixture, run, unit, readCalls } = prepared()
  put(fixture, unit, '[Service]\nExecStart=/bin/mine\n')
  for (const action of ['install', 'remove']) expect(await run([action])).toMatchObject({ code: 4, stdout: '' })
  expect(readFileSync(unit, 'utf8')).toBe('[Service]\nExecStart=/bin/mine\n')
  expect(readCalls()).toEqual([])
})

test('serve install refuses the same options as serve, before anything is written', async () => {
  const { fixture, run, unit } = prepared()
  expect(await run(['install', '--host', '0.0.0.0'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('--token-file'),
  })
  expect(await run(['install', '--port', 'x'])).toMatchObject({ code: 2 })
  expect(await run(['install', '--token-file', join(fixture.user, 'none')])).toMatchObject({ code: 2 })
  expect(await run(['remove', '--port', '1'])).toMatchObject({ code: 2 })
  expect(await run(['instal'])).toMatchObject({ code: 2, stderr: expect.stringContaining('install') })
  expect(await run(['--dry-run'])).toMatchObject({ code: 2 })
  expect(existsSync(unit)).toBe(false)
})

test.runIf(LINUX)('uninstall names a service that stays installed, and the command that removes it', async () => {
  const { fixture, env, run } = prepared()
  expect((await fixture.run(['uninstall', '--json'], { env })).json).toMatchObject({ notes: [] })
  await run(['install'])
  const told = await fixture.run(['uninstall'], { env })
  expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('baton serve remove') })
})
