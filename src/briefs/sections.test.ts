import { expect, test } from 'vitest'
import { SECTIONS, SECTIONS_BY_IMPORTANCE, sectionOfHeading } from './sections.js'

test('each title means its own section', () => {
  expect(SECTIONS.map(({ title }) => sectionOfHeading(title))).toEqual(SECTIONS.map(({ name }) => name))
})

test('every section is ranked by need exactly once', () => {
  expect([...SECTIONS_BY_IMPORTANCE].sort()).toEqual(SECTIONS.map(({ name }) => name).sort())
})

test.each([
  ['Next steps', 'next'],
  ['**TODO**', 'next'],
  ['Where things stand', 'state'],
  ['Failed attempts and dead ends', 'failed'],
  ['Modified files', 'files'],
  ['User constraints (verbatim)', 'constraints'],
  ['Decisions made, and why', 'decisions'],
  ["User's last request", 'request'],
  ['How to run the tests', 'verify'],
  ['Offene Fragen', 'questions'],
  ['次のステップ', 'next'],
  ['Geänderte Dateien', 'files'],
])('the heading %s means the section %s', (heading, name) => {
  expect(sectionOfHeading(heading)).toBe(name)
})

test('a heading about something else means no section', () => {
  expect(sectionOfHeading('Notes')).toBeNull()
  expect(sectionOfHeading('Architecture of the parser')).toBeNull()
})
