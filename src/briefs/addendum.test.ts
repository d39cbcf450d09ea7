import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EXIT } from '../lib/errors.js'
import { addAddendum, readAddendum } from './addendum.js'
import { SIGNING_KEY, sampleOrigin, WRITTEN_AT } from './fixtures/samples.js'
import { storeBrief } from './keep-file.js'
import { readBrief } from './read-brief.js'

const LATER = '2026-03-01T12:30:00.500+02:00'

let folder: string
let brief: { briefId: string; path: string; sha256: string }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-briefs-'))
  brief = { briefId: 'brief_1', ...storeBrief({ folder, key: SIGNING_KEY }, sampleOrigin(1), 'done\n') }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('addenda of a brief', () => {
  test('an addendum is stored beside its brief, names it, reads back unchanged, and leaves the brief alone', () => {
    const before = readFileSync(brief.path)
    const text = '---\nnot: front matter\n---\nthe tests on the “other” branch fail\n'
    const added = addAddendum(SIGNING_KEY, brief, LATER, text)
    expect(added.at).toBe('2026-03-01T10:30:00.500Z')
    expect(dirname(added.path)).toBe(dirname(brief.path))
    expect(readAddendum(added.path, SIGNING_KEY, { briefId: 'brief_1', sha256: added.sha256 })).toEqual({
      verdict: 'genuine',
      body: text,
      briefId: 'brief_1',
      at: added.at,
    })
    expect((statSync(added.path).mode & 0o777).toString(8)).toBe('400')
    expect(readFileSync(brief.path)).toEqual(before)
  })

  test('an addendum is added once, and other findings and times are kept in order', () => {
    const paths = [WRITTEN_AT, WRITTEN_AT, LATER].map((at) => addAddendum(SIGNING_KEY, brief, at, 'late').path)
    paths.push(addAddendum(SIGNING_KEY, brief, LATER, 'later').path)
    expect(paths[0]).toBe(paths[1])
    expect(new Set(paths).size).toBe(3)
    const addenda = readdirSync(dirname(brief.path)).filter((name) => name !== '0001-brief_1.md')
    const times = addenda.sort().map((name) => /addendum-(\w+)-/.exec(name)?.[1])
    expect(times).toEqual(['20260301T100000000Z', '20260301T103000500Z', '20260301T103000500Z'])
  })

  test('an addendum of another brief, a changed one, or a brief in its place counts as tampered', () => {
    const { path } = addAddendum(SIGNING_KEY, brief, WRITTEN_AT, 'late')
    expect(readAddendum(path, SIGNING_KEY, { briefId: 'brief_2' }).verdict).toBe('tampered')
    expect(readAddendum(path, SIGNING_KEY, { sha256: brief.sha256 }).verdict).toBe('tampered')
    expect(readAddendum(brief.path, SIGNING_KEY).verdict).toBe('tampered')
    chmodSync(path, 0o600)
    writeFileSync(path, `${readFileSync(path, 'utf8')}!`)
    expect(readAddendum(path, SIGNING_KEY)).toMatchObject({ verdict: 'tampered', body: 'late!' })
    expect(readAddendum(`${path}.no`, SIGNING_KEY).verdict).toBe('missing')
    expect(readBrief(brief.path, SIGNING_KEY, brief.sha256).verdict).toBe('genuine')
  })

  test('no addendum can be added to a missing brief', () => {
    rmSync(brief.path)
    expect(() => addAddendum(SIGNING_KEY, brief, WRITTEN_AT, 'late')).toThrow(
      expect.objectContaining({ exit: EXIT.notFound }),
    )
    expect(readdirSync(dirname(brief.path))).toEqual([])
  })
})
