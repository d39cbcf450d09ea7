import { expect, test } from 'vitest'
import { briefSkill } from './brief-skill.js'
import { findBrief } from './find-brief.js'
import { BRIEF_TITLE, SECTIONS } from './sections.js'

test('the skill names every section of a brief, its title and both ways to submit it', () => {
  const text = briefSkill()
  for (const { title } of SECTIONS) expect(text).toContain(`**${title}**`)
  expect(text).toContain(`# ${BRIEF_TITLE}`)
  expect(text).toContain('baton handoff <file>')
  expect(text.length).toBeLessThan(5_000)
})

test('the skill has the front matter the client expects, and is not mistaken for a brief', () => {
  expect(briefSkill()).toMatch(/^---\nname: brief\ndescription: .{20,400}\n---\n/)
  expect(findBrief(briefSkill())).toBeNull()
})

test('the description of the skill, which is in every request, does not look like a brief request', () => {
  const description = /^description: (.*)$/m.exec(briefSkill())![1]!
  expect(description).not.toMatch(/\[baton\]|handoff brief/i)
})
