import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Outbox } from '../contract/outbox.js'
import { fileName, folderOutbox } from './outbox.js'

let folder: string
let dir: string
let outbox: Outbox
let waited: number
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-outbox-'))
  dir = join(folder, 'outbox')
  waited = 0
  outbox = folderOutbox(dir, () => new Date(Date.now() + waited))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ANSWERS = { PostToolBatch: '{"for":"batch"}', UserPromptSubmit: '{"for":"prompt"}' }
const answersOf = (ids: readonly string[]) => Object.entries(ANSWERS).map(([event, text]) => ({ event, text, ids }))
const names = () => (existsSync(dir) ? readdirSync(dir).sort() : [])

/**
 * Acts as the launcher for an event: claims the folder by renaming it, prints, and writes a mark
 * unless it is killed first.
 */
function launch(sessionId: string, event: string, pid: number, killed = false): string | null {
  const out = join(dir, sessionId)
  if (!existsSync(join(out, event))) return null
  const taken = `${out}.taken.${pid}`
  try {
    renameSync(out, taken)
  } catch {
    return null
  }
  const answer = readFileSync(join(taken, event), 'utf8')
  if (!killed) writeFileSync(join(taken, `given.${event}`), '')
  return answer
}

describe('storing answers', () => {
  test('a stored answer is available once for every event that can carry it', () => {
    outbox.store('s1', answersOf(['m1', 'm2']))
    expect(outbox.contains('s1', answersOf(['m1', 'm2']))).toBe(true)
    expect(launch('s1', 'Stop', 1)).toBeNull()
    expect(launch('s1', 'UserPromptSubmit', 2)).toBe('{"for":"prompt"}')
    expect(launch('s1', 'UserPromptSubmit', 3)).toBeNull()
    expect(outbox.contains('s1', answersOf(['m1', 'm2']))).toBe(false)
  })

  test('a stored answer is readable only by its owner', () => {
    outbox.store('s1', answersOf(['m1']))
    const mode = (...path: string[]) => (statSync(join(dir, ...path)).mode & 0o777).toString(8)
    expect([mode(), mode('s1'), mode('s1', 'ids'), mode('s1', 'PostToolBatch')]).toEqual(['700', '700', '600', '600'])
  })

  test('stored answers are withdrawn as a whole, so that no launcher finds a part of them', () => {
    outbox.store('s1', answersOf(['m1']))
    expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
    expect(names()).toEqual([])
    outbox.store('s1', answersOf(['m1', 'm2']))
    expect(outbox.contains('s1', answersOf(['m1', 'm2']))).toBe(true)
    expect(outbox.contains('s1', answersOf(['m1']))).toBe(false)
  })

  test('the answers of one session are independent of another session whose id begins the same', () => {
    outbox.store('s1', answersOf(['m1']))
    outbox.store('s10', answersOf(['m2']))
    launch('s10', 'PostToolBatch', 7)
    expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
    expect(outbox.collect('s10').given).toMatchObject([{ event: 'PostToolBatch', ids: ['m2'] }])
  })
})

describe('delivered answers', () => {
  test('a delivered answer is reported with its event until it is forgotten', () => {
    outbox.store('s1', answersOf(['m1', 'm2']))
    launch('s1', 'PostToolBatch', 42)
    const first = outbox.collect('s1')
    expect(first).toMatchObject({ given: [{ event: 'PostToolBatch', ids: ['m1', 'm2'] }], inFlight: [] })
    expect(outbox.collect('s1')).toEqual(first)
    outbox.forget(first.given)
    expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
    expect(names()).toEqual([])
  })

  test('the answers delivered by several launchers are all reported', () => {
    outbox.store('s1', answersOf(['m1']))
    launch('s1', 'PostToolBatch', 1)
    outbox.store('s1', answersOf(['m2']))
    launch('s1', 'UserPromptSubmit', 2)
    outbox.store('s1', answersOf(['m3']))
    const { given } = outbox.collect('s1')
    expect(given.map(({ event, ids }) => [event, ...ids]).sort()).toEqual([
      ['PostToolBatch', 'm1'],
      ['UserPromptSubmit', 'm2'],
    ])
  })
})

