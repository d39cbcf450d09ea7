import { expect, test } from 'vitest'
import { readFrontMatter, withFrontMatter } from './front-matter.js'
import { signBrief, verifyBrief } from './sign.js'

const key = Buffer.alloc(32, 7)
const BODY = '# Handoff brief\n\n## State\nfine\n'
const text = withFrontMatter(
  {
    briefId: 'b',
    seatId: 's',
    sessionId: 'i',
    parentBriefId: null,
    sequence: 1,
    author: 'agent',
    agent: 'claude-code',
    model: null,
    project: null,
    branch: null,
    commit: null,
    usedTokens: null,
    compactionTokens: null,
    takenAt: '2026-01-02T03:04:05Z',
  },
  BODY,
)
const signed = signBrief(text, key)

test('a signed brief is genuine, and reads as before', () => {
  expect(verifyBrief(signed, key)).toBe('genuine')
  expect(readFrontMatter(signed)).toEqual({
    ...readFrontMatter(text),
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})

test('signing again changes nothing', () => {
  expect(signBrief(signed, key)).toBe(signed)
})

test('any single changed character is detected', () => {
  for (let at = 0; at < signed.length; at++) {
    const other = `${signed.slice(0, at)}${signed[at] === 'x' ? 'y' : 'x'}${signed.slice(at + 1)}`
    expect(verifyBrief(other, key), `at ${at}`).not.toBe('genuine')
  }
})

test.each([
  ['a line added to the body', `${signed}rm -rf\n`],
  ['a line added to the front matter', signed.replace('sequence: 1', 'sequence: 1\nnote: x')],
  ['a second signature', signed.replace('signature: ', 'signature: 00\nsignature: ')],
  ['an empty signature', signed.replace(/signature: .*/, 'signature: ')],
  ['its signature in another place', signed.replace(/(author: agent)\n([\s\S]*?)(signature: \w+)\n/, '$3\n$1\n$2')],
  ['other line endings', signed.replace(/\n/g, '\r\n')],
  ['a missing blank line', signed.replace('---\n\n#', '---\n#')],
  ['spaces after a rule', signed.replace('\n---\n', '\n--- \n')],
  ['a byte order mark', `\uFEFF${signed}`],
])('a signed brief with %s is tampered', (_, other) => {
  expect(other).not.toBe(signed)
  expect(verifyBrief(other, key)).toBe('tampered')
})

test('another key gives tampered, and no signature gives unsigned', () => {
  expect(verifyBrief(signed, Buffer.alloc(32, 8))).toBe('tampered')
  expect(verifyBrief(text, key)).toBe('unsigned')
  expect(verifyBrief(BODY, key)).toBe('unsigned')
  expect(verifyBrief(`${BODY}\nsignature: ${'0'.repeat(64)}\n`, key)).toBe('unsigned')
})

test('a text that cannot be signed is refused', () => {
  expect(() => signBrief(BODY, key)).toThrow('front matter')
  expect(() => signBrief(text, Buffer.alloc(0))).toThrow('16 bytes')
})
