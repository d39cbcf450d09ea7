import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addAddendum } from './addendum.js'
import { SIGNING_KEY, sampleOrigin, WRITTEN_AT } from './fixtures/samples.js'
import { forgetBriefs } from './forget-briefs.js'
import { storeBrief } from './keep-file.js'

let root: string
let folder: string
const kept: Record<string, string> = {}
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-forget-'))
  folder = join(root, 'briefs')
  const keep = (seatId: string, sequence: number, sessionId: string) => {
    const briefId = `${seatId}x${sequence}`
    const one = storeBrief(
      { folder, key: SIGNING_KEY },
      sampleOrigin(sequence, { briefId, seatId, sessionId }),
      'done\n',
    )
    kept[briefId] = one.path
    return { briefId, ...one }
  }
  addAddendum(SIGNING_KEY, keep('a', 1, 's1'), WRITTEN_AT, 'late')
  keep('a', 2, 's2')
  addAddendum(SIGNING_KEY, keep('b', 1, 's3'), WRITTEN_AT, 'late')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const remainingFiles = () =>
  (readdirSync(folder, { recursive: true }) as string[]).sort().map((name) => name.replace(/-2026.*/, ''))

describe('forgetting briefs', () => {
  test('forgetting a session deletes its briefs and addenda, also those unknown to the store, and no others', () => {
    expect(forgetBriefs(folder, { sessionId: 's1' })).toHaveLength(2)
    expect(remainingFiles()).toEqual(['a', 'a/0002-ax2.md', 'b', 'b/0001-bx1.addendum', 'b/0001-bx1.md'])
    expect(forgetBriefs(folder, { sessionId: 's1' })).toEqual([])
    expect(forgetBriefs(folder, { sessionId: 's3', seatId: 'a' })).toEqual([])
  })

  test('forgetting a seat deletes all its briefs and its folder', () => {
    expect(forgetBriefs(folder, { seatId: 'a' })).toHaveLength(3)
    expect(remainingFiles()).toEqual(['b', 'b/0001-bx1.addendum', 'b/0001-bx1.md'])
  })

  test('a brief known to the store is deleted whatever its content is', () => {
    rmSync(kept.ax2!)
    writeFileSync(kept.ax2!, 'something else')
    expect(forgetBriefs(folder, { sessionId: 's2' })).toEqual([])
    expect(forgetBriefs(folder, { sessionId: 's2', briefs: [{ path: kept.ax2!, addenda: [] }] })).toEqual([kept.ax2])
  })

  test('forgetting without a session or seat deletes nothing', () => {
    const before = remainingFiles()
    expect(forgetBriefs(folder, {})).toEqual([])
    expect(forgetBriefs(join(root, 'nowhere'), { sessionId: 's1' })).toEqual([])
    expect(remainingFiles()).toEqual(before)
  })

  test('temporary files of killed writers are deleted too', () => {
    const name = (pid: number) => join(dirname(kept.ax1!), `.0001-ax1.md.baton-${pid}-1`)
    for (const pid of [999_999_999, process.pid]) writeFileSync(name(pid), 'half')
    forgetBriefs(folder, { sessionId: 's2' })
    expect([existsSync(name(999_999_999)), existsSync(name(process.pid))]).toEqual([false, true])
    forgetBriefs(folder, { sessionId: 's1' })
    expect(remainingFiles()).toEqual(['b', 'b/0001-bx1.addendum', 'b/0001-bx1.md'])
  })

  test('forgetting never touches other files, anything outside the folder, or the target of a link', () => {
    const outside = storeBrief({ folder: join(root, 'outside'), key: SIGNING_KEY }, sampleOrigin(1), 'done\n').path
    symlinkSync(dirname(outside), join(folder, 'linked'))
    const notes = join(folder, 'a', 'notes.md')
    writeFileSync(notes, 'mine')
    const briefs = [outside, notes, join(folder, 'b', '..', '..', 'outside', 'seat_1', '0001-brief_1.md')]
    forgetBriefs(folder, { seatId: 'a', briefs: briefs.map((path) => ({ path, addenda: [] })) })
    forgetBriefs(folder, { sessionId: 's1' })
    expect([existsSync(outside), existsSync(notes)]).toEqual([true, true])
    expect(readdirSync(join(folder, 'a'))).toEqual(['notes.md'])
  })
})
