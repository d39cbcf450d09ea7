import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { connect } from 'node:net'
import { platform } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { announcementLine, connectToServer, proveServer, readAnnouncement } from '../../src/lib/announced-server.js'
import { createTestHome } from '../../src/testing/cli-home.js'
import { attackAsOtherUser, isRoot, OTHER_UID } from '../harness/other-user.js'
import { end } from '../harness/processes.js'
import { eventJson, filesIn, runHook, SESSION, spoolTaken, type TestHome } from '../harness/run-hook.js'
import { until } from '../harness/wait.js'

const HELLO = 'a1'.repeat(8)
const PROOF = 'b2'.repeat(8)
const TOKEN = 'the-token-that-nobody-else-may-see'
const SECRET = 'the words of the conversation'

/** How a foreign program behaves behind a connection. Each prints what it received. */
const LISTENERS = {
  'is silent': '',
  'sends garbage': `socket.end('\\0\\xff not what was expected \\r\\n'.repeat(3))`,
  'sends without end':
    `const flood = () => { while (socket.writable && socket.write('x'.repeat(65536))) ; }; ` +
    `socket.on('drain', flood); flood()`,
  'closes at once': `socket.destroy()`,
  'replays an answer of the real server':
    `const head = 'HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\nX-Baton: 1'; ` +
    `socket.write(head + '\\r\\n\\r\\nevil\\n')`,
  'replays an old proof': `socket.write('${'c3'.repeat(8)}\\r\\n')`,
  'echoes the hello': `socket.on('data', (data) => socket.write(data.subarray(6)))`,
} as const

interface Listener {
  port: number
  /** All bytes that the listener received. */
  received(): string
}

/** Starts a listener in a process of the other user, or of this one. */
async function startListener(behaviour: string, asOtherUser = isRoot): Promise<Listener> {
  const child = listenerProcess(
    `import { createServer } from 'node:net'
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (data) => process.stderr.write(data))
      ${behaviour}
    })
    server.listen(0, '127.0.0.1', () => console.log(server.address().port))`,
    asOtherUser,
  )
  let [said, received] = ['', '']
  child.stdout!.on('data', (data) => (said += data))
  child.stderr!.on('data', (data) => (received += data))
  await until('the foreign program listens', () => said.includes('\n'))
  return { port: Number(said), received: () => received }
}

