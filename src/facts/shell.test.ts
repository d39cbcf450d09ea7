import { expect, test } from 'vitest'
import { parseCommandLine, programOf } from './shell.js'

const words = (command: string): string[][] => parseCommandLine(command).map((run) => run.words.map(({ text }) => text))

test.each<[string, string[][]]>([
  ['ls -la', [['ls', '-la']]],
  ['echo \'a b\' "c d" e\\ f', [['echo', 'a b', 'c d', 'e f']]],
  ['a && b || c; d | e &', [['a'], ['b'], ['c'], ['d'], ['e']]],
  ['cd src && (make; make test)', [['cd', 'src'], ['make'], ['make', 'test']]],
  [
    'npm test 2>&1 | tail -5',
    [
      ['npm', 'test'],
      ['tail', '-5'],
    ],
  ],
  ['echo hi # rm -rf /', [['echo', 'hi']]],
  ["cat > db.sh <<'EOF'\nrm important\nEOF\nchmod +x db.sh", [['cat'], ['chmod', '+x', 'db.sh']]],
  ['sort < in.txt > out.txt', [['sort']]],
  ['echo "unfinished', [['echo', 'unfinished']]],
  ['', []],
])('the command line %j is parsed into programs and words', (command, expected) => {
  expect(words(command)).toEqual(expected)
})

test('redirections are not taken for arguments', () => {
  expect(parseCommandLine('make >> build.log 2>err.log < in')[0]).toMatchObject({
    words: [{ text: 'make' }],
    redirects: [
      { append: true, to: { text: 'build.log' } },
      { append: false, to: { text: 'err.log' } },
    ],
  })
})

test('a message in a here-document stays one word', () => {
  const command = "git commit -m \"$(cat <<'EOF'\nFix (a) thing\n\nIt's done)\nEOF\n)\" && git push"
  expect(words(command).map(([first, second]) => [first, second])).toEqual([
    ['git', 'commit'],
    ['git', 'push'],
  ])
})

test('words with variables and patterns are marked as not evident', () => {
  expect(parseCommandLine('rm "$FILE" *.log a.txt')[0]!.words.map(({ open }) => open)).toEqual([
    false,
    true,
    true,
    false,
  ])
})

test('assignments and wrappers such as sudo are not taken for the program', () => {
  const program = (command: string) => programOf(parseCommandLine(command)[0]!).map(({ text }) => text)
  expect(program('CI=1 sudo rm x')).toEqual(['rm', 'x'])
  expect(program('timeout 10 npm test')).toEqual(['npm', 'test'])
})
