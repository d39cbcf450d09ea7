import { describe, expect, test } from 'vitest'
import type { Fact } from '../contract/fact.js'
import { aFact } from '../testing/sample-fact.js'
import { prepareText } from './prepared-text.js'

const forbidden = { state: 'forbidden' } as const
const isCarried = (text: string, fact: Fact, among?: Fact[]): boolean => prepareText(text, among).contains(fact)

describe('what was said in sentences', () => {
  test.each([
    ['word for word', 'He said: "Keep the public API as it is."', 'Keep the public API as it is.'],
    ['in other forms', 'The public API has to be kept as is.', 'Keep the public API as it is.'],
    ['over two bullets', '- API: public, keep as is\n- no changes there', 'Keep the public API as it is.'],
    [
      'with the words joined',
      'From now on, conventional commits with sign-off.',
      'Use conventional commits from now on, and always sign off the commits.',
    ],
    ['in German', 'Die Tests müssen immer mit vitest laufen.', 'Immer die Tests mit vitest laufen lassen'],
    ['in Russian', 'Тесты запускаются только через vitest.', 'Запускай тесты только через vitest'],
    ['in Chinese', '用户要求所有提交信息使用英文书写。', '提交信息使用英文'],
    ['in Japanese', 'コミットメッセージは英語で書く必要がある。', 'コミットメッセージは英語で書く'],
  ])('a sentence is carried %s', (_, text, said) => expect(isCarried(text, aFact('constraint', said))).toBe(true))

  test.each([
    ['not said', 'The user wants the login fixed.', 'Keep the public API as it is.'],
    ['said with half of its meaning', 'The API was looked at.', 'Keep the public API as it is.'],
    [
      'scattered over the text',
      'Keep going.\nx\ny\nz\nThe public likes it.\nx\ny\nz\nAn API exists.',
      'Keep the public API as it is.',
    ],
    ['with another figure', 'Requests must take under 500 ms.', 'Requests must take under 200 ms.'],
    ['about another file', 'Format src/b.ts with prettier.', 'Format src/a.ts with prettier.'],
    ['in Japanese, about something else', 'ログインを修正する必要がある。', 'コミットメッセージは英語で書く'],
  ])('a sentence is not carried when it is %s', (_, text, said) =>
    expect(isCarried(text, aFact('constraint', said))).toBe(false),
  )

  test('a forbidden action is carried only if the text forbids it too', () => {
    const never = aFact('constraint', 'Do not commit to main.', forbidden)
    expect(isCarried('Then commit to main and push.', never)).toBe(false)
    expect(isCarried('Commits to main are not allowed.', never)).toBe(true)
    const nie = aFact('constraint', 'Ändere nie die Migrationen.', forbidden)
    expect(isCarried('Als Nächstes: ändere die Migrationen.', nie)).toBe(false)
    expect(isCarried('Die Migrationen dürfen nicht geändert werden: ändere sie nie.', nie)).toBe(true)
  })

  test.each([
    ['Never push to main.', 'Push to main when ready, never wait for review.'],
    ['Never push to main.', 'Push to main when ready and never wait for review.'],
    ['Never push to main.', 'No, push to main.'],
    ['Use port 8420.', 'The app does not use port 8420.'],
    ['Use port 8420.', 'Never use port 8420.'],
    ['Run the tests with vitest before each commit.', 'Do not run the tests with vitest before each commit.'],
    ['Fix the parser, but add no dependency.', 'Fix the parser, and add a dependency.'],
    [
      'Keep the public API as it is, and never rename the tables.',
      'Keep the public API as it is. Rename the tables, never ask.',
    ],
    ['Verwende Port 8420.', 'Die App soll nicht Port 8420 verwenden.'],
  ])('"%s" is not carried by its contradiction "%s"', (said, text) =>
    expect(isCarried(text, aFact('constraint', said))).toBe(false),
  )

  test.each([
    ['Never push to main.', 'Wait for review, never push to main.'],
    ['Never push to main.', 'Never, ever push to main.'],
    ['Never push to main.', 'Pushing to main is not allowed, even when all is green.'],
    ['Use port 8420.', 'The app must use port 8420, not 8080.'],
    ['Use port 8420.', 'No, use port 8420.'],
    ['Use port 8420.', 'It was not done.\nUse port 8420.'],
    ['Use tabs, not spaces.', 'Indent with tabs, not with spaces.'],
    ['Fix the parser, but add no dependency.', 'The parser is to be fixed and no dependency added.'],
  ])('"%s" is carried by "%s", whatever else the text denies', (said, text) =>
    expect(isCarried(text, aFact('constraint', said))).toBe(true),
  )

  test('one shared word carries a prohibition, but nothing else', () => {
    expect(
      isCarried('Tokens stored hashed, no Redis.', aFact('constraint', 'We cannot use Redis here.', forbidden)),
    ).toBe(true)
    expect(isCarried('Redis was restarted.', aFact('constraint', 'We cannot use Redis here.', forbidden))).toBe(false)
    expect(isCarried('pnpm was looked at.', aFact('constraint', 'Always use pnpm!'))).toBe(false)
  })

  test('a fact of a few words must be in one sentence to be carried', () => {
    const todo = aFact('todo', 'Add tests')
    expect(isCarried('We added a page. The tests ran.', todo)).toBe(false)
    expect(isCarried('Next: tests will be added.', todo)).toBe(true)
  })

  test('a long request is carried when its sentences are, wherever each is', () => {
    const sentences = [
      'Fix the login form.',
      'Use the new session store.',
      'Write a test for expired cookies.',
      'Update the changelog.',
    ]
    const request = aFact('request', sentences.join(' '))
    const far = '\nSomething else happened here.\nAnd here.\nAnd there.\n'
    expect(isCarried(sentences.join(far), request)).toBe(true)
    expect(isCarried(sentences.slice(0, 2).join(far), request)).toBe(false)
  })
})

