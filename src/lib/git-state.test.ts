import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { gitState } from './git-state.js'

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-git-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
const git = (dir: string, ...args: string[]) =>
  execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'ignore' })

it('tells branch, commit, what is not committed and what was done last', () => {
  const dir = folder()
  git(dir, 'init', '-q', '-b', 'fix/login')
  expect(gitState(dir)).toMatchObject({ branch: 'fix/login', commit: null, dirty: [], recent: [] })
  for (const name of ['a.ts', 'b.ts', 'old name.ts']) writeFileSync(join(dir, name), name.repeat(20))
  git(dir, 'add', '.')
  git(dir, 'commit', '-q', '-m', 'First one')
  writeFileSync(join(dir, 'a.ts'), 'changed')
  writeFileSync(join(dir, 'new file.ts'), '')
  git(dir, 'mv', 'old name.ts', 'moved.ts')
  const state = gitState(dir)!
  expect(state).toMatchObject({ branch: 'fix/login', subject: 'First one', ahead: null, recent: [{ subject: 'First one' }] })
  expect(state.commit).toMatch(/^[0-9a-f]{40}$/)
  expect(state.dirty.sort()).toEqual(['a.ts', 'moved.ts', 'new file.ts'])
})

it('without a repository there is nothing to tell', () => {
  expect(gitState(folder())).toBeNull()
  expect(gitState('/nowhere/at/all')).toBeNull()
})
