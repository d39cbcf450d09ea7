import { expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import { called, ran, returned } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

function fileStates(...entries: Entry[]): Record<string, string | null> {
  const facts = startFacts()
  for (const entry of entries) facts.add(entry)
  return Object.fromEntries(
    facts
      .facts()
      .filter(({ kind }) => kind === 'file')
      .map(({ text, state }) => [text, state]),
  )
}
const changedFiles = (command: string, more: Parameters<typeof ran>[2] = {}, output = ''): string[] =>
  Object.entries(fileStates(...ran(command, output, more))).flatMap(([path, state]) =>
    state === 'changed' ? [path] : [],
  )

test('files that tools read and changed are relative to the folder where the session began', () => {
  const read = called({ type: 'read', path: '/home/me/project/a.ts' })
  const outside = called({ type: 'read', path: '/etc/hosts' })
  const change = called({ type: 'change', path: '/home/me/project/src/b.ts' })
  expect(
    fileStates(read, returned(read, 'x'), outside, returned(outside, 'x'), change, returned(change, 'ok')),
  ).toEqual({
    'a.ts': 'read',
    '/etc/hosts': 'read',
    'src/b.ts': 'changed',
  })
})

test('a missing file or a refused change is no fact, and a changed file stays changed', () => {
  const missing = called({ type: 'read', path: '/home/me/project/none' })
  const change = called({ type: 'change', path: '/home/me/project/a.ts' })
  const again = called({ type: 'read', path: '/home/me/project/a.ts' })
  const refused = called({ type: 'change', path: '/home/me/project/b.ts' })
  expect(
    fileStates(
      ...[missing, returned(missing, 'File does not exist.', { ok: false })],
      ...[change, returned(change, 'ok'), again, returned(again, 'x')],
      ...[refused, returned(refused, 'no', { ok: false, refused: true })],
    ),
  ).toEqual({ 'a.ts': 'changed' })
})

test('a change without a result counts as changed and is marked as unconfirmed', () => {
  const facts = startFacts()
  facts.add(called({ type: 'change', path: '/home/me/project/a.ts' }))
  expect(facts.facts()).toMatchObject([{ text: 'a.ts', state: 'changed', detail: { unconfirmed: true } }])
})

test.each<[string, string[]]>([
  ['echo x > out.txt', ['out.txt']],
  ['echo x >> docs/log.md', ['docs/log.md']],
  ["sed -i 's/a/b/' a.ts b.ts", ['a.ts', 'b.ts']],
  ["sed -i '' -e 's/a/b/' a.ts", ['a.ts']],
  ["perl -pi -e 's/a/b/' a.ts", ['a.ts']],
  ['mv old.ts new.ts', ['old.ts', 'new.ts']],
  ['git mv README README.md', ['README', 'README.md']],
  ['mv a.ts b.ts lib/', ['a.ts', 'b.ts', 'lib/a.ts', 'lib/b.ts']],
  ['cp a.ts b.ts', ['b.ts']],
  ['rm -f a.ts', ['a.ts']],
  ['git rm a.ts', ['a.ts']],
  ['echo x | tee -a a.log', ['a.log']],
  ['touch a b', ['a', 'b']],
  ['cd src && touch a.ts && cd .. && touch b.ts', ['src/a.ts', 'b.ts']],
  ["cat > db.sh <<'EOF'\npg_dump > /var/x.sql\nEOF", ['db.sh']],
  ['curl -sSL -o install.sh https://example.org/i.sh', ['install.sh']],
  ['git checkout -- src/a.ts', []],
  ["sed -i '' 's/a/b/' a.ts", ['a.ts']],
  ["cd x && sed -i '' 's/if a {$/if b {/' y/a.ts", ['x/y/a.ts']],
  ['npm test > /dev/null 2>&1', []],
  ['rm -rf dist node_modules', []],
  ['rm *.log "$TMP"', []],
  ["sed -n '1,5p' a.ts", []],
  ['git rm --cached a.ts', []],
  ['grep -c x a.ts', []],
])('the command %s changes the expected files', (command, expected) => {
  expect(changedFiles(command)).toEqual(expected)
})

test('a failed command changed nothing except the files it opened for writing', () => {
  const failed = { exitCode: 2, ok: false }
  expect(changedFiles("sed -i 's/x/y/' none.sh", failed, "sed: can't read none.sh")).toEqual([])
  expect(changedFiles('./run.sh > out.log', failed, 'no')).toEqual(['out.log'])
  expect(changedFiles("sed -i 's/x/y/' a.ts && npm test", failed, '1 failed')).toEqual(['a.ts'])
  expect(changedFiles("sed -i 's/x/y/' a.ts && npm test", failed, "sed: can't read a.ts")).toEqual([])
  expect(changedFiles('rm a.ts', { ok: false, refused: true })).toEqual([])
})

test('printing a file in the shell counts as reading it', () => {
  expect(fileStates(...ran('cat a.ts && head -n 5 b.ts'))).toEqual({ 'a.ts': 'read', 'b.ts': 'read' })
})

test('a changed file names what its changed parts define, the newest last', () => {
  const first = called({ type: 'change', path: '/home/me/project/a.py', written: 'def parse(text):\n  pass' })
  const second = called({ type: 'change', path: '/home/me/project/a.py', written: 'def check(row):\n  pass' })
  const facts = startFacts()
  for (const entry of [first, returned(first, 'ok'), second, returned(second, 'ok')]) facts.add(entry)
  expect(facts.facts().find(({ kind }) => kind === 'file')!.detail.names).toBe('parse\ncheck')
})

test('a change that git or a command undid before any commit is no change', () => {
  const edit = called({ type: 'change', path: '/p/a.ts' })
  const read = called({ type: 'read', path: '/p/a.ts' })
  const made = called({ type: 'change', path: '/p/new.ts' })
  const before = [read, returned(read, 'x'), edit, returned(edit, 'ok', { line: 3 }), made, returned(made, 'ok')]
  expect(fileStates(...before)).toEqual({ '/p/a.ts': 'changed', '/p/new.ts': 'changed' })
  expect(fileStates(...before, ...ran('git checkout -- /p/a.ts', '', { line: 9 }))).toMatchObject({ '/p/a.ts': 'read' })
  expect(fileStates(...before, ...ran('git restore /p/a.ts', '', { line: 9 }))).toMatchObject({ '/p/a.ts': 'read' })
  expect(fileStates(...before, ...ran('rm /p/new.ts', '', { line: 9 }))).toEqual({ '/p/a.ts': 'changed' })
  const committed = ran('git commit -am "fix: a"', '', { line: 8 })
  expect(fileStates(...before, ...committed, ...ran('git checkout -- /p/a.ts', '', { line: 9 }))).toMatchObject({
    '/p/a.ts': 'changed',
  })
})

test('a temporary file that a tool wrote is no part of the work', () => {
  const change = called({ type: 'change', path: '/tmp/demo/run.sh' })
  expect(fileStates(change, returned(change, 'ok'))).toEqual({})
})
