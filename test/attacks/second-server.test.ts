import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectToServer, readAnnouncement } from '../../src/lib/announced-server.js'
import { createTestHome } from '../../src/testing/cli-home.js'
import { attackAsOtherUser, isRoot, runAsOtherUser } from '../harness/other-user.js'
import { BATON } from '../harness/paths.js'
import { end } from '../harness/processes.js'
import type { TestHome } from '../harness/run-hook.js'
import { until } from '../harness/wait.js'

const SERVE = ['serve', '--port', '0', '--json']
const runFile = (fixture: TestHome, name: string): string => path.join(fixture.env.BATON_HOME!, 'run', name)

async function serving(fixture: TestHome) {
  const server = fixture.start(SERVE)
  const { url } = JSON.parse(await server.firstLine()) as { url: string }
  return { server, url }
}

/** True when the server of this home proves that it is the one that wrote `run/server`. */
async function isProven(fixture: TestHome): Promise<boolean> {
  const found = await connectToServer(runFile(fixture, 'server'))
  found?.socket.destroy()
  return found !== null
}

test('a second server is refused with the address of the first and what to do', async () => {
  const fixture = createTestHome()
  const { server, url } = await serving(fixture)
  const second = await fixture.run(['serve', '--port', '0'])
  expect(second).toMatchObject({ code: 4, stdout: '' })
  expect(second.stderr).toContain(`Baton already serves this home at ${url} (process ${server.child.pid}).`)
  expect(second.stderr).toContain('baton open')
  expect(await isProven(fixture)).toBe(true)
})

test('a second server names the address of a first one that hooks cannot reach', async () => {
  const fixture = createTestHome()
  const token = fixture.put(path.join(fixture.user, 'token'), 'a-secret-of-sixteen-characters\n')
  const first = fixture.start([...SERVE, '--host', '127.0.0.2', '--token-file', token])
  const { url } = JSON.parse(await first.firstLine())
  expect(existsSync(runFile(fixture, 'server'))).toBe(false)
  expect(await fixture.run(SERVE)).toMatchObject({ code: 4, stderr: expect.stringContaining(url) })
})

test('after kill -9 of the first server a second one serves the home', async () => {
  const fixture = createTestHome()
  const { server } = await serving(fixture)
  await server.stop('SIGKILL')
  expect(readAnnouncement(runFile(fixture, 'server'))).not.toBeNull()
  expect(await isProven(fixture)).toBe(false)
  await serving(fixture)
  expect(await isProven(fixture)).toBe(true)
})

test('a server starts even if its pid is in the files of a killed one', async () => {
  const fixture = createTestHome()
  const { server } = await serving(fixture)
  await server.stop('SIGKILL')
  for (const name of ['server', 'serving'])
    writeFileSync(
      runFile(fixture, name),
      readFileSync(runFile(fixture, name), 'utf8').replaceAll(String(server.child.pid), String(process.pid)),
    )
  await serving(fixture)
  expect(await isProven(fixture)).toBe(true)
})

test('of six servers started at once exactly one serves', async () => {
  const fixture = createTestHome()
  const servers = Array.from({ length: 6 }, () => fixture.start(SERVE))
  const refused: number[] = []
  for (const server of servers) void server.done.then(({ code }) => refused.push(code ?? -1))
  await until('five are refused', () => refused.length === 5)
  expect(refused).toEqual(Array(5).fill(4))
  const [left] = servers.filter(({ child }) => child.exitCode === null)
  await left!.firstLine()
  expect(readAnnouncement(runFile(fixture, 'server'))!.pid).toBe(left!.child.pid)
  expect(await isProven(fixture)).toBe(true)
})

const canUnshare = isRoot && spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0
if (!canUnshare)
  console.warn('attack not run, because it needs root and unshare: a second server in another pid namespace')

test.runIf(canUnshare)('a server in another pid namespace is refused and leaves the first one announced', async () => {
  const fixture = createTestHome()
  const { url } = await serving(fixture)
  const announced = readFileSync(runFile(fixture, 'server'), 'utf8')
  const second = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', process.execPath, BATON, ...SERVE], {
    env: fixture.env,
    cwd: fixture.project,
    encoding: 'utf8',
  })
  expect(second.status).toBe(4)
  expect(second.stderr).toContain(url)
  expect(readFileSync(runFile(fixture, 'server'), 'utf8')).toBe(announced)
  expect(await isProven(fixture)).toBe(true)
})

