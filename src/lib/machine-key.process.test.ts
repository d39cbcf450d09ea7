import { spawn } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BatonError } from './errors.js'
import { machineKey } from './machine-key.js'

let root: string
let file: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-key-'))
  file = join(root, 'home', 'key')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

function readRefusal(): BatonError {
  try {
    machineKey(file)
  } catch (error) {
    expect(error).toBeInstanceOf(BatonError)
    return error as BatonError
  }
  throw new Error('the key was not refused')
}

describe('the key of a machine', () => {
  test('the machine key has 32 bytes, never changes, and differs between machines', () => {
    const key = machineKey(file)
    expect(key).toHaveLength(32)
    expect(machineKey(file)).toEqual(key)
    expect(machineKey(join(root, 'other', 'key'))).not.toEqual(key)
    expect(readdirSync(join(root, 'home'))).toEqual(['key'])
  })

  test.each([0o000, 0o077, 0o777])('the machine key has mode 0600 under umask %o', (umask) => {
    const before = process.umask(umask)
    try {
      machineKey(file)
    } finally {
      process.umask(before)
    }
    expect([modeOf(file), modeOf(join(root, 'home'))]).toEqual(['600', '700'])
  })

  test('creating the key keeps the mode of an existing folder and closes a key that others could read', () => {
    mkdirSync(join(root, 'home'))
    chmodSync(join(root, 'home'), 0o755)
    const key = machineKey(file)
    chmodSync(file, 0o644)
    expect(machineKey(file)).toEqual(key)
    expect([modeOf(file), modeOf(join(root, 'home'))]).toEqual(['600', '755'])
  })

  test('the machine key may be behind a link, also before it exists', () => {
    mkdirSync(join(root, 'home'))
    symlinkSync('../elsewhere', file)
    const key = machineKey(file)
    expect(machineKey(join(root, 'elsewhere'))).toEqual(key)
  })

  test.each([
    ['empty', Buffer.alloc(0)],
    ['too short', Buffer.from('ab'.repeat(31))],
    ['too long', Buffer.from('ab'.repeat(33))],
    ['zeros, as a power cut may leave it', Buffer.alloc(65)],
    ['something else', Buffer.from('this is no key, but it is as long as one would have to be, here\n')],
  ])('a key file that is %s is reported as damaged and left unchanged', (_, bytes) => {
    mkdirSync(join(root, 'home'))
    writeFileSync(file, bytes)
    const error = readRefusal()
    expect(error.message).toContain(file)
    expect(error.message).toContain('damaged')
    expect(error.hint).toMatch(/backup.*\bmv .*no longer trusts/)
    expect(readFileSync(file)).toEqual(bytes)
    expect(readdirSync(join(root, 'home'))).toEqual(['key'])
  })

  test('a folder in place of the key, or a file in place of its folder, is reported', () => {
    mkdirSync(file, { recursive: true })
    expect(readRefusal().message).toContain('cannot be read')
    writeFileSync(join(root, 'flat'), '')
    file = join(root, 'flat', 'key')
    expect(readRefusal().message).toContain(file)
  })
})

test('twenty processes that create a key at the same moment get the same key, thirty times in a row', async () => {
  const bundle = join(root, 'key.mjs')
  const entry = new URL('machine-key.ts', import.meta.url).pathname
  await build({
    entryPoints: [entry],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  const ask = `import { readFileSync } from 'node:fs'
    import { machineKey } from ${JSON.stringify(bundle)}
    process.stdout.write('ready ')
    const start = Number(readFileSync(0, 'utf8'))
    const asleep = new Int32Array(new SharedArrayBuffer(4))
    const keys = Array.from({ length: 30 }, (_, n) => {
      Atomics.wait(asleep, 0, 0, Math.max(0, start + n * 30 - Date.now()))
      return machineKey(${JSON.stringify(join(root, 'home'))} + n + '/key').toString('hex')
    })
    process.stdout.write(keys.join(' '))`
  const children = Array.from({ length: 20 }, () => spawn(process.execPath, ['--input-type=module', '-e', ask]))
  const ready = children.map((child) => new Promise((resolve) => child.stdout.once('data', resolve)))
  const ended = children.map(async (child) => {
    let said = ''
    child.stdout.on('data', (chunk) => (said += chunk))
    child.stderr.on('data', (chunk) => (said += chunk))
    await new Promise((done) => child.on('close', done))
    return said
  })
  await Promise.all(ready)
  for (const child of children) child.stdin.end(String(Date.now() + 100))
  const files = Array.from({ length: 30 }, (_, n) => join(root, `home${n}`, 'key'))
  const said = new Set(await Promise.all(ended))
  const keys = files.map((one) => machineKey(one).toString('hex'))
  expect([...said]).toEqual([`ready ${keys.join(' ')}`])
  expect(new Set(keys).size).toBe(30)
  for (const one of files) expect(readdirSync(dirname(one))).toEqual(['key'])
})