describe('answers in dialogs', () => {
  const anAnswer = (answer: string, question: string): Fact =>
    aFact('decision', `${answer} (asked: ${question})`, { detail: { by: 'user', how: 'dialog', question, answer } })

  test.each([
    ['No', 'Delete the old tables?', 'Done. There are no open questions.'],
    ['No', 'Delete the old tables?', 'The old tables were deleted.'],
    ['No', 'Delete the old tables?', 'No new tables were needed.'],
    ['No', 'Delete the old tables?', '- Delete the old tables?\n*\n*\n- No dependency was added.'],
    ['Yes', 'Delete the old tables?', 'Yes, all tests pass. The old tables are slow to delete.'],
    ['SQLite', 'Which store should the cache use?', 'SQLite was updated.'],
    ['SQLite', 'Which store should the cache use?', 'The cache does not use SQLite.'],
    ['SQLite', 'Which store should the cache use?', 'I asked which store the cache should use.'],
    ['Two passes', 'How many passes should the parser make?', 'How many passes the parser should make is open.'],
    ['はい', '古いテーブルを削除しますか？', 'はい、テストは成功しました。'],
    ['B', 'Which plan for the cache?', 'Group B failed.'],
  ])('the answer %j to %j is not covered by %j', (answer, question, text) =>
    expect(isCarried(text, anAnswer(answer, question))).toBe(false),
  )

  test.each([
    ['No', 'Delete the old tables?', 'No (asked: `Delete the old tables?`)'],
    ['No', 'Delete the old tables?', '- Delete the old tables? No.'],
    ['No', 'Delete the old tables?', 'Delete the old tables?\n  - No.'],
    ['No', 'Delete the old tables?', 'The old tables must not be deleted.'],
    ['Yes', 'Delete the old tables?', 'The user said yes to deleting the old tables.'],
    ['SQLite', 'Which store should the cache use?', 'The cache is kept in SQLite.'],
    ['Use SQLite', 'Which store should the cache use?', 'The store is SQLite, not Redis.'],
    ['Two passes', 'How many passes should the parser make?', 'Settled: two passes.'],
    ['はい', '古いテーブルを削除しますか？', '古いテーブルを削除：はい。'],
    ['英語で書く', 'どの言語で書きますか？', 'コミットは英語で書く。'],
    ['B', 'Which plan for the cache?', 'For the cache the user took plan B.'],
  ])('the answer %j to %j is covered by %j', (answer, question, text) =>
    expect(isCarried(text, anAnswer(answer, question))).toBe(true),
  )
})

describe('files', () => {
  test.each([
    ['src/parse/date.ts', 'Changed `src/parse/date.ts:12`.'],
    ['src/parse/date.ts', 'Changed ./src/parse/date.ts, then stopped'],
    ['src/parse/date.ts', 'Changed /home/me/shop/src/parse/date.ts'],
    ['src/parse/date.ts', 'The parser is in date.ts.'],
    ['src/parse/index.ts', 'See (parse/index.ts)'],
    ['notes/My Plan.md', 'It stands in notes/My Plan.md now'],
  ])('the file %s is named in "%s"', (path, text) => expect(isCarried(text, aFact('file', path))).toBe(true))

  test.each([
    ['src/parse/date.ts', 'Changed lib/date.ts'],
    ['src/parse/date.ts', 'Changed update.ts and date.tsx'],
    ['src/parse/index.ts', 'The index.ts was changed'],
    ['src/app.ts', 'web-app.ts'],
  ])('the file %s is not named in "%s"', (path, text) => expect(isCarried(text, aFact('file', path))).toBe(false))

  test('a shared file name alone names neither of two files', () => {
    const both = [aFact('file', 'src/user/handler.ts'), aFact('file', 'src/order/handler.ts')]
    expect(both.map((one) => isCarried('Changed handler.ts', one, both))).toEqual([false, false])
    expect(both.map((one) => isCarried('Changed order/handler.ts', one, both))).toEqual([false, true])
  })
})

describe('commands', () => {
  test.each([
    ['cd /srv/shop && npm test 2>&1 | tail -20', 'Ran `npm test`.'],
    ['npm test', 'npm test passes'],
    ['git commit -m "$(cat <<\'EOF\'\nLong text\nEOF\n)"', "git commit -m \"$(cat <<'EOF'"],
    [
      'docker compose -f deploy/prod.yml up --build --detach web',
      'The web container came up with docker compose up --build --detach -f deploy/prod.yml.',
    ],
  ])('the command %j is carried by %j', (command, text) =>
    expect(isCarried(text, aFact('command', command))).toBe(true),
  )

  test.each([
    ['npm run build', 'npm test passes'],
    ['npm test -- src/a.test.ts src/b.test.ts --run', 'npm test -- src/a.test.ts --run'],
    ['ls', 'A list of tools'],
  ])('the command %j is not carried by %j', (command, text) =>
    expect(isCarried(text, aFact('command', command))).toBe(false),
  )
})

test('a commit is carried by its short id or its subject, and a branch by its name', () => {
  const commit = aFact('commit', 'Close sockets on shutdown', { detail: { id: '0dd0dd0a1b2c3' } })
  expect(isCarried('Last commit 0dd0dd0.', commit)).toBe(true)
  expect(isCarried('Committed "Close sockets on shutdown".', commit)).toBe(true)
  expect(isCarried('Last commit 1234567.', commit)).toBe(false)
  expect(isCarried('on feature/login-form', aFact('branch', 'feature/login'))).toBe(false)
  expect(isCarried('on feature/login', aFact('branch', 'feature/login'))).toBe(true)
})
