import { describe, expect, test } from 'vitest'
import { type ArchiveHome, createArchiveHome, jsonLine } from '../../testing/archive-home.js'
import { parseQuery } from './parse-query.js'
import { answerShapes, bestPassage } from './passages.js'
import { queryWords } from './query-words.js'

const said = (text: string): string => jsonLine({ by: 'user', text })
const answered = (text: string): string => jsonLine({ by: 'agent', text })

function createArchivesOf(...texts: string[]): ArchiveHome {
  const fixture = createArchiveHome()
  fixture.write('s1', texts.join(''))
  fixture.keep('s1')
  return fixture
}

const ask = (fixture: ArchiveHome, query: string, limit = 5, surroundings = 0) =>
  fixture.archives.search({ query, limit, anyWord: true, surroundings })

const stemsOf = (query: string): string[] => queryWords(parseQuery(query)).map(({ stem }) => stem)

/** Entries that mention nothing of the questions, so that rare words are rare. */
const NOISE = Array.from({ length: 30 }, (_, at) => answered(`Step ${at}: read another module and went on`))

describe('search by any word', () => {
  test('a question finds its answer although no entry has all its words', () => {
    const fixture = createArchivesOf(
      said('Please look at the proxy'),
      ...NOISE,
      answered('The proxy listens on port 9731, because 80 needs root.'),
      ...NOISE.map((text) => text.replace('Step', 'Part')),
    )
    expect(fixture.archives.search({ query: 'Which port does the proxy listen on?', limit: 5 })).toEqual([])
    expect(ask(fixture, 'Which port does the proxy listen on?')[0]?.text).toContain('9731')
  })

  test('entries with all words come before those with some of them', () => {
    const fixture = createArchivesOf(
      answered('The migration ledger broke; the migration ledger is rebuilt by the ledger tool'),
      ...NOISE,
      answered('Only here stands the whole: migration, ledger and xebec'),
      answered('xebec xebec xebec'),
    )
    const [first, ...others] = ask(fixture, 'migration ledger xebec')
    expect(first?.text).toContain('Only here')
    expect(others.length).toBeGreaterThan(0)
  })

  test('words of the entries beside a hit raise its rank', () => {
    const fixture = createArchivesOf(
      ...NOISE,
      said('Which limit applies to the uploads?'),
      answered('It is 40 MB, limit of the gateway.'),
      ...NOISE.map((text) => text.replace('Step', 'Part')),
      answered('The limit of the log lines is 3.'),
    )
    const texts = ask(fixture, 'limit uploads', 3).map(({ text }) => text)
    expect(texts.slice(0, 2)).toContain('It is 40 MB, limit of the gateway.')
  })

  test('a hit shows the entries before and after it, shortened, and they are no hits again', () => {
    const fixture = createArchivesOf(
      said('What holds the zeppelin lock?'),
      answered('The zeppelin worker holds it.'),
      answered(`Then ${'more '.repeat(200)}`),
    )
    const [hit, ...others] = ask(fixture, 'zeppelin worker', 5, 100)
    expect(hit).toMatchObject({
      text: 'The zeppelin worker holds it.',
      before: '[prompt] What holds the zeppelin lock?',
    })
    expect(hit?.after).toMatch(/^\[answer\] Then more .{60,100}…$/)
    expect(others).toEqual([])
    expect(fixture.archives.search({ query: 'zeppelin worker', limit: 1 })[0]).not.toHaveProperty('before')
  })

  test('a question in Japanese finds its answer by pairs of characters', () => {
    const fixture = createArchivesOf(
      ...NOISE,
      answered('接続の待ち時間は30秒に変更しました。'),
      answered('画面の色を変えました。'),
    )
    expect(ask(fixture, '待ち時間はいくつにしましたか？')[0]?.text).toContain('30秒')
  })
})

describe('words of a query', () => {
  test('stop words of several languages are left out, unless there is nothing else', () => {
    expect(stemsOf('Which port does the proxy listen on?')).toEqual(['port', 'prox', 'listen'])
    expect(stemsOf('Warum ist der Zwischenspeicher leer?')).toEqual(['zwischenspeich', 'leer'])
    expect(stemsOf('what is it')).toEqual(['what', 'is', 'it'])
  })

  test('words end at their stem, names and numbers stay whole, and a phrase stays one word', () => {
    expect(stemsOf('reverted commits')).toEqual(['revert', 'commit'])
    expect(stemsOf('error 137')).toContain('137')
    expect(stemsOf('src/cart.ts')).toEqual(['src/cart.ts', 'src', 'cart'])
    expect(stemsOf('"exit code 137"')).toEqual(['exit code 137'])
  })

  test('text without spaces becomes pairs of characters without pairs of particles', () => {
    expect(stemsOf('待ち時間はいくつ')).toEqual(['待ち', 'ち時', '時間', '間は'])
    expect(stemsOf('数据库')).toEqual(['数据', '据库'])
  })

  test('a query has at most 24 words, so that its cost is bounded', () => {
    expect(stemsOf(Array.from({ length: 90 }, (_, at) => `word${at}x`).join(' '))).toHaveLength(24)
  })
})

describe('the best passage', () => {
  const rated = (text: string) => queryWords(parseQuery(text)).map((word) => ({ ...word, rarity: 1 }))

  test('stands where the words are together', () => {
    const text = `cache ${'- '.repeat(2_000)} the cache is flushed by the timer`
    const { at } = bestPassage(text, text, rated('cache timer flushed'), [])
    expect(text.slice(at)).toMatch(/^cache is flushed/)
  })

  test('is better when it has what the question asks for', () => {
    const question = 'Which function fixed the cache?'
    const score = (text: string) => bestPassage(text, text.toLowerCase(), rated(question), answerShapes(question)).score
    expect(score('the cache is fixed in flushOld')).toBeGreaterThan(score('the cache is fixed in time'))
  })

  test('needs the beginning of a word, not its middle', () => {
    expect(bestPassage('unreported', 'unreported', rated('port'), []).score).toBe(0)
  })
})
