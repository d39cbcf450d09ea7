import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { processInfo } from '../../lib/process-info.js'
import { listRegisteredClients, readRegisteredClient, readUntilComplete } from './registry.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-registry-'))
  mkdirSync(join(dir, 'sessions'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const started = processInfo(process.pid)!.startedAt

/** Returns an entry as client 2.1.325 writes it. */
const entry = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  pid: process.pid,
  sessionId: '57b7efde-45e9-4868-b54d-3ff2b9e9821e',
  cwd: '/home/ada/project',
  startedAt: 1794795878185,
  procStart: started,
  version: '2.1.325',
  peerProtocol: 1,
  kind: 'interactive',
  entrypoint: 'cli',
  tmux: 'my work:@12.%34',
  messagingSocketPath: '/tmp/cc-socks/31346.sock',
  name: 'project-3e',
  status: 'idle',
  updatedAt: 1794795887547,
  statusUpdatedAt: 1794795887547,
  ...change,
})
const write = (content: unknown, name = String(process.pid)): void =>
  writeFileSync(join(dir, 'sessions', `${name}.json`), typeof content === 'string' ? content : JSON.stringify(content))

test("a running client's entry is read with all its fields", () => {
  write(entry())
  expect(readRegisteredClient(dir, process.pid)).toEqual({
    pid: process.pid,
    sessionId: '57b7efde-45e9-4868-b54d-3ff2b9e9821e',
    cwd: '/home/ada/project',
    status: 'idle',
    waitingFor: null,
    tmux: { session: 'my work', window: '@12', pane: '%34' },
    kind: 'interactive',
    entrypoint: 'cli',
    version: '2.1.325',
    procStart: started,
    updatedAt: 1794795887547,
  })
})

test('an open dialog is waiting, with its reason', () => {
  write(entry({ status: 'waiting', waitingFor: 'permission prompt' }))
  expect(readRegisteredClient(dir, process.pid)).toMatchObject({ status: 'waiting', waitingFor: 'permission prompt' })
})

test.each([
  ['a status of a later version', { status: 'dreaming' }, { status: 'unknown' }],
  ['no status', { status: undefined }, { status: 'unknown' }],
  ['no tmux pane', { tmux: undefined }, { tmux: null }],
  ['an unknown place', { tmux: 'work' }, { tmux: null }],
  ['no start time', { procStart: undefined }, { procStart: null, status: 'idle' }],
])('an entry with %s is read as far as possible', (_, change, expected) => {
  write(entry(change))
  expect(readRegisteredClient(dir, process.pid)).toMatchObject(expected)
})

test.each([
  ['a torn file', JSON.stringify(entry()).slice(0, 90)],
  ['an empty file', ''],
  ['something else', '[1, 2]'],
  ['an entry without a session', JSON.stringify(entry({ sessionId: undefined }))],
  ['the entry of another pid', JSON.stringify(entry({ pid: 1 }))],
  ['a file far too large', JSON.stringify(entry({ name: 'x'.repeat(70_000) }))],
])('a client entry is ignored when it is %s that is no longer being written', (_, content) => {
  write(content)
  utimesSync(join(dir, 'sessions', `${process.pid}.json`), 1, 1)
  expect(readRegisteredClient(dir, process.pid)).toBeNull()
})

test('an incomplete entry is read again while it is being written', () => {
  const reads: (string | 'torn')[] = ['torn', 'torn', 'torn', 'torn', 'torn', 'torn', 'the entry']
  const read = (): string | 'torn' => reads.shift()!
  expect(readUntilComplete(read, () => true)).toBe('the entry')
})

test('an incomplete entry that is not being written is ignored after one read', () => {
  let looks = 0
  const read = (): 'torn' => {
    looks++
    return 'torn'
  }
  expect(readUntilComplete(read, () => false)).toBeNull()
  expect(looks).toBe(1)
})

test.runIf(process.platform === 'linux')('an entry left by an earlier process of the same pid is no client', () => {
  write(entry({ procStart: String(Number(started) - 1) }))
  expect(readRegisteredClient(dir, process.pid)).toBeNull()
})

test('a killed client is ignored, though its entry stays', async () => {
  const child = spawn('sleep', ['30'], { stdio: 'ignore' })
  const gone = new Promise((resolve) => child.on('exit', resolve))
  child.kill('SIGKILL')
  await gone
  write(entry({ pid: child.pid, procStart: undefined }), String(child.pid))
  expect(readRegisteredClient(dir, child.pid!)).toBeNull()
})

test('running clients are listed, and other files in the folder are ignored', () => {
  write(entry())
  write(entry({ pid: process.ppid, procStart: undefined }), String(process.ppid))
  write('{', '4194303')
  write(entry(), 'notes')
  mkdirSync(join(dir, 'sessions', '77.json'))
  expect(listRegisteredClients(dir).map(({ pid }) => pid)).toEqual([process.pid, process.ppid].sort((a, b) => a - b))
  expect(listRegisteredClients(join(dir, 'none'))).toEqual([])
})

test('an invalid pid reads no file', () => {
  expect(readRegisteredClient(dir, 0)).toBeNull()
  expect(readRegisteredClient(dir, Number.NaN)).toBeNull()
  expect(readRegisteredClient(dir, 1.5)).toBeNull()
})
