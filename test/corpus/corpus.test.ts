import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { build, type Scenario } from './build/day.js'
import { type Shapes, strange } from './build/shape.js'
import { folderOf, load, type Part } from './load.js'
import { score } from './score.js'

const PARTS: Part[] = ['seen', 'unseen']
const shapes: Shapes = JSON.parse(readFileSync(new URL('./build/shapes.json', import.meta.url), 'utf8'))
const names = (part: Part): string[] =>
  readdirSync(folderOf(part)).flatMap((name) =>
    name.endsWith('.scenario.ts') ? [name.slice(0, -'.scenario.ts'.length)] : [],
  )

async function scenario(part: Part, name: string): Promise<Scenario> {
  const file = path.join(folderOf(part), `${name}.scenario.ts`)
  return (await import(pathToFileURL(file).href)).default
}

describe.each(PARTS)('%s', (part) => {
  test.each(names(part))('the scenario %s rebuilds its transcript byte for byte', async (name) => {
    const { jsonl, labels } = build(await scenario(part, name))
    const sheet = `${JSON.stringify(labels, null, 2)}\n`
    const file = path.join(folderOf(part), name)
    // After a change to a scenario, run this once with BATON_CORPUS_WRITE=1.
    if (process.env.BATON_CORPUS_WRITE === '1') {
      writeFileSync(`${file}.jsonl`, jsonl)
      writeFileSync(`${file}.labels.json`, sheet)
    }
    expect(labels.name).toBe(name)
    expect(readFileSync(`${file}.jsonl`, 'utf8')).toBe(jsonl)
    expect(readFileSync(`${file}.labels.json`, 'utf8')).toBe(sheet)
  })

  test.each(names(part))('the transcript %s has the shape of the client’s transcripts', (name) => {
    const file = path.join(folderOf(part), `${name}.jsonl`)
    expect(strange(readFileSync(file, 'utf8'), shapes)).toEqual([])
  })

  test('every transcript has a scenario and labels that point into it', () => {
    for (const { name, file, labels } of load(part)) {
      expect(existsSync(path.join(folderOf(part), `${name}.scenario.ts`)), name).toBe(true)
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
      for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
      for (const fact of labels.facts) {
        expect(fact.line, `${name}: ${fact.text}`).toBeGreaterThanOrEqual(1)
        expect(fact.line, `${name}: ${fact.text}`).toBeLessThanOrEqual(lines.length)
      }
      expect(labels.facts.filter(({ kind }) => kind === 'request').length, name).toBeGreaterThan(0)
    }
  })
})

describe.each(PARTS.flatMap((part) => load(part).map((one) => [one.name, one] as const)))(
  '%s',
  (_, { file, labels }) => {
    test('parents and calls in the transcript come before the lines that refer to them', () => {
      const seen = new Set<unknown>([null])
      for (const text of readFileSync(file, 'utf8').trimEnd().split('\n')) {
        const line = JSON.parse(text)
        if ('parentUuid' in line) expect(seen).toContain(line.parentUuid)
        const blocks = Array.isArray(line.message?.content) ? line.message.content : []
        for (const block of blocks) {
          if (block.type === 'tool_use') seen.add(block.id)
          if (line.type === 'user' && block.type === 'tool_result') expect(seen).toContain(block.tool_use_id)
        }
        if (line.uuid) seen.add(line.uuid)
      }
    })

    test('the transcript’s labels score as correct facts and its decoys as wrong ones', () => {
      const facts = labels.facts.map((label) => ({ ...label, detail: {} }))
      for (const one of score(labels, facts))
        expect([one.recall ?? 1, one.precision ?? 1, one.kind]).toEqual([1, 1, one.kind])
      for (const decoy of labels.decoys) {
        const told = score(labels, [
          { kind: decoy.kind, text: decoy.text, state: decoy.kind === 'file' ? 'changed' : null, line: 1 },
        ])
        expect(
          told.flatMap(({ wrong }) => wrong).map(({ why }) => why),
          decoy.text,
        ).toEqual(['decoy'])
      }
    })
  },
)

test('a third of the corpus is unseen, most of it is English, and no two transcripts share a session', () => {
  const [seen, unseen] = [load('seen'), load('unseen')]
  expect(seen.length).toBeGreaterThanOrEqual(18)
  expect(unseen.length * 2).toBeGreaterThanOrEqual(seen.length)
  const all = [...seen, ...unseen]
  expect(all.filter(({ labels }) => labels.language === 'en').length).toBeGreaterThanOrEqual(17)
  expect(new Set(all.map(({ labels }) => labels.language)).size).toBeGreaterThanOrEqual(7)
  const sessions = all.map(({ file }) => JSON.parse(readFileSync(file, 'utf8').split('\n', 1)[0]!).sessionId)
  expect(new Set(sessions).size).toBe(all.length)
})
