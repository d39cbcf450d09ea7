import { describe, expect, test } from 'vitest'
import { said } from '../testing/sample-conversation.js'
import { watchConstraints } from './facts.js'

function constraintsIn(text: string, by: 'user' | 'agent' | 'other' = 'user'): [string, string | null][] {
  const watcher = watchConstraints()
  watcher.said!(said(by, text))
  return watcher.facts().map(({ text: words, state }) => [words, state])
}

test.each([
  "Don't add any dependencies.",
  'Please do not touch the generated files.',
  'Never commit to main directly.',
  'You must not log personal data.',
  'The API should never return null here.',
  'No new dependencies please.',
  'Refactor the parser without changing its public API.',
  'Leave the CSS as it is.',
  'Keep the config format unchanged.',
  'The legacy folder is off limits.',
  "We can't use Redis here.",
  "I don't want any global state.",
  'Avoid regular expressions in the hot path.',
  'Be careful not to break the Windows build.',
  "Fix the flaky test, but don't skip it.",
  'Stay away from the billing code.',
  "I'd rather you didn't force push.",
  'Nothing outside src/ may change.',
  'Just refactor, no behaviour changes.',
  'Stop using any in the types.',
  'Existing migrations cannot be edited.',
  'No bashisms, no GNU extensions.',
  'Refrain from reformatting unrelated files.',
  'The wire format is frozen.',
  'Could you rename it without touching the tests?',
])('a prohibition is recognised: %s', (sentence) => {
  expect(constraintsIn(sentence)).toEqual([[sentence, 'forbidden']])
})

test.each([
  'It has to work on Node 18.',
  'All public functions must have doc comments.',
  'Always run the linter before you commit.',
  'Make sure the old URLs still work.',
  'Only touch files under docs/.',
  'Use tabs, not spaces.',
  'Keep the function under 40 lines.',
  'Stick to the existing naming scheme.',
  'Ask me before you delete anything.',
  'From now on, write commit messages in English.',
  'The response time needs to stay below 100 ms.',
  'Python 3.9 only.',
  'Prefer composition over inheritance.',
  'Work on a branch called feature/login.',
  'The output should stay backwards compatible.',
  'One rule for all pages: sentence case in headings.',
  'Remember to update the changelog.',
  'Every endpoint is required to check the token.',
  'At most one query per request.',
  'Follow the style guide in docs/style.md.',
  'Preserve the order of the keys.',
  'Wait for my review before merging.',
])('a requirement is recognised: %s', (sentence) => {
  expect(constraintsIn(sentence)).toEqual([[sentence, 'required']])
})

test.each([
  'The tests do not pass on CI.',
  "I don't know why it fails.",
  'The loop never ends when the list is empty.',
  'It always returns the first element.',
  "The button doesn't work on mobile.",
  'It only happens in production.',
  'There is no output at all.',
  'Fix the login form.',
  "Why doesn't the cache expire?",
  'Should we use Postgres or SQLite?',
  'Must it be sorted?',
  'No, that is fine.',
  'No idea what broke.',
  'Something must have changed since yesterday.',
  'I forgot to mention the second bug.',
  "Don't worry about it.",
  'Never mind, I found it.',
  'Looks good, thanks!',
  'We tried to avoid that last year.',
  'The server cannot connect to the database.',
  'Add a dark mode to the settings page.',
  'Explain how the scheduler works.',
  'Yes, go ahead.',
  'The page still shows the old name.',
  'I was not able to reproduce it.',
  'Rename foo to bar in all files.',
  'Do I have to restart the server?',
])('a sentence that is no constraint is ignored: %s', (sentence) => {
  expect(constraintsIn(sentence)).toEqual([])
})

test('pasted text of the user contains no constraints', () => {
  const text = [
    'CI is red, please fix it. Do not disable the job.',
    '',
    '```',
    'WARNING: you must never run this as root',
    'Always use --safe',
    '```',
    '',
    '> Never merge on Fridays.',
    '2026-10-01T10:00:00Z ERROR the cache must not be empty',
    'TypeError: argument must be a string',
    '    at must (src/never.ts:1:2)',
    '<ticket>',
    'The customer must always see a price.',
    '</ticket>',
  ].join('\n')
  expect(constraintsIn(text)).toEqual([['Do not disable the job.', 'forbidden']])
})

test('only prompts of the user contain constraints', () => {
  expect(constraintsIn('Never push to main.', 'agent')).toEqual([])
  expect(constraintsIn('Never push to main.', 'other')).toEqual([])
})

