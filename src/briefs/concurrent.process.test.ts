import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundleChild } from './fixtures/bundle-child.js'
import { longBody, SIGNING_KEY, sampleOrigin } from './fixtures/samples.js'
import { storeBrief } from './keep-file.js'
import { readBrief } from './read-brief.js'

let bundle: string
let folder: string
beforeAll(async () => {
  bundle = await bundleChild()
})
afterAll(() => rmSync(dirname(bundle), { recursive: true, force: true }))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-briefs-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function start(...args: string[]): {
  child: ChildProcess
  ended: Promise<{ signal: string | null; stdout: string; stderr: string }>
} {
  const child = spawn(process.execPath, [bundle, ...args], { stdio: 'pipe' })
  const out = { stdout: '', stderr: '' }
  child.stdout!.on('data', (chunk) => (out.stdout += chunk))
  child.stderr!.on('data', (chunk) => (out.stderr += chunk))
  return { child, ended: new Promise((resolve) => child.on('close', (_, signal) => resolve({ signal, ...out }))) }
}

const names = () => readdirSync(join(folder, 'seat_1')).sort()
const briefs = () => names().filter((name) => !name.startsWith('.'))

test('a process killed at any step leaves complete briefs, and the next one stores the rest', async () => {
  let next = 1
  for (const [moment, halves] of [
    ['end-at-step', 1],
    ['end-after', 0],
  ] as const) {
    const { signal, stdout, stderr } = await start(moment, folder, String(next)).ended
    expect([signal, stderr]).toEqual(['SIGKILL', ''])
    const said = Number(stdout.split('\n').at(-2))
    expect(said).toBe(next + 2)
    const kept = briefs()
    expect([kept.length, names().length]).toEqual([said + (halves ? 0 : 1), said + 1])
    for (const [n, name] of kept.entries()) {
      const path = join(folder, 'seat_1', name)
      expect(statSync(path).mode & 0o777).toBe(0o400)
      expect(readBrief(path, SIGNING_KEY)).toEqual({
        verdict: 'genuine',
        body: longBody(n + 1),
        origin: sampleOrigin(n + 1),
      })
    }
    next = said + 1
    storeBrief({ folder, key: SIGNING_KEY }, sampleOrigin(next), longBody(next))
    expect(names()).toEqual(briefs())
    next++
  }
})

interface KeepResult {
  failed: boolean
  message?: string
}

/** Starts one racing process per text and returns the result of each of its briefs. */
async function startRace(texts: string[]): Promise<KeepResult[][]> {
  const runs = texts.map((text) => start('race', folder, text))
  await Promise.all(runs.map(({ child }) => new Promise((resolve) => child.stdout!.once('data', resolve))))
  for (const { child } of runs) child.stdin!.end(String(Date.now() + 100))
  const ended = await Promise.all(runs.map((run) => run.ended))
  return ended.map(({ stdout }) => JSON.parse(stdout.replace('ready', '')) as KeepResult[])
}

test('of ten processes that store another text under one name, one wins and the others get an error', async () => {
  const texts = Array.from({ length: 10 }, (_, n) => `text ${n}`)
  const told = await startRace(texts)
  for (let n = 0; n < 20; n++) {
    const outcomes = told.map((one) => one[n]!)
    const winners = texts.filter((_, who) => !outcomes[who]!.failed)
    expect(outcomes.filter(({ message }) => message?.includes('holds another text'))).toHaveLength(9)
    const path = join(folder, 'seat_1', briefs()[n]!)
    expect([readBrief(path, SIGNING_KEY)]).toMatchObject(winners.map((body) => ({ verdict: 'genuine', body })))
  }
  expect(names()).toHaveLength(20)
})

test('ten processes that store the same brief all succeed', async () => {
  const told = await startRace(Array(10).fill('the same'))
  expect(told.flat().filter(({ failed }) => failed)).toEqual([])
  expect([told.flat().length, names().length]).toEqual([200, 20])
})

const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' }).status === 0

test.skipIf(!canMount)('a full disk is reported, leaves nothing partial, and works again with free space', () => {
  const script = 'mount -t tmpfs -o size=3m none "$1" && "$2" "$3" fill "$1" >&3 && cp -r "$1/seat_1" "$4"'
  const copy = join(dirname(bundle), 'copy')
  const args = ['-rm', 'sh', '-c', script, 'sh', folder, process.execPath, bundle, copy]
  const done = spawnSync('unshare', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  expect(done.stderr).toBe('')
  const { full, kept, after } = JSON.parse(done.output[3] as unknown as string) as {
    full: object
    kept: number
    after: object
  }
  expect(full).toMatchObject({ failed: true, name: 'BatonError', hint: expect.stringContaining('Free some space') })
  expect(kept).toBeGreaterThan(3)
  expect(after).toEqual({ failed: false })
  const there = readdirSync(copy).sort()
  expect(there).toEqual(Array.from({ length: kept + 1 }, (_, n) => `000${n + 1}-brief_${n + 1}.md`))
  for (const name of there) expect(readBrief(join(copy, name), SIGNING_KEY).verdict).toBe('genuine')
})

test('a folder that is not writable is reported and not changed', () => {
  const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  chmodSync(folder, 0o755)
  const place = join(folder, 'briefs')
  mkdirSync(place)
  if (other.uid !== undefined) chownSync(place, other.uid, other.gid)
  chmodSync(place, 0o500)
  const run = spawnSync(process.execPath, [bundle, 'once', place], { ...other, encoding: 'utf8' })
  expect(run.stderr).toBe('')
  expect(JSON.parse(run.stdout)).toMatchObject({
    failed: true,
    name: 'BatonError',
    hint: expect.stringContaining('owner and mode'),
  })
  expect([readdirSync(place), statSync(place).mode & 0o777]).toEqual([[], 0o500])
  chmodSync(place, 0o700)
  const again = spawnSync(process.execPath, [bundle, 'once', place], { ...other, encoding: 'utf8' })
  expect(JSON.parse(again.stdout)).toEqual({ failed: false })
  expect(existsSync(join(place, 'seat_1', '0001-brief_1.md'))).toBe(true)
  expect(readFileSync(join(place, 'seat_1', '0001-brief_1.md'), 'utf8')).toContain('short')
})

test.skipIf(process.getuid?.() !== 0)('a file of another user is reported as unreadable, not as missing', () => {
  chmodSync(folder, 0o755)
  const file = join(folder, 'brief.md')
  writeFileSync(file, 'secret', { mode: 0o600 })
  const run = spawnSync(process.execPath, [bundle, 'accept', file], { uid: 65_534, gid: 65_534, encoding: 'utf8' })
  expect(JSON.parse(run.stdout)).toEqual({ refused: 'unreadable', reason: expect.stringContaining(file) })
})