function listenerProcess(source: string, asOtherUser: boolean): ChildProcess {
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    ...(asOtherUser ? { uid: OTHER_UID, gid: OTHER_UID } : {}),
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function installed(): Promise<TestHome> {
  const fixture = createTestHome()
  expect(await fixture.run(['install'])).toMatchObject({ code: 0 })
  return fixture
}

const runFile = (fixture: TestHome, name: string): string => path.join(fixture.env.BATON_HOME!, 'run', name)

/**
 * Writes the announcement of a killed server. `pid` is the process that has the server's number
 * now.
 */
function announceStale(fixture: TestHome, port: number, pid: number): void {
  const line = announcementLine({ port, token: TOKEN, pid, hello: HELLO, proof: PROOF })
  writeFileSync(runFile(fixture, 'server'), line, { mode: 0o600 })
}

/** Makes hooks believe that the server lives, as it does in another network namespace. */
function pretendAlive(fixture: TestHome): void {
  const pipe = runFile(fixture, 'alive')
  execFileSync('mkfifo', ['-m', '600', pipe])
  const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  writeSync(descriptor, '.')
  onTestFinished(() => closeSync(descriptor))
}

/** Opens as many connections to a server that accepts none as its queue holds. */
async function fillQueue(port: number): Promise<void> {
  // Linux queues one connection more than the server's backlog.
  const room = 1 + Math.min(4096, Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')))
  const sockets = Array.from({ length: room }, () => connect(port, '127.0.0.1'))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
}

const prompt = () => ({ input: eventJson('UserPromptSubmit', { prompt: SECRET }) })

/** Checks that the hook worked without a server: no output, and the session is stored. */
async function workedAlone(fixture: TestHome, run: Awaited<ReturnType<typeof runHook>>): Promise<void> {
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  await spoolTaken(fixture.env.BATON_HOME!)
  const { sessions } = (await fixture.run(['status', '--all', '--json'])).json
  expect(sessions).toMatchObject([{ session_id: SESSION }])
}

for (const [name, behaviour] of Object.entries(LISTENERS)) {
  attackAsOtherUser(`a listener that ${name} on the port of a dead server gets nothing from a hook`, async () => {
    const fixture = await installed()
    const listener = await startListener(behaviour)
    announceStale(fixture, listener.port, process.pid)
    await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
    expect(listener.received()).toBe('')
  })

  attackAsOtherUser(`a listener that ${name} gets the preface alone where hooks believe the server alive`, async () => {
    const fixture = await installed()
    const listener = await startListener(behaviour)
    announceStale(fixture, listener.port, process.pid)
    pretendAlive(fixture)
    await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
    expect([``, `BATON ${HELLO}\r\n`]).toContain(listener.received())
  })

  attackAsOtherUser(`a listener that ${name} gets neither token nor conversation from baton statusline`, async () => {
    const fixture = await installed()
    const listener = await startListener(behaviour)
    announceStale(fixture, listener.port, process.pid)
    const input = JSON.stringify({ session_id: SESSION, cwd: '/', model: { id: SECRET }, context_window: null })
    expect(await fixture.run(['statusline'], { input })).toMatchObject({ code: 0 })
    expect([``, `BATON ${HELLO}\r\n`]).toContain(listener.received())
  })
}

attackAsOtherUser('a listener with a full backlog, where connecting blocks for minutes, delays no hook', async () => {
  const fixture = await installed()
  // The listener accepts no connection: its queue holds two, and the kernel ignores further ones.
  const child = listenerProcess(
    `import { createServer } from 'node:net'
    const server = createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      const { port } = server.address()
      process.stdout.write(port + '\\n', () => process.kill(process.pid, 'SIGSTOP'))
    })`,
    true,
  )
  let said = ''
  child.stdout!.on('data', (data) => (said += data))
  await until('the foreign program listens', () => said.includes('\n'))
  const port = Number(said)
  await until('the foreign program is stopped', () =>
    /^State:\tT/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8')),
  )
  let waiting = 0
  for (let i = 0; i < 8; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.on('connect', () => waiting++)
    onTestFinished(() => void socket.destroy())
  }
  await until('the queue is full', () => waiting >= 2)
  announceStale(fixture, port, process.pid)
  await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
  expect(await connectToServer(runFile(fixture, 'server'))).toBeNull()
})

test('a foreign listener of the same user that knows no proof gets the preface alone', async () => {
  const fixture = await installed()
  const listener = await startListener(LISTENERS['replays an answer of the real server'], false)
  announceStale(fixture, listener.port, process.pid)
  pretendAlive(fixture)
  await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
  await until('the preface', () => listener.received() !== '')
  expect(listener.received()).toBe(`BATON ${HELLO}\r\n`)
})

test('a status line hook sends a foreign listener the preface alone', async () => {
  const fixture = await installed()
  const listener = await startListener(LISTENERS['sends garbage'], false)
  announceStale(fixture, listener.port, process.pid)
  pretendAlive(fixture)
  const run = await runHook(fixture, 'status-line', { input: JSON.stringify({ session_id: SESSION, prompt: SECRET }) })
  expect(run).toMatchObject({ code: 0, stderr: '' })
  await until('the preface', () => listener.received() !== '')
  expect(listener.received()).toBe(`BATON ${HELLO}\r\n`)
})

test('a payload too large for the connection is not announced to a foreign listener', async () => {
  const fixture = await installed()
  const listener = await startListener('', false)
  announceStale(fixture, listener.port, process.pid)
  pretendAlive(fixture)
  const input = eventJson('UserPromptSubmit', { prompt: SECRET.repeat(1_000) })
  await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', { input }))
  await until('the preface', () => listener.received() !== '')
  expect(listener.received()).toBe(`BATON ${HELLO}\r\n`)
})

for (const [name, pidOf] of [
  ['the pid of another process of this user', () => process.pid],
  ['the pid of init', () => 1],
  ['a pid that nobody has', () => 4_194_304],
] as const) {
  test(`a stale announcement with ${name} does not make a hook connect`, async () => {
    const fixture = await installed()
    const listener = await startListener(LISTENERS['is silent'], false)
    announceStale(fixture, listener.port, pidOf())
    await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
    expect(listener.received()).toBe('')
  })
}

test('an attacker who stole the hello learns the proof of that server, and nothing after its restart', async () => {
  const fixture = await installed()
  const first = fixture.start(['serve', '--port', '0', '--json'])
  await first.firstLine()
  const stolen = readAnnouncement(runFile(fixture, 'server'))!
  await first.stop('SIGKILL')
  const second = fixture.start(['serve', '--port', '0', '--json'])
  await second.firstLine()
  const current = readAnnouncement(runFile(fixture, 'server'))!
  expect([current.hello, current.proof, current.token]).not.toContain(stolen.hello)
  expect(current.proof).not.toBe(stolen.proof)
  expect(await proveServer({ ...stolen, port: current.port })).toBe('stranger')
  await second.stop()
})

test('a hook notices the death of the server at once, also when a listener takes its port', async () => {
  const fixture = await installed()
  const server = fixture.start(['serve', '--port', '0', '--json'])
  const { url } = JSON.parse(await server.firstLine())
  const run = await runHook(fixture, 'UserPromptSubmit', prompt())
  expect(run).toMatchObject({ code: 0, stderr: '' })
  expect(filesIn(path.join(fixture.env.BATON_HOME!, 'spool'))).toEqual([])
  const announced = readFileSync(runFile(fixture, 'server'), 'utf8')
  await server.stop('SIGKILL')
  expect(readFileSync(runFile(fixture, 'server'), 'utf8')).toBe(announced)
  const source = `import { createServer } from 'node:net'
    const server = createServer((socket) => socket.on('data', (data) => process.stderr.write(data)))
    server.listen(${new URL(url).port}, '127.0.0.1', () => console.log('up'))`
  const child = listenerProcess(source, isRoot)
  let [said, received] = ['', '']
  child.stdout!.on('data', (data) => (said += data))
  child.stderr!.on('data', (data) => (received += data))
  await until('the port is taken', () => said !== '')
  await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
  expect(received).toBe('')
  await end(child.pid!)
})

test.skipIf(platform() !== 'linux')(
  'a hook does not wait for a stopped server whose queue of connections is full',
  async () => {
    const fixture = await installed()
    const server = fixture.start(['serve', '--port', '0', '--json'])
    const { port } = new URL(JSON.parse(await server.firstLine()).url as string)
    server.child.kill('SIGSTOP')
    onTestFinished(() => void server.child.kill('SIGCONT'))
    // The server's lease has expired.
    writeFileSync(runFile(fixture, 'lease'), `${'1'.padStart(10, '0')}\n`)
    await fillQueue(Number(port))
    await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
  },
)

test('a hook does not take a regular file in place of the pipe for a living server', async () => {
  const fixture = await installed()
  const listener = await startListener(LISTENERS['is silent'], false)
  announceStale(fixture, listener.port, process.pid)
  writeFileSync(runFile(fixture, 'alive'), '.')
  await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
  expect(listener.received()).toBe('')
})

test('a hook makes no file in place of a missing pipe', async () => {
  const fixture = await installed()
  announceStale(fixture, 1, process.pid)
  rmSync(runFile(fixture, 'alive'), { force: true })
  await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
  expect(existsSync(runFile(fixture, 'alive'))).toBe(false)
})

// Bash has no time limit for opening a pipe or for a device that never ends a line.
for (const name of ['server', 'lease', 'slow'])
  test.each([
    ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
    ['a link to a device that never ends', (file: string) => symlinkSync('/dev/zero', file)],
  ])(`a hook does not read run/${name} when it is %s`, async (_, make) => {
    const fixture = await installed()
    const listener = await startListener(LISTENERS['is silent'], false)
    announceStale(fixture, listener.port, process.pid)
    pretendAlive(fixture)
    rmSync(runFile(fixture, name), { force: true })
    make(runFile(fixture, name))
    await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
  })

test('a pipe in place of the lock of the engine is replaced', async () => {
  const fixture = await installed()
  execFileSync('mkfifo', [runFile(fixture, 'drain')])
  await workedAlone(fixture, await runHook(fixture, 'UserPromptSubmit', prompt()))
})
