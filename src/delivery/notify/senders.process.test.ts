import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdTime } from '../../../test/harness/held-time.js'
import { until } from '../../../test/harness/wait.js'
import { describeTarget, type NoticeRecord, type NotifyTarget } from '../../contract/records/notice.js'
import { processesWithVariable } from '../../lib/process-info.js'
import { terminalOf } from '../../lib/process-terminal.js'
import { sampleNotice } from '../../store/samples.cases.js'
import { sendNotice, showOnDesktop } from './send-notice.js'

let folder: string
let server: Server
let asked: { url: string; headers: IncomingHttpHeaders; body: string }[]
let status: number
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-notify-'))
  asked = []
  status = 200
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      asked.push({ url: request.url!, headers: request.headers, body })
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const address = (path: string, before = ''): string =>
  `http://${before}127.0.0.1:${(server.address() as AddressInfo).port}${path}`
const to = (target: Partial<NotifyTarget>): NotifyTarget => ({
  via: 'bell',
  on: ['permission'],
  command: null,
  url: null,
  everyMs: 1_000,
  ...target,
})
const place = (terminal: string | null = null) => ({
  cwd: folder,
  env: { PATH: process.env.PATH },
  terminalOf: () => terminal,
})
const send = (target: Partial<NotifyTarget>, more: NoticeRecord[] = [], at = place()) =>
  sendNotice([...more, sampleNotice('n1', { target: to(target), jobId: null })], 'api: waits', at)

test('a command gets the notice as JSON on its input and in its environment, in a folder of the user', async () => {
  const command =
    `pwd > where; cat > payload; printf '%s|' "$BATON_NOTIFY_KIND" "$BATON_NOTIFY_TEXT" "$BATON_NOTIFY_NAME" ` +
    '"$BATON_NOTIFY_SESSION" "$BATON_NOTIFY_PROJECT" "$BATON_DISABLE" > env'
  const older = sampleNotice('n0', { target: to({ via: 'command', command }), text: 'older' })
  expect(await send({ via: 'command', command }, [older])).toEqual({ result: 'sent' })
  expect(JSON.parse(readFileSync(join(folder, 'payload'), 'utf8'))).toEqual({
    notice_id: 'n1',
    kind: 'permission',
    text: 'api: waits',
    name: 'shöp 4711',
    at: '2026-03-01T10:00:00.000Z',
    session_id: 's1',
    seat_id: 'seat_1',
    job_id: null,
    project: '/home/ü/shöp',
    data: { subagent: false, resets_at: null },
    more: [expect.objectContaining({ notice_id: 'n0', text: 'older' })],
  })
  expect(readFileSync(join(folder, 'env'), 'utf8')).toBe('permission|api: waits|shöp 4711|s1|/home/ü/shöp|1|')
  expect(readFileSync(join(folder, 'where'), 'utf8').trim()).toBe(folder)
})

test('a failing command reports how it failed, and a hanging one is killed with all its children', async () => {
  expect(await send({ via: 'command', command: 'echo no route >&2; exit 3' })).toEqual({
    result: 'failed',
    retryable: true,
    reason: 'exited with 3: no route',
  })
  const mark = `NOTIFY_TEST=${folder}`
  const time = holdTime()
  const hanging = send({ via: 'command', command: `export ${mark}; sleep 600 & wait` })
  await until('the command has started its child', () => processesWithVariable(mark).length > 0)
  expect(await time.pass(hanging)).toMatchObject({
    result: 'failed',
    retryable: true,
    reason: expect.stringContaining('did not end within 30 s and was killed'),
  })
  expect(processesWithVariable(mark)).toEqual([])
})

test('a webhook is posted JSON', async () => {
  expect(await send({ via: 'webhook', url: address('/hook?x=1') })).toEqual({ result: 'sent' })
  expect(asked).toMatchObject([{ url: '/hook?x=1', headers: { 'content-type': 'application/json' } }])
  expect(JSON.parse(asked[0]!.body)).toMatchObject({ kind: 'permission', text: 'api: waits', more: [] })
})