describe('claimed answers', () => {
  test('a claimed answer is in flight for a moment, and free again if its launcher was killed', () => {
    outbox.store('s1', answersOf(['m1']))
    launch('s1', 'PostToolBatch', 42, true)
    expect(outbox.collect('s1')).toEqual({ given: [], inFlight: ['m1'] })
    waited = 2_000
    expect(outbox.collect('s1').inFlight).toEqual(['m1'])
    waited = 4_000
    expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
    expect(names()).toEqual([])
  })
})

describe('the mark of a near level', () => {
  test('what is no file in place of a mark is replaced', () => {
    for (const name of ['s1.near', 's1.far']) mkdirSync(join(dir, name), { recursive: true })
    outbox.markFar('s1', { below: 10, level: 20 })
    outbox.markNear('s1', ['Stop'])
    expect(readFileSync(join(dir, 's1.near'), 'utf8')).toBe('Stop\n')
    expect(names()).toEqual(['s1.near'])
  })

  test('the mark of a near level is stored beside the answers and removed again', () => {
    outbox.markNear('s1', ['PostToolBatch'])
    outbox.markNear('s1', ['PostToolBatch'])
    outbox.store('s1', answersOf(['m1']))
    expect(readFileSync(join(dir, 's1.near'), 'utf8')).toBe('PostToolBatch\n')
    outbox.collect('s1')
    expect(names()).toEqual(['s1.near'])
    outbox.markNear('s1', [])
    outbox.markNear('s2', [])
    expect(names()).toEqual([])
  })
})

describe('the mark that a batch need not wait', () => {
  test('the figure below which a batch need not wait is stored until hooks have to wait again', () => {
    const far = (): string => readFileSync(join(dir, 's1.far'), 'utf8')
    outbox.markFar('s1', { below: 73_480, level: 83_500 })
    const first = far()
    expect(first).toMatch(/^73480 \d{10} 83500\n$/)
    waited = 2_000
    outbox.markFar('s1', { below: 73_480, level: 83_500 })
    expect(far()).toBe(first)
    waited = 8_000
    outbox.markFar('s1', { below: 73_480, level: 83_500 })
    expect(Number(far().split(' ')[1])).toBeGreaterThan(Number(first.split(' ')[1]))
    writeFileSync(join(dir, 's1.batch'), '')
    outbox.markFar('s1', null)
    expect(names()).toEqual([])
    outbox.markFar('s1', { below: 73_480, level: 83_500 })
    outbox.markNear('s1', ['PostToolBatch'])
    expect(names()).toEqual(['s1.near'])
  })
})

describe('a session id from outside', () => {
  test.each(['../../etc', '/', '...', '', ' \n'])(
    'the session id %j stays inside the outbox and affects no other session',
    (id) => {
      mkdirSync(join(folder, 'etc'))
      outbox.store('s1', answersOf(['m1']))
      outbox.markNear(id, ['PostToolBatch', 'Stop'])
      outbox.store(id, answersOf(['m2']))
      expect(outbox.contains(id, answersOf(['m2']))).toBe(true)
      outbox.collect(id)
      outbox.markNear(id, [])
      expect(outbox.contains('s1', answersOf(['m1']))).toBe(true)
      expect(names()).toEqual(['s1'])
      expect(readdirSync(folder).sort()).toEqual(['etc', 'outbox'])
    },
  )

  test('a session id never becomes an empty name: like the launcher, the outbox calls it unknown', () => {
    expect(['', '../', 'ä'].map(fileName)).toEqual(['unknown', 'unknown', 'unknown'])
    expect(fileName('0f-A_9')).toBe('0f-A_9')
    const [one, other] = ['a', 'b'].map((end) => fileName('x'.repeat(300) + end))
    expect([one!.length, one === other]).toEqual([120, false])
  })
})

test('an unused outbox is empty, and reading it does not create it', () => {
  expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
  expect(outbox.contains('s1', answersOf(['m1']))).toBe(false)
  expect(existsSync(dir)).toBe(false)
})

test('only the messages of the delivered answer count as delivered', () => {
  outbox.store('s1', [
    { event: 'PostToolBatch', text: '{"for":"batch"}', ids: ['m2'] },
    { event: 'UserPromptSubmit', text: '{"for":"prompt"}', ids: ['m1', 'm2'] },
  ])
  launch('s1', 'PostToolBatch', 1)
  expect(outbox.collect('s1').given).toMatchObject([{ event: 'PostToolBatch', ids: ['m2'] }])
})
