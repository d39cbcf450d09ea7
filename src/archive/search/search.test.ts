import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { line, newTrial, type Trial } from '../../testing/archive-home.js'
import { makeArchives } from '../archive.js'

const said = (text: string): string => line({ by: 'user', text })
const answered = (text: string): string => line({ by: 'agent', text })

function makeTrialWith(...texts: string[]): Trial {
  const trial = newTrial()
  trial.write('s1', texts.join(''))
  trial.keep('s1')
  return trial
}

const texts = (trial: Trial, query: string, limit = 20): string[] =>
  trial.archives.search({ query, limit }).map(({ text }) => text)

describe('searching archives', () => {
  test('a search finds prompts, answers, commands and results, with their kind and line', () => {
    const trial = makeTrialWith(
      said('albatross one'),
      answered('albatross two'),
      line({ run: 'grep albatross' }),
      line({ out: 'albatross: 4' }),
    )
    const hits = trial.archives.search({ query: 'albatross', limit: 9 })
    const [archive] = trial.store.archives()
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
    const trial = makeTrialWith(said('Über die Brücke'), said('die Katze'), said('the café by the bridge'))
    expect(texts(trial, 'brucke UBER')).toEqual(['Über die Brücke'])
    expect(texts(trial, 'Katze Brücke')).toEqual([])
    expect(texts(trial, 'cafe')).toEqual(['the café by the bridge'])
    expect(texts(trial, 'cafe\u0301')).toEqual(['the café by the bridge'])
  })

  test('a search matches "phrases" word by word, and star* as a prefix', () => {
    const trial = makeTrialWith(said('the rate limit was hit'), said('limit the rate'), said('rating'))
    expect(texts(trial, '"rate limit"')).toEqual(['the rate limit was hit'])
    expect(texts(trial, 'rat*').sort()).toEqual(['limit the rate', 'rating', 'the rate limit was hit'])
    expect(texts(trial, '"the rat"*')).toEqual(expect.arrayContaining(['limit the rate', 'the rate limit was hit']))
    expect(texts(trial, '"rate lim"*')).toEqual(['the rate limit was hit'])
  })

  test('a search finds names, paths and codes as written in programs', () => {
    const trial = makeTrialWith(
      line({ out: 'src/engine/signals/take-signal.ts: takeSignal(raw_signal) → exit code 137, ENOENT' }),
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
      expect(texts(trial, query)).toHaveLength(1)
    expect(texts(trial, 'take_engine')).toEqual([])
  })

  test('a search finds Chinese, Japanese, Korean and Thai by any part of the text', () => {
    const trial = makeTrialWith(
      said('不要修改数据库迁移文件'),
      said('ログインを修正してください'),
      said('로그인 버그를 고쳐줘'),
      said('แก้ไขการเข้าสู่ระบบ'),
      said('emoji 🚀 and 𠮷野家'),
    )
    expect(texts(trial, '数据库')).toEqual(['不要修改数据库迁移文件'])
    expect(texts(trial, '修改 迁移')).toEqual(['不要修改数据库迁移文件'])
    expect(texts(trial, '库数')).toEqual([])
    expect(texts(trial, '"修改数据库"')).toEqual(['不要修改数据库迁移文件'])
    expect(texts(trial, 'ログイン')).toEqual(['ログインを修正してください'])
    expect(texts(trial, '버그')).toEqual(['로그인 버그를 고쳐줘'])
    expect(texts(trial, '버그'.normalize('NFD'))).toEqual(['로그인 버그를 고쳐줘'])
    expect(texts(trial, 'เข้าสู่ระบบ')).toEqual(['แก้ไขการเข้าสู่ระบบ'])
    expect(texts(trial, '𠮷野家')).toEqual(['emoji 🚀 and 𠮷野家'])
  })

  test('a search cannot be broken by quotes, operators or anything else', () => {
    const trial = makeTrialWith(said('a AND b OR "quoted" NOT near NEAR(x y) col:umn ^start -minus (paren) * star'))
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
    for (const query of queries) expect(() => texts(trial, query)).not.toThrow()
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
      expect(texts(trial, query), query).toHaveLength(1)
    expect(texts(trial, 'text:umn')).toEqual([])
  })

  test('a search finds text after a NUL character', () => {
    const trial = makeTrialWith(said('before \u0000 walrus\u0000after'))
    for (const query of ['before', 'walrus', 'after', '"walrus after"'])
      expect(texts(trial, query), query).toHaveLength(1)
  })

  test('a search ignores a word made only of characters that the index treats as separators', () => {
    const trial = makeTrialWith(said('albatross'), ...Array.from({ length: 5_001 }, (_, n) => answered(`common ${n}`)))
    for (const sign of ['\u19b0', '\u19c9\u19b0', '\u1cf2']) {
      expect(texts(trial, `${sign} albatross`)).toEqual(['albatross'])
      expect(texts(trial, `common ${sign}*`, 1)).toHaveLength(1)
      expect(texts(trial, sign)).toEqual([])
    }
    expect(texts(trial, 'ꟑ albatross')).toEqual([])
  })

  test('a search ranks rare words, user messages and adjacent words first', () => {
    const trial = makeTrialWith(
      line({ out: `zebra ${'filler '.repeat(200)}` }),
      said('zebra crossing'),
      ...Array.from({ length: 30 }, (_, i) => answered(`crossing number ${i}`)),
      answered('crossing the zebra'),
    )
    expect(texts(trial, 'zebra', 1)).toEqual(['zebra crossing'])
    expect(texts(trial, 'zebra crossing', 1)).toEqual(['zebra crossing'])
    expect(texts(trial, 'the zebra', 1)).toEqual(['crossing the zebra'])
  })

  test('a search finds rare words next to common ones, and the newest entries of common words', () => {
    const trial = makeTrialWith(
      ...Array.from({ length: 5_200 }, (_, i) => answered(`common thing ${i}`)),
      said('common needle'),
    )
    expect(texts(trial, 'common needle')).toEqual(['common needle'])
    const newest = texts(trial, 'common', 3)
    expect(newest[0]).toBe('common needle')
    expect(newest).toContain('common thing 5199')
    expect(texts(trial, 'thing common 17')).toEqual(['common thing 17'])
  })

  test('a search returns identical texts once', () => {
    const trial = makeTrialWith(said('twice'), said('twice'), answered('twice'))
    expect(texts(trial, 'twice')).toEqual(['twice', 'twice'])
  })

  test('a search can be limited to sessions and projects', () => {
    const trial = newTrial()
    for (const id of ['s1', 's2', 's3']) {
      trial.write(id, said(`hello from ${id}`))
      trial.keep(id, { project: id === 's3' ? '/other' : '/shop' })
    }
    const found = (among: (record: { sessionId: string; project: string | null }) => boolean) =>
      trial.archives.search({ query: 'hello', limit: 9, among }).map(({ session_id: id }) => id)
    expect(found(({ sessionId }) => sessionId === 's2')).toEqual(['s2'])
    expect(found(({ project }) => project === '/shop').sort()).toEqual(['s1', 's2'])
    expect(found(() => false)).toEqual([])
  })

  test('a hit names the oldest archive that holds it, and the subagent', () => {
    const trial = newTrial()
    trial.write('s1', said('early bird'))
    trial.write('agent-a', said('worker bee'))
    const first = trial.keep('s1')
    trial.write('s1', said('late owl'))
    const second = trial.keep('s1', { subagents: ['agent-a'] })
    const hit = (query: string) => trial.archives.search({ query, limit: 1 })[0]!
    expect(hit('early').archive_id).toBe(first.archiveId)
    expect(hit('owl').archive_id).toBe(second.archiveId)
    expect(hit('bee')).toMatchObject({ archive_id: second.archiveId, subagent: 'agent-a', line: 1 })
  })

  test('a hit shows the text around the match, and a long text is cut around it', () => {
    const trial = makeTrialWith(line({ out: `${'lorem '.repeat(3_000)}the NEEDLE in it${' ipsum'.repeat(3_000)}` }))
    const [hit] = trial.archives.search({ query: 'needle', limit: 1, textLength: 400 })
    expect(hit!.snippet).toMatch(/^…lorem .*the NEEDLE in it ipsum.*…$/)
    expect(hit!.snippet.length).toBeLessThan(260)
    expect(hit!.text).toContain('the NEEDLE in it')
    expect(hit!.text.length).toBeLessThan(410)
  })

  test('a search finds the beginning and the end of a very long result, not its middle', () => {
    const trial = makeTrialWith(
      line({ out: `startword ${'x '.repeat(50_000)} middleword ${'y '.repeat(50_000)} endword` }),
    )
    expect([
      texts(trial, 'startword').length,
      texts(trial, 'middleword').length,
      texts(trial, 'endword').length,
    ]).toEqual([1, 0, 1])
  })

  test('a search works again after its index was lost, damaged, or of another version', () => {
    const trial = makeTrialWith(said('albatross'))
    const again = (spoil: () => void): string[] => {
      trial.archives.close()
      spoil()
      return texts(trial, 'albatross')
    }
    const remove = (): void => {
      for (const end of ['', '-wal', '-shm']) rmSync(trial.places.index + end, { force: true })
    }
    expect(again(remove)).toEqual(['albatross'])
    expect(
      again(() => writeFileSync(trial.places.index, 'no database at all, but long enough to be looked at'.repeat(50))),
    ).toEqual(['albatross'])
    expect(
      again(() => {
        remove()
        writeFileSync(trial.places.index, '')
      }),
    ).toEqual(['albatross'])
  })

  test('a search omits entries that can no longer be unpacked', () => {
    const trial = makeTrialWith(said('albatross'))
    writeFileSync(join(trial.places.folder, trial.files()[0]!), 'x')
    const archives = makeArchives(trial.deps)
    expect(archives.search({ query: 'albatross', limit: 1 })).toEqual([])
    archives.close()
  })
})

describe('indexing errors', () => {
  test('an archive that cannot be indexed is kept, retried a limited number of times, and reported', () => {
    const trial = newTrial()
    mkdirSync(trial.places.index)
    trial.write('s1', said('albatross'))
    const kept = trial.keep('s1')
    expect(kept).toMatchObject({
      status: 'kept',
      indexed: false,
      reason: expect.stringContaining('cannot be searched'),
      attempts: 1,
    })
    for (let n = 0; n < 9; n++) {
      trial.pass(24 * 3_600_000)
      trial.archives.finish()
    }
    expect(trial.store.archive(kept.archiveId)).toMatchObject({
      status: 'kept',
      indexed: false,
      attempts: 5,
      retryAt: null,
    })
    expect(trial.archives.hasWork()).toBe(false)
    expect(trial.restored(kept).toString()).toBe(said('albatross'))
    rmdirSync(trial.places.index)
    expect(texts(trial, 'albatross')).toEqual(['albatross'])
    expect(trial.store.archive(kept.archiveId)).toMatchObject({ indexed: true, reason: null })
  })
})