test('every rule of a list is a constraint, and a repeated one counts once, at its last line', () => {
  const watcher = watchConstraints()
  watcher.said!(said('user', 'Rules:\n- never use any\n- always add tests\n1. Keep it small', { line: 3 }))
  watcher.said!(said('user', 'Never use any', { line: 9 }))
  expect(watcher.facts().map(({ text, line }) => [text, line])).toEqual([
    ['always add tests', 3],
    ['Keep it small', 3],
    ['Never use any', 9],
  ])
})

test('a constraint that wraps over two lines is quoted completely', () => {
  expect(constraintsIn('Whatever you do, please do not\nchange the public interface.')).toEqual([
    ['Whatever you do, please do not change the public interface.', 'forbidden'],
  ])
})

test.each([
  ['de', 'Bitte die Tests nicht ändern.', 'forbidden'],
  ['de', 'Die Schnittstelle muss gleich bleiben.', 'required'],
  ['de', 'Verwende bitte nur die vorhandenen Pakete.', 'required'],
  ['de', 'Ändere nichts an der Datenbank und füge keine neuen Pakete hinzu.', 'forbidden'],
  ['es', 'No toques la configuración del servidor.', 'forbidden'],
  ['es', 'Los tests deben pasar siempre en la CI.', 'required'],
  ['es', 'Trabaja en la rama de pruebas.', 'required'],
  ['fr', 'Ne modifie pas le schéma de la base.', 'forbidden'],
  ['fr', "Il faut garder la compatibilité avec l'ancienne API.", 'required'],
  ['fr', 'Corrige le bug sans ajouter de dépendance.', 'forbidden'],
  ['zh', '不要修改数据库结构。', 'forbidden'],
  ['zh', '必须兼容旧版本。', 'required'],
  ['ja', '設定ファイルは変更しないでください。', 'forbidden'],
  ['ja', '必ずテストを追加してください。', 'required'],
  ['ru', 'Не меняй публичный интерфейс.', 'forbidden'],
  ['ru', 'Код должен работать на старой версии.', 'required'],
])('a constraint in %s is recognised: %s', (_, sentence, state) => {
  expect(constraintsIn(sentence)).toEqual([[sentence, state]])
})

test.each([
  'Der Test läuft nicht durch.',
  'La página no carga bien.',
  'Ça ne marche pas du tout.',
  '这个功能不能运行。',
  'Тест не проходит.',
])('a description of a fault in another language is no constraint: %s', (sentence) => {
  expect(constraintsIn(sentence)).toEqual([])
})

describe('constraints in long prompts', () => {
  const texts = (prompt: string): string[] => {
    const watcher = watchConstraints()
    watcher.said!(said('user', prompt))
    return watcher.facts().map(({ text }) => text)
  }

  test('comments of a script are no headings of a document', () => {
    expect(texts('Never push to main. My script:\n```sh\n# one\n# two\n# three\n```')).toEqual(['Never push to main.'])
  })

  test('sentences of a pasted document count only before its headings and under headings for rules', () => {
    const document =
      'Keep the API stable.\n\n## Goal\nYou must rewrite it all.\n\n' +
      '## Rules\nNever push to main.\n\n## Done when\nIt must pass.'
    expect(texts(document)).toEqual(['Keep the API stable.', 'Never push to main.'])
  })

  test('of a given plan only the line that hands it over counts', () => {
    const plan = 'Please review the following plan and never push to main.\n\n# Cache\n\nYou must use Redis.'
    expect(texts(plan)).toEqual(['Please review the following plan and never push to main.'])
  })

  test('a rule in a typed answer of a dialog counts, at the place of its last mention', () => {
    const watcher = watchConstraints()
    const answer = 'Two processes, and please never share a connection between them, it breaks.'
    watcher.returned!(
      {
        kind: 'returned',
        callId: 'c',
        text: '',
        ok: true,
        exitCode: null,
        interrupted: false,
        answers: [answer],
        answered: [{ question: 'How many?', answer }],
        line: 7,
        at: null,
      },
      { kind: 'called', callId: 'c', tool: 'Ask', act: { type: 'ask', questions: ['How many?'] }, line: 6, at: null },
    )
    expect(watcher.facts()).toMatchObject([{ line: 7, state: 'forbidden', detail: { how: 'dialog' } }])
  })

  test('a request in the last clause of a sentence is a rule', () => {
    const prompt = "let's take the second one, though can we see two reviews per step?"
    expect(texts(prompt)).toEqual([])
    expect(texts(prompt.replace('see', 'stick to'))).toHaveLength(1)
  })

  test('a prompt that asks something is no pasted document, even if it names nobody', () => {
    const told = `the colour of the header needs to be configurable (${'it is fixed in the first version '.repeat(5)})`
    expect(texts(told)).toEqual([])
    expect(texts(`${told}\n\nwhat's the best place for the setting?`)).toEqual([told])
  })
})
