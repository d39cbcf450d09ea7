import { expect, test } from 'vitest'
import { aFact } from '../testing/sample-fact.js'
import { factsOfBrief } from './brief-facts.js'
import { completeBrief } from './complete-brief.js'
import { writeBriefByCode } from './mechanical-brief.js'

const listFacts = (body: string): string[] => factsOfBrief(body).map(({ kind, text }) => `${kind}: ${text}`)

test('constraints, decisions, next steps and open questions of a brief are facts, one per item or paragraph', () => {
  const body = `# Handoff brief

## Goal and why
Fix the login.

## Next exact step
Run the tests of src/login.ts
and read what they print.

- [x] write the form
- [ ] move the button

## Decisions
1. UIKit instead of SwiftUI, because of iOS 12.

## Open questions
- Which port?

## Constraints from the user
* Never touch legacy/a.ts.
* Keep the public API.
`
  expect(listFacts(body)).toEqual([
    'todo: Run the tests of src/login.ts and read what they print.',
    'todo: move the button',
    'decision: UIKit instead of SwiftUI, because of iOS 12.',
    'question: Which port?',
    'constraint: Never touch legacy/a.ts.',
    'constraint: Keep the public API.',
  ])
  expect(factsOfBrief(body).filter(({ kind }) => kind === 'constraint')).toMatchObject([
    { state: 'forbidden', line: 0, detail: { handed: true } },
    { state: 'required', line: 0, detail: { handed: true } },
  ])
})

test('sections that Baton appended count like the brief itself', () => {
  const missing = [
    { kind: 'constraint' as const, text: 'Never push.' },
    { kind: 'todo' as const, text: 'Write the docs.' },
    { kind: 'file' as const, text: 'src/a.ts' },
  ]
  const body = completeBrief('# Handoff brief\n\n## Goal\nIt.\n', { score: 0, missing, unsupported: [], byKind: {} })
  expect(listFacts(body)).toEqual(['constraint: Never push.', 'todo: Write the docs.'])
})

test("notes of Baton behind the facts it appended are no facts of the session's user", () => {
  const missing = Array.from({ length: 500 }, (_, i) => ({
    kind: 'constraint' as const,
    text: `Rule ${i} ${'x'.repeat(80)}`,
  }))
  const body = completeBrief('# Handoff brief\n\n## Goal\nIt.\n', {
    score: 0,
    missing,
    unsupported: ['~148k tokens', 'file: src/x.ts'],
    byKind: {},
  })
  expect(body).toContain('148k')
  expect(listFacts(body).length).toBeGreaterThan(30)
  expect(listFacts(body).filter((fact) => !fact.startsWith('constraint: Rule '))).toEqual([])
})

test('a next step of a stored brief loses the marks that this and earlier versions put behind it', () => {
  const marks = [
    'in progress',
    'from the previous brief; may be done',
    'was being worked on',
    'from the brief before; it may be done',
  ]
  const body = `# Handoff brief\n\n## Next exact step\n${marks.map((mark, i) => `- Step ${i} (${mark})`).join('\n')}\n`
  expect(listFacts(body)).toEqual(marks.map((_, i) => `todo: Step ${i}`))
})

test('a brief written by code gives back its facts, and none for sections that say nothing', () => {
  const facts = [
    aFact('request', 'Fix the login.', { detail: { last: true } }),
    aFact('constraint', 'Never push.', { state: 'forbidden' }),
    aFact('question', 'Which port?', { state: 'open', detail: { by: 'agent' } }),
  ]
  expect(listFacts(writeBriefByCode(facts, null))).toEqual(['question: Which port?', 'constraint: Never push.'])
  expect(listFacts(writeBriefByCode([], null))).toEqual([])
})

test('a finding that Baton added to a brief binds the next session, so that it reaches the one after it', () => {
  const missing = [{ kind: 'finding' as const, text: 'load.sh has run and must not run again' }]
  const body = completeBrief('# Handoff brief', { score: 0, missing, unsupported: [], byKind: {} })
  expect(factsOfBrief(body)).toMatchObject([{ ...missing[0], state: null, detail: { handed: true } }])
})
