import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ArchiveHome, createArchiveHome, jsonLine } from '../../testing/archive-home.js'
import { makeArchives } from '../archive.js'

const said = (text: string): string => jsonLine({ by: 'user', text })
const answered = (text: string): string => jsonLine({ by: 'agent', text })

function createArchivesOf(...texts: string[]): ArchiveHome {
  const fixture = createArchiveHome()
  fixture.write('s1', texts.join(''))
  fixture.keep('s1')
  return fixture
}

const texts = (fixture: ArchiveHome, query: string, limit = 20): string[] =>
  fixture.archives.search({ query, limit }).map(({ text }) => text)

describe('searching archives', () => {
  test('a search finds prompts, answers, commands and results, with their kind and line', () => {
    const fixture = createArchivesOf(
      said('albatross one'),
      answered('albatross two'),
      jsonLine({ run: 'grep albatross' }),
      jsonLine({ out: 'albatross: 4' }),
    )
    const hits = fixture.archives.search({ query: 'albatross', limit: 9 })
    const [archive] = fixture.store.archives()
    expect(new Map(hits.map((hit) => [hit.kind, hit.line]))).toEqual(
      new Map([
        ['prompt', 1],
        ['answer', 2],
        ['command', 3],
        ['result', 4],
      ]),
    )
    expect(hits[0]).toMatchObject({
      archive_id: archive!.archiveId,
      session_id: 's1',
      project: '/shop',
      subagent: null,
      at: null,
    })
  })

  test('a search requires all words in one entry, in any order and case, with or without accents', () => {
    const fixture = createArchivesOf(said('Über die Brücke'), said('die Katze'), said('the café by the bridge'))
    expect(texts(fixture, 'brucke UBER')).toEqual(['Über die Brücke'])
    expect(texts(fixture, 'Katze Brücke')).toEqual([])
    expect(texts(fixture, 'cafe')).toEqual(['the café by the bridge'])
    expect(texts(fixture, 'cafe\u0301')).toEqual(['the café by the bridge'])
  })

  test('a search matches "phrases" word by word, and star* as a prefix', () => {
    const fixture = createArchivesOf(said('the rate limit was hit'), said('limit the rate'), said('rating'))
    expect(texts(fixture, '"rate limit"')).toEqual(['the rate limit was hit'])
    expect(texts(fixture, 'rat*').sort()).toEqual(['limit the rate', 'rating', 'the rate limit was hit'])
    expect(texts(fixture, '"the rat"*')).toEqual(expect.arrayContaining(['limit the rate', 'the rate limit was hit']))
    expect(texts(fixture, '"rate lim"*')).toEqual(['the rate limit was hit'])
  })

  test('a search finds names, paths and codes as written in programs', () => {
    const fixture = createArchivesOf(
      jsonLine({ out: 'src/engine/signals/take-signal.ts: takeSignal(raw_signal) → exit code 137, ENOENT' }),
    )
    for (const query of [
      'src/engine/signals/take-signal.ts',
      'take-signal',
      'raw_signal',
      'takesignal',
      '"exit code 137"',
      'enoent',
      '→ 137',
    ])
      expect(texts(fixture, query)).toHaveLength(1)
    expect(texts(fixture, 'take_engine')).toEqual([])
  })

  test('a search finds Chinese, Japanese, Korean and Thai by any part of the text', () => {
    const fixture = createArchivesOf(
      said('不要修改数据库迁移文件'),
      said('ログインを修正してください'),
      said('로그인 버그를 고쳐줘'),
      said('แก้ไขการเข้าสู่ระบบ'),
      said('emoji 🚀 and 𠮷野家'),
    )
    expect(texts(fixture, '数据库')).toEqual(['不要修改数据库迁移文件'])
    expect(texts(fixture, '修改 迁移')).toEqual(['不要修改数据库迁移文件'])
    expect(texts(fixture, '库数')).toEqual([])
    expect(texts(fixture, '"修改数据库"')).toEqual(['不要修改数据库迁移文件'])
    expect(texts(fixture, 'ログイン')).toEqual(['ログインを修正してください'])
    expect(texts(fixture, '버그')).toEqual(['로그인 버그를 고쳐줘'])
    expect(texts(fixture, '버그'.normalize('NFD'))).toEqual(['로그인 버그를 고쳐줘'])
    expect(texts(fixture, 'เข้าสู่ระบบ')).toEqual(['แก้ไขการเข้าสู่ระบบ'])
    expect(texts(fixture, '𠮷野家')).toEqual(['emoji 🚀 and 𠮷野家'])
  })

  test('a search cannot be broken by quotes, operators or anything else', () => {
    const fixture = createArchivesOf(
      said('a AND b OR "quoted" NOT near NEAR(x y) col:umn ^start -minus (paren) * star'),
    )
    const queries = [
      '"',
      '""',
      '"unfinished',
      'a"b',
      "it's",
      'AND',
      'OR NOT',
      'NEAR(a b, 5)',
      'col:umn',
      '^start',
      '-minus',
      '(paren)',
      '*',
      '**',
      'a*b',
      '\u0000',
      'a\u0000b',
      '" AND "',
      "'; DROP TABLE words; --",
      '{a b}: c',
      '+',
      '\\',
      'x'.repeat(10_000),
      '"a" "b" ""*',
      '🚀',
      '\ud800',
      'words : a',
      'text:a',
      'rowid:1',
      '%',
      '_',
      '[a-z]',
      '$1',
      '…',
    ]
    for (const query of queries) expect(() => texts(fixture, query)).not.toThrow()
    for (const query of [
      'AND',
      'OR NOT',
      'near',
      'NEAR(x',
      'col:umn',
      '^start',
      '-minus',
      '(paren)',
      '"quoted',
      '"a AND b',
    ])
      expect(texts(fixture, query), query).toHaveLength(1)
    expect(texts(fixture, 'text:umn')).toEqual([])
  })

  test('a search finds text after a NUL character', () => {
    const fixture = createArchivesOf(said('before \u0000 walrus\u0000after'))
    for (const query of ['before', 'walrus', 'after', '"walrus after"'])
      expect(texts(fixture, query), query).toHaveLength(1)
  })

  test('a search ignores a word made only of characters that the index treats as separators', () => {
    const fixture = createArchivesOf(
      said('albatross'),
      ...Array.from({ length: 5_001 }, (_, n) => answered(`common ${n}`)),
    )
    for (const sign of ['\u19b0', '\u19c9\u19b0', '\u1cf2']) {
      expect(texts(fixture, `${sign} albatross`)).toEqual(['albatross'])
      expect(texts(fixture, `common ${sign}*`, 1)).toHaveLength(1)
      expect(texts(fixture, sign)).toEqual([])
    }
    expect(texts(fixture, 'ꟑ albatross')).toEqual([])
  })

  test('a search ranks rare words, user messages and adjacent words first', () => {
    const fixture = createArchivesOf(
      jsonLine({ out: `zebra ${'filler '.repeat(200)}` }),
      said('zebra crossing'),
      ...Array.from({ length: 30 }, (_, i) => answered(`crossing number ${i}`)),
      answered('crossing the zebra'),
    )
    expect(texts(fixture, 'zebra', 1)).toEqual(['zebra crossing'])
    expect(texts(fixture, 'zebra crossing', 1)).toEqual(['zebra crossing'])
    expect(texts(fixture, 'the zebra', 1)).toEqual(['crossing the zebra'])
  })

  test('a search finds rare words next to common ones, and the newest entries of common words', () => {
    const fixture = createArchivesOf(
      ...Array.from({ length: 5_200 }, (_, i) => answered(`common thing ${i}`)),
      said('common needle'),
    )
    expect(texts(fixture, 'common needle')).toEqual(['common needle'])
    const newest = texts(fixture, 'common', 3)
    expect(newest[0]).toBe('common needle')
    expect(newest).toContain('common thing 5199')
    expect(texts(fixture, 'thing common 17')).toEqual(['common thing 17'])
  })

  test('a search returns identical texts once', () => {
    const fixture = createArchivesOf(said('twice'), said('twice'), answered('twice'))
    expect(texts(fixture, 'twice')).toEqual(['twice', 'twice'])
  })

  test('a search can be limited to sessions and projects', () => {
    const fixture = createArchiveHome()
    for (const id of ['s1', 's2', 's3']) {
      fixture.write(id, said(`hello from ${id}`))
      fixture.keep(id, { project: id === 's3' ? '/other' : '/shop' })
    }
    const found = (among: (record: { sessionId: string; project: string | null }) => boolean) =>
      fixture.archives.search({ query: 'hello', limit: 9, among }).map(({ session_id: id }) => id)
    expect(found(({ sessionId }) => sessionId === 's2')).toEqual(['s2'])
    expect(found(({ project }) => project === '/shop').sort()).toEqual(['s1', 's2'])
    expect(found(() => false)).toEqual([])
  })

  test('a hit names the oldest archive that holds it, and the subagent', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', said('early bird'))
    fixture.write('agent-a', said('worker bee'))
    const first = fixture.keep('s1')
    fixture.write('s1', said('late owl'))
    const second = fixture.keep('s1', { subagents: ['agent-a'] })
    const hit = (query: string) => fixture.archives.search({ query, limit: 1 })[0]!
    expect(hit('early').archive_id).toBe(first.archiveId)
    expect(hit('owl').archive_id).toBe(second.archiveId)
    expect(hit('bee')).toMatchObject({ archive_id: second.archiveId, subagent: 'agent-a', line: 1 })
  })

  test('a hit shows the text around the match, and a long text is cut around it', () => {
    const fixture = createArchivesOf(
      jsonLine({ out: `${'lorem '.repeat(3_000)}the NEEDLE in it${' ipsum'.repeat(3_000)}` }),
    )
    const [hit] = fixture.archives.search({ query: 'needle', limit: 1, textLength: 400 })
    expect(hit!.snippet).toMatch(/^…lorem .*the NEEDLE in it ipsum.*…$/)
    expect(hit!.snippet.length).toBeLessThan(260)
    expect(hit!.text).toContain('the NEEDLE in it')
    expect(hit!.text.length).toBeLessThan(410)
  })

  test('a search finds the beginning and the end of a very long result, not its middle', () => {
    const fixture = createArchivesOf(
      jsonLine({ out: `startword ${'x '.repeat(50_000)} middleword ${'y '.repeat(50_000)} endword` }),
    )
    expect([
      texts(fixture, 'startword').length,
      texts(fixture, 'middleword').length,
      texts(fixture, 'endword').length,
    ]).toEqual([1, 0, 1])
  })

  test('a search works again after its index was lost, damaged, or of another version', () => {
    const fixture = createArchivesOf(said('albatross'))
    const again = (spoil: () => void): string[] => {
      fixture.archives.close()
      spoil()
      return texts(fixture, 'albatross')
    }
    const remove = (): void => {
      for (const end of ['', '-wal', '-shm']) rmSync(fixture.places.index + end, { force: true })
    }
    expect(again(remove)).toEqual(['albatross'])
    expect(
      again(() =>
        writeFileSync(fixture.places.index, 'no database at all, but long enough to be looked at'.repeat(50)),
      ),
    ).toEqual(['albatross'])
    expect(
      again(() => {
        remove()
        writeFileSync(fixture.places.index, '')
      }),
    ).toEqual(['albatross'])
  })

  test('a search omits entries that can no longer be unpacked', () => {
    const fixture = createArchivesOf(said('albatross'))
    writeFileSync(join(fixture.places.folder, fixture.files()[0]!), 'x')
    const archives = makeArchives(fixture.deps)
    expect(archives.search({ query: 'albatross', limit: 1 })).toEqual([])
    archives.close()
  })
})

describe('indexing errors', () => {
  test('an archive that cannot be indexed is kept, retried a limited number of times, and reported', () => {
    const fixture = createArchiveHome()
    mkdirSync(fixture.places.index)
    fixture.write('s1', said('albatross'))
    const kept = fixture.keep('s1')
    expect(kept).toMatchObject({
      status: 'kept',
      indexed: false,
      reason: expect.stringContaining('cannot be indexed'),
      attempts: 1,
    })
    for (let n = 0; n < 9; n++) {
      fixture.pass(24 * 3_600_000)
      fixture.archives.finish()
    }
    expect(fixture.store.archive(kept.archiveId)).toMatchObject({
      status: 'kept',
      indexed: false,
      attempts: 5,
      retryAt: null,
    })
    expect(fixture.archives.hasWork()).toBe(false)
    expect(fixture.restored(kept).toString()).toBe(said('albatross'))
    rmdirSync(fixture.places.index)
    expect(texts(fixture, 'albatross')).toEqual(['albatross'])
    expect(fixture.store.archive(kept.archiveId)).toMatchObject({ indexed: true, reason: null })
  })
})
