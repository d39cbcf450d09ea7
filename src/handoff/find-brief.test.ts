import { expect, test } from 'vitest'
import { findBrief } from './find-brief.js'

const BODY = '\n\n## State\nTwo tests fail.\n\n## Next exact step\nFix them.'

test.each([
  ['# Handoff brief'],
  ['### Handoff Brief'],
  ['# HANDOFF BRIEF'],
  ['#Handoff brief'],
  ['## **Handoff brief**'],
  ['**Handoff brief**'],
  ['**Handoff brief:**'],
  ['# Handoff brief: the export'],
  ['# Handoff brief (session 3)'],
  ['# 🤝 Handoff brief — seat main'],
  ['# Handoff-brief'],
  ['# Handoff brief for the export'],
  ['# Handoff brief 3'],
  ['## Updated handoff brief'],
  ['Handoff brief\n============='],
])('begins with %j', (title) => {
  expect(findBrief(`${title}${BODY}`)).toBe(`${title}${BODY}`)
  expect(findBrief(`I am done with the step.\r\n\r\n${title}${BODY}\n\n`)).toBe(`${title}${BODY}`)
})

test('a fence round it is taken off, also with code in fences inside', () => {
  const inner = `# Handoff brief${BODY}\n\n\`\`\`bash\nnpm test\n\`\`\`\n\n## Done\nAll else.`
  for (const fence of ['```', '````', '~~~']) {
    expect(findBrief(`Here:\n${fence}markdown\n${inner}\n${fence}\nBye.`)).toBe(inner)
  }
})

test('a bare fence inside a fence of the same length does not end it', () => {
  const inner = `# Handoff brief${BODY}\n\n\`\`\`\nnpm test\n\`\`\`\n\n## Done\nAll else.`
  expect(findBrief(`\`\`\`\n${inner}\n\`\`\`\nBye.`)).toBe(inner)
})

test('code that follows the fence does not belong to it', () => {
  const inner = `# Handoff brief${BODY}`
  expect(findBrief(`\`\`\`md\n${inner}\n\`\`\`\nTry:\n\`\`\`bash\nls\n\`\`\`\n`)).toBe(inner)
})

test('a fence that was never closed ends with the answer', () => {
  expect(findBrief(`\`\`\`md\n# Handoff brief${BODY}`)).toBe(`# Handoff brief${BODY}`)
})

test('of a quoted template and the brief after it, the brief is meant', () => {
  const answer = `You asked for:\n\`\`\`\n# Handoff brief\n## State\n(where it stands)\n\`\`\`\nHere it is.\n\n# Handoff brief${BODY}`
  expect(findBrief(answer)).toBe(`# Handoff brief${BODY}`)
})

test.each([
  [''],
  ['I will write the handoff brief after this step.'],
  ['You want `# Handoff brief` as the first line; first I run the tests.'],
  ['# Handoff brief'],
  ['# Handoff brief\n\n## State\n\n## Done\n'],
  ['# Handoff brief\n\nI will write it once the tests pass.'],
  ['## About the handoff brief\n\nIt has eleven sections.'],
  ['# Handoff brief format\n\n## State\nis where the work stands'],
  ['> # Handoff brief\n>\n> ## State\n> of the session before'],
  ['The handoff brief\n\n## State\nall fine'],
  ['# Handoff briefs are written at the end\n\n## State\nx'],
])('%j holds none', (answer) => {
  expect(findBrief(answer)).toBeNull()
})

test('one without sections is a brief if it says enough', () => {
  const prose = 'The export is sorted and committed, the retry still waits a constant time. '.repeat(4)
  expect(findBrief(`# Handoff brief\n\n${prose}`)).not.toBeNull()
})

test('a megabyte of headings and fences is read in no time', () => {
  const long = '# Handoff brief\n```\n**x**\n'.repeat(400)
  expect(findBrief(`${long}${'a '.repeat(400_000)}`)).not.toBeNull()
  expect(findBrief(`#${' '.repeat(500_000)}x`)).toBeNull()
})
