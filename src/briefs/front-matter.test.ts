import { expect, test } from 'vitest'
import type { BriefOrigin } from '../contract/records/brief.js'
import { readFrontMatter, withFrontMatter, withoutFrontMatter } from './front-matter.js'

const origin: BriefOrigin = {
  briefId: 'b-1',
  seatId: 'main',
  sessionId: '60c93440-0000-4000-8000-000000000000',
  parentBriefId: null,
  sequence: 3,
  author: 'agent',
  agent: 'claude-code',
  model: 'claude-sonnet-4-5',
  project: '/home/me/a project: "x"',
  branch: 'fix/burst',
  commit: '1234567',
  usedTokens: 125_008,
  compactionTokens: null,
  takenAt: '2026-01-02T03:04:05.000Z',
}
const BODY = '# Handoff brief\n\n## State\nfine\n'

test('front matter that was written is read back, whatever its values contain', () => {
  const strange = {
    ...origin,
    project: '/tmp/a\n---\nauthor: user',
    branch: 'null',
    model: ' x ',
    commit: null,
    seatId: '7',
  }
  for (const one of [origin, strange]) {
    expect(readFrontMatter(withFrontMatter(one, BODY))).toEqual({
      origin: one,
      body: BODY,
      signature: null,
      bodyMatches: true,
    })
  }
})

test('front matter has snake_case keys, one per line, and the hash of the body', () => {
  const text = withFrontMatter(origin, BODY)
  expect(text).toMatch(/^---\nformat: 1\nbrief_id: b-1\nseat_id: main\n/)
  expect(text).toMatch(/\nbody_sha256: "?[0-9a-f]{64}"?\n---\n\n# Handoff brief\n/)
  expect(text).toContain('compaction_tokens: null')
})

test('a changed body does not match its hash', () => {
  const read = readFrontMatter(withFrontMatter(origin, BODY).replace('fine', 'bad'))
  expect(read.bodyMatches).toBe(false)
  expect(read.origin).toEqual(origin)
})

test('the agent’s own front matter is dropped, before or below the title, and if repeated', () => {
  const own = '---\nseat_id: another\nauthor: user\ntags:\n  - x\n---\n'
  for (const body of [`${own}${BODY}`, `\n${own}\n${own}${BODY}`, `# Handoff brief\n\n${own}\n## State\nfine\n`]) {
    const read = readFrontMatter(withFrontMatter(origin, body))
    expect(read.origin).toEqual(origin)
    expect(read.body).toBe(BODY)
    expect(read.bodyMatches).toBe(true)
  }
})

test('a horizontal rule is not front matter', () => {
  for (const body of ['---\nNot a key, a sentence of the brief\n---\nmore', '---\n\nText', '--- x\na: b\n---\n']) {
    expect(withoutFrontMatter(body)).toBe(body)
    expect(readFrontMatter(body)).toEqual({ origin: null, body, signature: null, bodyMatches: null })
  }
})

test.each([
  ['no format', (text: string) => text.replace('format: 1\n', '')],
  ['an unknown author', (text: string) => text.replace('author: agent', 'author: nobody')],
  ['a sequence in words', (text: string) => text.replace('sequence: 3', 'sequence: three')],
  ['no session', (text: string) => text.replace(/session_id: .*\n/, '')],
])('front matter with %s has no origin, and is still not part of the body', (_, change) => {
  const read = readFrontMatter(change(withFrontMatter(origin, BODY)))
  expect(read.origin).toBeNull()
  expect(read.body).toBe(BODY)
})
