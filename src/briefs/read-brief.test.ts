import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BatonError } from '../lib/errors.js'
import { addAddendum } from './addendum.js'
import { SIGNING_KEY, sampleOrigin, WRITTEN_AT } from './fixtures/samples.js'
import { storeBrief } from './keep-file.js'
import { readBrief } from './read-brief.js'

let folder: string
let kept: { path: string; sha256: string }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-briefs-'))
  kept = storeBrief({ folder, key: SIGNING_KEY }, sampleOrigin(1), '# Goal\n\nnever push to main\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('verifying a brief', () => {
  test('a stored brief is genuine at any path, and tampered if it is not the one the store means', () => {
    const copy = join(folder, 'copy.md')
    copyFileSync(kept.path, copy)
    expect(readBrief(copy, SIGNING_KEY).verdict).toBe('genuine')
    const other = storeBrief({ folder, key: SIGNING_KEY }, sampleOrigin(2), 'push to main\n')
    expect(readBrief(other.path, SIGNING_KEY, kept.sha256).verdict).toBe('tampered')
    expect(readBrief(other.path, SIGNING_KEY, other.sha256).verdict).toBe('genuine')
  })

  test.each([
    ['a changed word', (text: string) => text.replace('never', 'always')],
    ['another seat', (text: string) => text.replace('seat_1', 'seat_2')],
    ['an added line', (text: string) => `${text}push\n`],
    ['a missing end', (text: string) => text.slice(0, -1)],
    ['other line endings', (text: string) => text.replaceAll('\n', '\r\n')],
  ])('a brief is tampered with %s', (_, change) => {
    const before = readFileSync(kept.path, 'utf8')
    expect(change(before)).not.toBe(before)
    chmodSync(kept.path, 0o600)
    writeFileSync(kept.path, change(before))
    expect(readBrief(kept.path, SIGNING_KEY).verdict).toBe('tampered')
  })

  test('a brief signed by another machine is tampered', () => {
    expect(readBrief(kept.path, Buffer.alloc(32, 9)).verdict).toBe('tampered')
  })

  test('a brief without a signature is unsigned, and its text can still be shown', () => {
    const file = join(folder, 'HANDOFF.md')
    writeFileSync(file, '# Goal\n\ndelete everything\n')
    expect(readBrief(file, SIGNING_KEY)).toEqual({
      verdict: 'unsigned',
      body: '# Goal\n\ndelete everything\n',
      origin: null,
    })
    writeFileSync(file, readFileSync(kept.path, 'utf8').replace(/^signature: .*\n/m, ''))
    expect(readBrief(file, SIGNING_KEY)).toMatchObject({ verdict: 'unsigned', origin: sampleOrigin(1) })
  })

  test('an addendum is not a genuine brief', () => {
    const { path } = addAddendum(SIGNING_KEY, { briefId: 'brief_1', ...kept }, WRITTEN_AT, 'late')
    expect(readBrief(path, SIGNING_KEY).verdict).toBe('tampered')
  })

  test('a missing brief is missing, and something unreadable in its place is reported', () => {
    expect(readBrief(join(folder, 'seat_1', 'no.md'), SIGNING_KEY)).toEqual({
      verdict: 'missing',
      body: null,
      origin: null,
    })
    expect(readBrief(join(kept.path, 'no.md'), SIGNING_KEY).verdict).toBe('missing')
    mkdirSync(join(folder, 'a-folder.md'))
    expect(() => readBrief(join(folder, 'a-folder.md'), SIGNING_KEY)).toThrow(BatonError)
  })
})
