import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gitState } from './git-state.js'

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-git-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
const git = (dir: string, ...args: string[]) =>
  execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'ignore' })

test('git state lists branch, commit, uncommitted files and recent commits', () => {
  const dir = newFolder()
  git(dir, 'init', '-q', '-b', 'fix/login')
  expect(gitState(dir)).toMatchObject({ branch: 'fix/login', commit: null, dirty: [], recent: [] })
  for (const name of ['a.ts', 'b.ts', 'old name.ts']) writeFileSync(join(dir, name), name.repeat(20))
  git(dir, 'add', '.')
  git(dir, 'commit', '-q', '-m', 'First one')
  writeFileSync(join(dir, 'a.ts'), 'changed')
  writeFileSync(join(dir, 'new file.ts'), '')
  git(dir, 'mv', 'old name.ts', 'moved.ts')
  const state = gitState(dir)!
  expect(state).toMatchObject({
    branch: 'fix/login',
    subject: 'First one',
    ahead: null,
    recent: [{ subject: 'First one' }],
  })
  expect(state.commit).toMatch(/^[0-9a-f]{40}$/)
  expect(state.dirty.sort()).toEqual(['a.ts', 'moved.ts', 'new file.ts'])
})

test('a folder without a repository has no git state', () => {
  expect(gitState(newFolder())).toBeNull()
  expect(gitState('/nowhere/at/all')).toBeNull()
})

/** Creates a repository whose filter makes git start `program`, which creates `mark`. */
function hostileRepository(): { dir: string; mark: string } {
  const dir = newFolder()
  const mark = join(dir, 'started')
  const program = join(dir, 'program.sh')
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\ncat\n`)
  chmodSync(program, 0o755)
  git(dir, 'init', '-q')
  writeFileSync(join(dir, 'a.ts'), 'one\n')
  git(dir, 'add', 'a.ts')
  git(dir, 'commit', '-q', '-m', 'Begin')
  git(dir, 'config', 'filter.x.clean', program)
  mkdirSync(join(dir, '.git', 'info'), { recursive: true })
  writeFileSync(join(dir, '.git', 'info', 'attributes'), '*.ts filter=x\n')
  // The new text is as long as the old one, so that git has to compare the content.
  writeFileSync(join(dir, 'a.ts'), 'two\n')
  return { dir, mark }
}

test('reading the git state does not start a filter that the repository configures', () => {
  const { dir, mark } = hostileRepository()
  expect(gitState(dir)).toMatchObject({ dirty: expect.arrayContaining(['a.ts']) })
  expect(existsSync(mark)).toBe(false)
})

test('a repository whose list of filters is too long to read has no git state', () => {
  const { dir, mark } = hostileRepository()
  const keys = Array.from({ length: 300 }, (_, n) => `\tk${n} = 1\n`).join('')
  appendFileSync(join(dir, '.git', 'config'), `[filter "${'y'.repeat(60_000)}"]\n${keys}`)
  expect(gitState(dir)).toBeNull()
  expect(existsSync(mark)).toBe(false)
})

test('the git state is not read with a git that ignores settings from the environment', () => {
  const { dir, mark } = hostileRepository()
  const old = newFolder()
  writeFileSync(join(old, 'git'), `#!/bin/sh\nunset GIT_CONFIG_COUNT\nPATH='${process.env.PATH}' exec git "$@"\n`)
  chmodSync(join(old, 'git'), 0o755)
  const path = process.env.PATH
  process.env.PATH = `${old}:${path}`
  onTestFinished(() => {
    process.env.PATH = path
  })
  expect(gitState(dir)).toBeNull()
  expect(existsSync(mark)).toBe(false)
})

test('a bare repository inside another repository has no git state', () => {
  const { dir, mark } = hostileRepository()
  const outer = newFolder()
  git(outer, 'init', '-q')
  const inner = join(outer, 'sub')
  cpSync(join(dir, '.git'), inner, { recursive: true })
  writeFileSync(join(outer, 'a.ts'), 'two\n')
  execFileSync('git', ['config', '--file', join(inner, 'config'), 'core.worktree', '..'])
  expect(gitState(inner)).toBeNull()
  expect(existsSync(mark)).toBe(false)
})
