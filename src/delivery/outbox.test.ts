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

/** What the launcher does with an event: takes the folder by renaming it, prints, and leaves a mark unless it is killed first. */
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

describe('what is laid', () => {
  test('is there for every event that can carry it, once', () => {
    outbox.store('s1', answersOf(['m1', 'm2']))
    expect(outbox.contains('s1', answersOf(['m1', 'm2']))).toBe(true)
    expect(launch('s1', 'Stop', 1)).toBeNull()
    expect(launch('s1', 'UserPromptSubmit', 2)).toBe('{"for":"prompt"}')
    expect(launch('s1', 'UserPromptSubmit', 3)).toBeNull()
    expect(outbox.contains('s1', answersOf(['m1', 'm2']))).toBe(false)
  })

  test('is for its owner alone', () => {
    outbox.store('s1', answersOf(['m1']))
    const mode = (...path: string[]) => (statSync(join(dir, ...path)).mode & 0o777).toString(8)
    expect([mode(), mode('s1'), mode('s1', 'ids'), mode('s1', 'PostToolBatch')]).toEqual(['700', '700', '600', '600'])
  })

  test('is taken back whole, so that no launcher finds a part of it', () => {
    outbox.store('s1', answersOf(['m1']))
    expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
    expect(names()).toEqual([])
    outbox.store('s1', answersOf(['m1', 'm2']))
    expect(outbox.contains('s1', answersOf(['m1', 'm2']))).toBe(true)
    expect(outbox.contains('s1', answersOf(['m1']))).toBe(false)
  })

  test('of one session says nothing of another, also when its name begins the same', () => {
    outbox.store('s1', answersOf(['m1']))
    outbox.store('s10', answersOf(['m2']))
    launch('s10', 'PostToolBatch', 7)
    expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
    expect(outbox.collect('s10').given).toMatchObject([{ event: 'PostToolBatch', ids: ['m2'] }])
  })
})

describe('what a launcher gave', () => {
  test('is told, by event, until it is forgotten', () => {
    outbox.store('s1', answersOf(['m1', 'm2']))
    launch('s1', 'PostToolBatch', 42)
    const first = outbox.collect('s1')
    expect(first).toMatchObject({ given: [{ event: 'PostToolBatch', ids: ['m1', 'm2'] }], inFlight: [] })
    expect(outbox.collect('s1')).toEqual(first)
    outbox.forget(first.given)
    expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
    expect(names()).toEqual([])
  })

  test('by several launchers is told of each', () => {
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

describe('what a launcher has in its hands', () => {
  test('is not given by anybody else for a moment; after that it was killed, and it is free again', () => {
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

describe('word that a level is near', () => {
  test('lies beside the answers and is taken away again', () => {
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

describe('word that a batch need not wait', () => {
  test('is the figure below which that holds, until hooks have to wait again', () => {
    outbox.markFar('s1', 73_480)
    expect(readFileSync(join(dir, 's1.far'), 'utf8')).toBe('73480\n')
    outbox.markFar('s1', null)
    expect(names()).toEqual([])
    outbox.markFar('s1', 73_480)
    outbox.markNear('s1', ['PostToolBatch'])
    expect(names()).toEqual(['s1.near'])
  })
})

describe('a session id from outside', () => {
  test.each(['../../etc', '/', '...', '', ' \n'])('%j stays inside the outbox and spoils nobody else’s', (id) => {
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
  })

  test('is never an empty name: the launcher calls it unknown too', () => {
    expect(['', '../', 'ä'].map(fileName)).toEqual(['unknown', 'unknown', 'unknown'])
    expect(fileName('0f-A_9')).toBe('0f-A_9')
    const [one, other] = ['a', 'b'].map((end) => fileName('x'.repeat(300) + end))
    expect([one!.length, one === other]).toEqual([120, false])
  })
})

test('an outbox that was never used is empty and is not made by looking', () => {
  expect(outbox.collect('s1')).toEqual({ given: [], inFlight: [] })
  expect(outbox.contains('s1', answersOf(['m1']))).toBe(false)
  expect(existsSync(dir)).toBe(false)
})

test('only the messages of the answer that was given count as given', () => {
  outbox.store('s1', [
    { event: 'PostToolBatch', text: '{"for":"batch"}', ids: ['m2'] },
    { event: 'UserPromptSubmit', text: '{"for":"prompt"}', ids: ['m1', 'm2'] },
  ])
  launch('s1', 'PostToolBatch', 1)
  expect(outbox.collect('s1').given).toMatchObject([{ event: 'PostToolBatch', ids: ['m2'] }])
})
