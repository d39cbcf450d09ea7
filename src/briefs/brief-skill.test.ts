import { expect, test } from 'vitest'
import { briefSkill } from './brief-skill.js'
import { findBrief } from './find-brief.js'
import { SECTIONS, TITLE } from './sections.js'

test('names every section the check knows, the title and both ways to give it', () => {
  const text = briefSkill()
  for (const { title } of SECTIONS) expect(text).toContain(`**${title}**`)
  expect(text).toContain(`# ${TITLE}`)
  expect(text).toContain('baton handoff <file>')
  expect(text.length).toBeLessThan(5_000)
})

test('begins as the client wants a skill to begin, and is not taken for a brief itself', () => {
  expect(briefSkill()).toMatch(/^---\nname: brief\ndescription: .{20,400}\n---\n/)
  expect(findBrief(briefSkill())).toBeNull()
})

test('is described in words that no request for a brief is known by: the description travels with every request', () => {
  const description = /^description: (.*)$/m.exec(briefSkill())![1]!
  expect(description).not.toMatch(/\[baton\]|handoff brief/i)
})
