import { expect, test } from 'vitest'
import type { Coverage } from '../contract/records/brief.js'
import { completeBrief, withoutHashComment } from './complete-brief.js'

const BODY = '# Handoff brief\n\n## State\nfine\n'
const coverage = (change: Partial<Coverage>): Coverage => ({
  score: 0.5,
  missing: [],
  unsupported: [],
  byKind: {},
  ...change,
})
const missing: Coverage['missing'] = [
  { kind: 'request', text: 'Fix it.\nThen push.' },
  { kind: 'constraint', text: 'no Redis' },
  { kind: 'file', text: 'src/a.ts' },
  { kind: 'constraint', text: 'never\npush' },
]

test('a complete brief stays unchanged', () => {
  expect(completeBrief(BODY, coverage({}))).toBe(BODY)
})

test('missing facts are appended by kind, marked as added by code', () => {
  const text = completeBrief(BODY, coverage({ missing }))
  expect(text.startsWith(BODY.trimEnd())).toBe(true)
  const added = text.slice(BODY.length)
  expect(added).toContain('## Added by Baton\n')
  const intro = added.slice(0, added.indexOf('###'))
  for (const word of [/\bcode\b/i, /\btranscript\b/, /without a model|not by a model/]) expect(intro).toMatch(word)
  expect(added).toContain('> Fix it.\n> Then push.')
  expect(added).toContain('### Required or forbidden by the user\n\n- no Redis\n- never push\n')
  expect(added).toContain('### Files changed\n\n- src/a.ts')
})

test('unsupported figures and files are named in a note', () => {
  const text = completeBrief(BODY, coverage({ unsupported: ['~148k tokens', '89 %', 'file: src/x.ts'] }))
  expect(text).toMatch(/reading.*: ~148k tokens; 89 %\n/)
  expect(text).toMatch(/files.*: src\/x\.ts\n/)
})

test('completing a brief twice adds nothing, whatever the second check finds', () => {
  const once = completeBrief(BODY, coverage({ missing }))
  expect(completeBrief(once, coverage({ missing }))).toBe(once)
  expect(completeBrief(once, coverage({ missing: missing.slice(1), unsupported: ['1%'] }))).toBe(once)
})

test("a brief is read without the hash comment of Baton's section, and keeps comments of its author", () => {
  const own = `${BODY}\n<!-- to be done -->\n## Notes\n<!-- to 0123456789ab -->\nhis own\n`
  const stored = completeBrief(own, coverage({ missing }))
  expect(stored).toMatch(/## Added by Baton\n<!-- to [0-9a-f]{12} -->\n/)
  const read = withoutHashComment(stored)
  expect(read).toMatch(/## Added by Baton\n\n\p{L}/u)
  expect(read).toContain(own.trimEnd())
})

test("a section copied from an earlier brief does not count as the brief's own", () => {
  const earlier = completeBrief(BODY, coverage({ missing }))
  const copied = `${earlier.replace('fine', 'other work')}`
  const text = completeBrief(copied, coverage({ missing: [{ kind: 'todo', text: 'the new one' }] }))
  expect(text).toContain('- the new one')
  expect(completeBrief(text, coverage({ missing }))).toBe(text)
})

test('a long list of missing facts is cut, and the omitted ones are counted', () => {
  const many: Coverage['missing'] = Array.from({ length: 500 }, (_, i) => ({
    kind: 'file',
    text: `src/${'deep/'.repeat(10)}${i}.ts`,
  }))
  const text = completeBrief(BODY, coverage({ missing: [{ kind: 'request', text: 'x'.repeat(50_000) }, ...many] }))
  expect(text.length).toBeLessThan(BODY.length + 9_000)
  const told = text.match(/^- src/gm)!.length
  expect(text).toContain(`(${500 - told} more `)
  expect(text).toMatch(/cut here: .*\b47000\b/)
})
