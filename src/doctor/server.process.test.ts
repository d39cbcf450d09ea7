import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { useCasesOf } from '../app/app.js'
import { sessionReaderOf } from '../app/sessions.js'
import { ownProgramOf } from '../cli/own-program.js'
import { makePipe } from '../install/prepare-home.js'
import { listen } from '../server/listen.js'
import { createDoctorHome, type DoctorHome } from './fixtures/doctor-home.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  return fixture
}
const announce = (fixture: DoctorHome, port: number, pid: number) =>
  writeFileSync(fixture.home.server, `${port} - ${pid}\n`)

async function serve(fixture: DoctorHome, options: { version?: string; token?: string } = {}) {
  const app = fixture.open()
  const openUseCases = async () => useCasesOf(app, ownProgramOf(app, {}, '', new AbortController().signal))
  const parts = { ...app, ...sessionReaderOf(app), openUseCases, web: null, version: options.version ?? '1.0.0' }
  const server = await listen(parts, {
    host: '127.0.0.1',
    port: 0,
    token: options.token ?? 'secret',
    serverFile: fixture.home.server,
    makePipe: (path) => makePipe(path, process.env),
  })
  onTestFinished(() => server.close())
  return { app, port: Number(new URL(server.url).port) }
}

async function stranger(answer: (end: (text: string) => void) => void): Promise<number> {
  const server = createServer((_, response) => answer((text) => response.end(text)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test.each([{}, { token: 'a secret of sixteen characters'.replaceAll(' ', '-') }])(
  'a running server answers, also through the launcher, and stores no session: %j',
  async (options) => {
    const fixture = installed()
    const { app, port } = await serve(fixture, options)
    const report = await fixture.examine()
    expect(report.failed).toEqual([])
    expect(report.of('server').detail).toMatch(
      new RegExp(`127\\.0\\.0\\.1:${port}, version 1\\.0\\.0, .* Hooks reach it in \\d+ ms\\.`),
    )
    expect(app.store.sessions()).toEqual([])
  },
)

test('the announcement of a dead server is reported and removed, whoever listens on its port now', async () => {
  const fixture = installed()
  announce(fixture, await stranger((end) => end('<h1>Hello</h1>')), process.pid)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['server'])
  expect(report.of('server').detail).toContain(fixture.home.server)
  const mended = await fixture.fix()
  expect(mended.failed).toEqual([])
  expect(existsSync(fixture.home.server)).toBe(false)
})

test('an announcement without a port is reported and removed', async () => {
  const fixture = installed()
  writeFileSync(fixture.home.server, '\n')
  expect((await fixture.examine()).failed).toEqual(['server'])
  expect((await fixture.fix()).failed).toEqual([])
})

test('another program on a server’s port is reported and gets no token', async () => {
  const fixture = installed()
  await serve(fixture)
  const heard: string[] = []
  const foreign = createSocketServer((socket) => {
    socket.on('data', (data) => heard.push(data.toString()))
    socket.end('HTTP/1.1 200 OK\r\nX-Baton: 1\r\n\r\n')
  })
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void foreign.close())
  const written = readFileSync(fixture.home.server, 'utf8')
  writeFileSync(fixture.home.server, written.replace(/^\d+/, String((foreign.address() as AddressInfo).port)))
  const report = await fixture.fix()
  expect(report.failed).toEqual(['server'])
  expect(report.of('server').detail).toContain('Another program answers')
  expect(existsSync(fixture.home.server)).toBe(true)
  expect(heard.join('')).not.toContain('secret')
})

test('a running server whose port is closed here is reported', async () => {
  const fixture = installed()
  await serve(fixture)
  const closed = createSocketServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  writeFileSync(fixture.home.server, readFileSync(fixture.home.server, 'utf8').replace(/^\d+/, String(port)))
  expect((await fixture.examine()).of('server').detail).toContain(`is not reachable on port ${port}`)
})

test('a running server that does not answer is reported and left to the user', async () => {
  const fixture = installed()
  await serve(fixture)
  const silent = createSocketServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.close())
  const port = String((silent.address() as AddressInfo).port)
  writeFileSync(fixture.home.server, readFileSync(fixture.home.server, 'utf8').replace(/^\d+/, port))
  const report = await fixture.fix()
  expect(report.failed).toEqual(['server'])
  expect(report.of('server').detail).toContain(`(process ${process.pid}) does not answer`)
  expect(report.of('server').fix).toContain('baton serve')
  expect(existsSync(fixture.home.server)).toBe(true)
})

test('a server of another version is reported', async () => {
  const fixture = installed()
  await serve(fixture, { version: '0.9.0' })
  const report = await fixture.fix()
  expect(report.failed).toEqual(['server'])
  expect(report.of('server').detail).toMatch(/0\.9\.0.*1\.0\.0/)
})

test('the mark of a slow server is reported, and removed once the server answers', async () => {
  const fixture = installed()
  await serve(fixture)
  const mark = join(dirname(fixture.home.server), 'slow')
  writeFileSync(mark, `${Math.floor(Date.now() / 1000) + 40}\n`)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['server'])
  expect(report.of('server').detail).toMatch(/hooks skip it for another \d+ s/)
  expect((await fixture.fix()).failed).toEqual([])
  expect(existsSync(mark)).toBe(false)
  writeFileSync(mark, `${Math.floor(Date.now() / 1000) - 1}\n`)
  expect((await fixture.examine()).failed).toEqual([])
  expect(readFileSync(mark, 'utf8')).not.toBe('')
})

test('a bash that cannot connect to the server is reported', async () => {
  const fixture = installed()
  await serve(fixture)
  fixture.rewriteLauncher((text) => text.replace('/dev/tcp/127.0.0.1', '/dev/nothing'))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['launcher', 'server'])
  expect(report.of('server').detail).toContain('cannot reach the server')
})

test('without a server of this home, doctor reports who uses the port', async () => {
  const fixture = installed()
  const port = await stranger((end) => end(''))
  const report = await fixture.examine({ env: { ...fixture.env, BATON_PORT: String(port) } })
  expect(report.failed).toEqual([])
  expect(report.of('server').detail).toContain(`Another program uses port ${port}`)
})