test.runIf(canUnshare)('doctor --fix in another pid namespace leaves a running server announced', async () => {
  const fixture = createTestHome()
  await serving(fixture)
  const announced = readFileSync(runFile(fixture, 'server'), 'utf8')
  spawnSync('unshare', ['--pid', '--fork', '--mount-proc', process.execPath, BATON, 'doctor', '--fix'], {
    env: fixture.env,
    cwd: fixture.project,
  })
  expect(readFileSync(runFile(fixture, 'server'), 'utf8')).toBe(announced)
})

test('a server whose lock file is replaced ends and removes nothing of its successor', async () => {
  const fixture = createTestHome()
  const { server: first } = await serving(fixture)
  rmSync(runFile(fixture, 'server.lock'))
  const second = fixture.start(SERVE)
  await second.firstLine()
  expect(await first.done).toMatchObject({ code: 1, stderr: expect.stringContaining('removed or replaced') })
  expect(readAnnouncement(runFile(fixture, 'server'))!.pid).toBe(second.child.pid)
  expect(await isProven(fixture)).toBe(true)
})

test('a damaged lock file is named, and the server does not start without a lock', async () => {
  const fixture = createTestHome()
  const { server } = await serving(fixture)
  await server.stop()
  writeFileSync(runFile(fixture, 'server.lock'), 'not a database, and long enough to be looked at\n'.repeat(50))
  const refused = await fixture.run(SERVE)
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('server.lock') })
  rmSync(runFile(fixture, 'server.lock'))
  await serving(fixture)
})

test('a stopped server keeps its home, so a second one is refused', async () => {
  const fixture = createTestHome()
  const { server, url } = await serving(fixture)
  server.child.kill('SIGSTOP')
  onTestFinished(() => void server.child.kill('SIGCONT'))
  expect(await fixture.run(SERVE)).toMatchObject({ code: 4, stderr: expect.stringContaining(url) })
  server.child.kill('SIGCONT')
})

test('uninstall --purge is refused while a server runs, also when its announcement is gone', async () => {
  const fixture = createTestHome()
  expect(await fixture.run(['install'])).toMatchObject({ code: 0 })
  const { server } = await serving(fixture)
  rmSync(runFile(fixture, 'server'))
  expect(await fixture.run(['uninstall', '--purge'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`process ${server.child.pid}`),
  })
})

test('a server that ends removes its announcement, its pipe and its lock', async () => {
  const fixture = createTestHome()
  const { server } = await serving(fixture)
  expect(statSync(runFile(fixture, 'alive')).isFIFO()).toBe(true)
  expect(statSync(runFile(fixture, 'alive')).mode & 0o077).toBe(0)
  await server.stop()
  for (const name of ['server', 'alive', 'lease', 'serving']) expect(existsSync(runFile(fixture, name))).toBe(false)
  await serving(fixture)
})

attackAsOtherUser('another user can neither read the announcement nor hold the lock nor feed the pipe', async () => {
  const fixture = createTestHome()
  // The parent folders are open to everybody, as under /tmp; the home itself is private.
  execFileSync('chmod', ['755', fixture.dir])
  await serving(fixture)
  for (const name of ['server', 'server.lock', 'alive', 'lease', 'serving']) {
    const file = runFile(fixture, name)
    const source =
      `const fs = require('fs'); for (const flags of ['r', 'r+']) try { fs.openSync('${file}', flags); ` +
      `process.exit(1) } catch (error) { if (error.code !== 'EACCES') process.exit(2) }`
    expect(await runAsOtherUser(process.execPath, ['-e', source])).toMatchObject({ code: 0 })
  }
  expect(await isProven(fixture)).toBe(true)
})

test('a home that was moved away while its server ran is not served a second time under its old name', async () => {
  const fixture = createTestHome()
  const { server } = await serving(fixture)
  renameSync(fixture.env.BATON_HOME!, `${fixture.env.BATON_HOME}.moved`)
  expect(await server.done).toMatchObject({ code: 1 })
  await end(server.child.pid!)
  await serving(fixture)
  expect(await isProven(fixture)).toBe(true)
})
