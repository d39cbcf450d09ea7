import { expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { ran, said } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

function collectFacts(kind: Fact['kind'], entries: Entry[]): Fact[] {
  const collected = startFacts()
  for (const entry of entries) collected.add(entry)
  return collected.facts().filter((fact) => fact.kind === kind)
}
const commits = (...entries: Entry[]) => collectFacts('commit', entries).map(({ text, detail }) => [text, detail.id])
const branch = (...entries: Entry[]) => collectFacts('branch', entries).map(({ text }) => text)

test('a commit is recognised by the output of git', () => {
  const [fact] = collectFacts(
    'commit',
    ran('git add -A && git commit -m "Cap it"', '[fix/burst 81c0e4a] Cap it\n 1 file changed'),
  )
  expect(fact).toMatchObject({
    text: 'Cap it',
    state: null,
    detail: { id: '81c0e4a', branch: 'fix/burst', amended: false },
  })
  expect(commits(...ran('git commit -m "Begin"', '[main (root-commit) 1a2b3c4] Begin'))).toEqual([['Begin', '1a2b3c4']])
})

test('a quiet commit is recognised by its message', () => {
  expect(commits(...ran('git commit -qm "Split it"'))).toEqual([['Split it', null]])
  expect(commits(...ran('git commit -q -m "$(cat <<\'EOF\'\nAdd it (at last)\n\nBody.\nEOF\n)"'))).toEqual([
    ['Add it (at last)', null],
  ])
})

test('an amended commit replaces the last one', () => {
  const entries = [...ran('git commit -m a', '[main 1111111] a'), ...ran('git commit --amend -m b', '[main 2222222] b')]
  expect(commits(...entries)).toEqual([['b', '2222222']])
  expect(commits(...ran('git commit -m a', '[main 1111111] a'), ...ran('git commit -q --amend --no-edit'))).toEqual([
    ['a', null],
  ])
})

test('no commit is recorded when a hook refused, nothing changed, or it was reset', () => {
  expect(commits(...ran('git commit -m a', 'pre-commit hook failed', { exitCode: 1, ok: false }))).toEqual([])
  expect(commits(...ran('git commit -m a; true', 'nothing to commit, working tree clean'))).toEqual([])
  expect(commits(...ran('git commit -m a', '[main 1111111] a'), ...ran('git reset --hard HEAD~1'))).toEqual([])
  expect(commits(...ran('git log --oneline', '3f9d2c1 fix(queue): x\n[main 1111111] a'))).toEqual([])
})

test('a commit is recorded although a later command on the same line failed', () => {
  const entries = ran('git commit -m a && git push', '[main 1111111] a\n ! [rejected] main -> main', {
    exitCode: 1,
    ok: false,
  })
  expect(commits(...entries)).toEqual([['a', '1111111']])
})

test('several commits in one command are recorded separately', () => {
  const entries = ran('git commit -m a; git commit -m b', '[main 1111111] a\n 1 file changed\n[main 2222222] b')
  expect(commits(...entries)).toEqual([
    ['a', '1111111'],
    ['b', '2222222'],
  ])
})

test('the branch comes from the output of git, a quiet command, or the newer note of the agent', () => {
  expect(
    branch(said('user', 'x', { branch: 'main' }), ...ran('git checkout -b fix', "Switched to a new branch 'fix'")),
  ).toEqual(['fix'])
  expect(branch(...ran('git switch -q -c quiet'))).toEqual(['quiet'])
  expect(
    branch(
      ...ran('git checkout -q -b a && git commit -m x', '[a 1111111] x'),
      ...ran('git checkout main', "Switched to branch 'main'"),
    ),
  ).toEqual(['main'])
  expect(
    branch(...ran('git checkout -b a', "Switched to a new branch 'a'"), said('agent', 'x', { branch: 'b' })),
  ).toEqual(['b'])
  expect(branch(...ran('git checkout -b bad', 'fatal: not a valid branch name', { exitCode: 128, ok: false }))).toEqual(
    [],
  )
  expect(branch(...ran('git checkout -- a.ts'))).toEqual([])
})