test('ntfy is posted plain text with title, priority and tags, and the credentials of its address', async () => {
  expect(await send({ via: 'ntfy', url: address('/topic', 'me:p%40ss@') })).toEqual({ result: 'sent' })
  const [{ url, headers, body }] = asked as [(typeof asked)[number]]
  expect([url, body]).toEqual(['/topic', 'api: waits'])
  expect(headers).toMatchObject({ priority: '4', tags: 'raised_hand', 'content-type': 'text/plain; charset=utf-8' })
  expect(headers.title).toBe(`=?UTF-8?B?${Buffer.from('Baton: shöp 4711').toString('base64')}?=`)
  expect(headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`)
})

test('a web target that refuses permanently is not retried, and an overloaded or unreachable one is', async () => {
  const tried = async (code: number) => {
    status = code
    return send({ via: 'webhook', url: address('/') })
  }
  expect(await tried(404)).toEqual({ result: 'failed', retryable: false, reason: 'answered 404' })
  expect(await tried(302)).toMatchObject({ result: 'failed', retryable: false })
  expect(await tried(429)).toMatchObject({ result: 'failed', retryable: true })
  expect(await tried(503)).toMatchObject({ result: 'failed', retryable: true })
  const gone = address('/')
  await new Promise((resolve) => server.close(resolve))
  expect(await send({ via: 'webhook', url: gone })).toMatchObject({
    result: 'failed',
    retryable: true,
    reason: expect.stringContaining('is not reachable'),
  })
})

test('a desktop notice starts the program of the desktop, and reports when there is none', async () => {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/shown'\n`)
  chmodSync(join(bin, 'notify-send'), 0o755)
  expect(await showOnDesktop('-n $(id)', { PATH: bin }, 'linux')).toEqual({ result: 'sent' })
  expect(readFileSync(join(folder, 'shown'), 'utf8')).toBe('--app-name=Baton\n--\nBaton\n-n $(id)\n')
  expect(await showOnDesktop('x', { PATH: folder }, 'linux')).toMatchObject({
    result: 'failed',
    retryable: false,
    reason: expect.stringContaining('libnotify-bin'),
  })
})

test('a bell is rung only in a terminal of this user, and never in a file, a link or a pipe', async () => {
  const ring = (terminal: string | null) => send({ via: 'bell' }, [], place(terminal))
  const file = join(folder, 'file')
  writeFileSync(file, '')
  symlinkSync('/dev/null', join(folder, 'link'))
  spawnSync('mkfifo', [join(folder, 'pipe')])
  for (const terminal of [null, file, join(folder, 'link'), join(folder, 'pipe'), join(folder, 'none')])
    expect(await ring(terminal)).toMatchObject({ result: 'no-recipient' })
  expect(readFileSync(file, 'utf8')).toBe('')
})

test('a bell reaches the tmux pane of a process', async () => {
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', join(folder, 's'), '-f', '/dev/null', ...args], { encoding: 'utf8' })
  tmux('new-session', '-d', 'exec cat')
  try {
    tmux('set-hook', '-g', 'alert-bell', `run-shell "touch ${folder}/rung"`)
    const terminal = terminalOf(Number(tmux('display-message', '-p', '#{pane_pid}')))
    expect(terminal).toBe(tmux('display-message', '-p', '#{pane_tty}').trim())
    expect(await send({ via: 'bell' }, [], place(terminal))).toEqual({ result: 'sent' })
    await until('tmux was rung', () => existsSync(join(folder, 'rung')))
  } finally {
    tmux('kill-server')
  }
})

test('the name of a target contains none of its possible secrets', () => {
  expect(describeTarget(to({ via: 'ntfy', url: 'https://me:pw@ntfy.sh/secret-topic' }))).toBe('ntfy ntfy.sh')
  expect(describeTarget(to({ via: 'command', command: 'say' }))).toBe('command `say`')
  expect(describeTarget(to({ via: 'bell' }))).toBe('bell')
})
