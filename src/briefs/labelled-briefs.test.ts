import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { load } from '../../test/corpus/load.js'
import { readConversation } from '../agents/claude-code/conversation.js'
import type { Fact } from '../contract/fact.js'
import type { Coverage } from '../contract/records/brief.js'
import { startFacts } from '../facts/facts.js'
import { checkBrief, factText } from './check-brief.js'
import { completeBrief } from './complete-brief.js'
import { findBrief } from './find-brief.js'
import { withoutFrontMatter } from './front-matter.js'
import { neededFacts } from './needed-facts.js'
import type { TokenReading } from './token-figures.js'

interface Label {
  name: string
  session: string
  found: boolean
  missing: Coverage['missing']
  unsupported: string[]
}

/** Allowed number of facts wrongly reported as missing. Raise it only with a reason. */
const FALSE_ALARMS = 0

const folder = fileURLToPath(new URL('../../test/corpus/briefs/', import.meta.url))
const labels: Label[] = JSON.parse(readFileSync(`${folder}labels.json`, 'utf8'))
const answer = (name: string): string => readFileSync(`${folder}${name}.md`, 'utf8')
const session = (name: string): { facts: Fact[]; readings: TokenReading[] } =>
  JSON.parse(readFileSync(`${folder}sessions/${name}.json`, 'utf8'))
const check = (label: Label): Coverage => {
  const { facts, readings } = session(label.session)
  return checkBrief(withoutFrontMatter(findBrief(answer(label.name)) ?? ''), facts, readings)
}
const key = ({ kind, text }: { kind: string; text: string }): string => `${kind} ${text}`
const real = labels.filter(({ found }) => found)

test('the corpus has enough briefs of every kind, and each has a label', () => {
  expect(labels.length).toBeGreaterThanOrEqual(24)
  const omitted = new Set(labels.flatMap(({ missing }) => missing.map(({ kind }) => kind)))
  expect([...omitted].sort()).toEqual(
    ['branch', 'command', 'commit', 'constraint', 'decision', 'file', 'question', 'request', 'test', 'todo'].sort(),
  )
  const files = readdirSync(folder).flatMap((name) => (/^(?!README).*\.md$/.test(name) ? [name.slice(0, -3)] : []))
  expect(files.filter((name) => name !== 'vague').sort()).toEqual(labels.map(({ name }) => name).sort())
})

test.each(labels.map(({ name, found }) => [name, found] as const))(
  '%s: the answer contains a brief: %s',
  (name, found) => {
    expect(findBrief(answer(name)) !== null).toBe(found)
  },
)

describe.each(real.map((label) => [label.name, label] as const))('%s', (_, label) => {
  test('every planted omission is found, and nothing else', () => {
    const missing = check(label).missing.map(key)
    expect(missing).toEqual(expect.arrayContaining(label.missing.map(key)))
    const planted = new Set(label.missing.map(key))
    expect(missing.filter((one) => !planted.has(one)).slice(FALSE_ALARMS)).toEqual([])
  })

  test('unsupported statements are reported as written, and nothing else', () => {
    expect(check(label).unsupported.sort()).toEqual([...label.unsupported].sort())
  })

  test('the completed brief lacks nothing', () => {
    const { facts, readings } = session(label.session)
    const completed = completeBrief(findBrief(answer(label.name))!, check(label))
    expect(checkBrief(completed, facts, readings).missing).toEqual([])
  })
})

test('a brief with an omission scores lower than the complete one of its session', () => {
  const complete = new Map(
    real.filter(({ missing }) => missing.length === 0).map((label) => [label.session, check(label).score]),
  )
  for (const label of real) {
    const { score } = check(label)
    if (label.missing.length > 0) expect(score, label.name).toBeLessThan(complete.get(label.session)!)
    else expect(score, label.name).toBe(1)
  }
})

test('a vague brief covers almost nothing', () => {
  const { facts, readings } = session('invoices')
  const { score, missing } = checkBrief(findBrief(answer('vague'))!, facts, readings)
  expect(score).toBeLessThan(0.1)
  expect(missing.length).toBeGreaterThanOrEqual(neededFacts(facts).length - 1)
  expect(missing[0]?.kind).toBe('request')
})

test('in transcripts of all kinds, any single omitted fact is found', () => {
  const undetected: string[] = []
  let planted = 0
  for (const { name, file } of load('seen')) {
    const collected = startFacts()
    readConversation(file, { withoutFiles: true, onEntry: collected.add })
    const all = collected.facts()
    const needed = neededFacts(all).map(({ fact }) => fact)
    for (const fact of needed) {
      const others = needed.filter((one) => one !== fact)
      // A constraint may be part of a quoted request, and then nothing is missing.
      if (others.some(({ text }) => text.includes(fact.text))) continue
      planted++
      const body = `# Handoff brief\n\n${others.map(({ text }) => `- ${text.replace(/\s+/g, ' ')}`).join('\n')}`
      const missing = checkBrief(body, all, []).missing.map(({ text }) => text)
      if (!missing.includes(factText(fact))) undetected.push(`${name}: ${fact.kind} ${fact.text}`)
      expect(missing.filter((text) => text !== factText(fact))).toEqual([])
    }
  }
  expect(planted).toBeGreaterThan(150)
  expect(undetected.length / planted, undetected.join('\n')).toBeLessThanOrEqual(0.05)
})

describe('the score never falls when text is added', () => {
  /** Small pseudorandom generator that is the same on every run. */
  const seeded = (seed: number) => (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }

  test.each(['invoices', 'rechnungen', 'batch', 'retry-queue'])(
    'the score rises with facts of %s, in any order and number',
    (name) => {
      const { facts, readings } = session(name)
      const lines = neededFacts(facts).map(({ fact }) => `- ${fact.text.replace(/\s+/g, ' ')}`)
      for (let seed = 1; seed <= 4; seed++) {
        const random = seeded(seed)
        const order = lines.map((line) => ({ line, at: random() })).sort((a, b) => a.at - b.at)
        const said: string[] = []
        let before = checkBrief('# Handoff brief', facts, readings).score
        for (const { line } of order) {
          said.splice(Math.floor(random() * (said.length + 1)), 0, line)
          const { score } = checkBrief(`# Handoff brief\n\n${said.join('\n')}`, facts, readings)
          expect(score, `seed ${seed}: ${line}`).toBeGreaterThanOrEqual(before)
          before = score
        }
        expect(before).toBe(1)
      }
    },
  )

  test('a covered fact added to the session never lowers the score', () => {
    const { facts, readings } = session('invoices')
    const body = findBrief(answer('omits-todo'))!
    const carried = neededFacts(facts).filter(({ fact }) => fact.kind !== 'request')
    for (let seed = 1; seed <= 4; seed++) {
      const random = seeded(seed)
      const some = facts.filter((fact) => fact.kind === 'file' || random() < 0.5)
      const before = checkBrief(body, some, readings).score
      for (const { fact } of carried) {
        if (some.includes(fact) || checkBrief(body, [fact], readings).score < 1) continue
        expect(checkBrief(body, [...some, fact], readings).score, fact.text).toBeGreaterThanOrEqual(before)
      }
    }
  })
})
