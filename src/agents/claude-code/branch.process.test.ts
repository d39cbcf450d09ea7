import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../test/harness/temp-dir.js'
import { readBranch } from './claude-code.js'

function createRepository(): { dir: string; git: (...args: string[]) => void } {
  const dir = tempDir()
  const git = (...args: string[]) =>
    void execFileSync('git', ['-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { stdio: 'ignore' })
  git('init', '-b', 'trunk')
  git('commit', '--allow-empty', '-m', 'Begin')
  return { dir, git }
}

test('the checked out branch is found, also from a subfolder and with a slash in its name', () => {
  const { dir, git } = createRepository()
  expect(readBranch(dir)).toBe('trunk')
  git('checkout', '-b', 'fix/login')
  mkdirSync(path.join(dir, 'a', 'b'), { recursive: true })
  expect(readBranch(path.join(dir, 'a', 'b'))).toBe('fix/login')
})

test('a worktree has its own branch', () => {
  const { dir, git } = createRepository()
  git('worktree', 'add', '-b', 'other', 'tree')
  expect(readBranch(path.join(dir, 'tree'))).toBe('other')
})

test('there is no branch on a detached head, outside a repository and without a folder', () => {
  const { dir, git } = createRepository()
  git('checkout', '--detach')
  expect(readBranch(dir)).toBeNull()
  expect(readBranch(tempDir())).toBeNull()
  expect(readBranch('/nowhere/at/all')).toBeNull()
  expect(readBranch('relative')).toBeNull()
  expect(readBranch(null)).toBeNull()
  writeFileSync(path.join(dir, 'file'), '')
  expect(readBranch(path.join(dir, 'file'))).toBeNull()
})
