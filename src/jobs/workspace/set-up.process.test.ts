import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import { trialRepository } from '../../testing/git-repository.js'

const repository = (options?: Parameters<typeof trialRepository>[0]) => {
  const trial = trialRepository(options)
  onTestFinished(trial.remove)
  return trial
}

test('without a strategy a job works in the folder in which it was requested', async () => {
  const trial = repository()
  expect(await trial.setUp({ folder: '/anywhere' }, { strategy: 'none' })).toEqual({
    folder: '/anywhere',
    worktree: null,
  })
})

test('setting up creates a worktree and a branch, and git shows no new files', async () => {
  const trial = repository()
  const state = await trial.setUp({ workItem: 'LIN 42' })
  const path = join(trial.root, '.worktrees', 'j1')
  expect(state).toEqual({
    folder: path,
    worktree: { path, branch: 'agent/coder/LIN-42', base: 'main', repository: trial.root },
  })
  expect(readFileSync(join(path, 'README.md'), 'utf8')).toBe('README.md')
  expect(trial.git(path, 'branch', '--show-current')).toBe('agent/coder/LIN-42')
  expect(trial.git(trial.root, 'status', '--porcelain')).toBe('')
  expect(existsSync(join(trial.root, '.gitignore'))).toBe(false)
  await trial.setUp({ jobId: 'j2' })
  const exclude = readFileSync(join(trial.root, '.git', 'info', 'exclude'), 'utf8')
  expect(exclude.split('\n').filter((line) => line === '/.worktrees/')).toHaveLength(1)
})

test('a worktree that was created but not stored is adopted', async () => {
  const trial = repository()
  const first = await trial.setUp()
  trial.put(join(first.folder, 'half.txt'), 'x')
  expect(await trial.setUp()).toEqual(first)
  expect(trial.worktrees()).toBe(2)
  expect(trial.branches()).toEqual(['agent/coder/j1', 'main'])
  expect(existsSync(join(first.folder, 'half.txt'))).toBe(true)
})

test('a worktree that git did not finish is not touched', async () => {
  const trial = repository()
  const first = await trial.setUp()
  writeFileSync(join(trial.root, '.git', 'worktrees', 'j1', 'locked'), 'initializing')
  const second = await trial.setUp()
  expect(second.worktree).toMatchObject({ path: `${first.worktree!.path}-2`, branch: 'agent/coder/j1-2' })
  expect(existsSync(first.folder)).toBe(true)
})

test('a folder with other content, or another worktree, is not touched', async () => {
  const trial = repository()
  trial.put(join(trial.root, '.worktrees', 'j1', 'mine.txt'), 'x')
  trial.git(trial.root, 'worktree', 'add', '-q', '-b', 'other', '.worktrees/j1-2')
  expect((await trial.setUp()).worktree!.path).toBe(join(trial.root, '.worktrees', 'j1-3'))
  expect(readFileSync(join(trial.root, '.worktrees', 'j1', 'mine.txt'), 'utf8')).toBe('x')
})

describe('a branch name that is taken', () => {
  test('a taken branch name gets a number', async () => {
    const trial = repository()
    trial.git(trial.root, 'branch', 'agent/coder/L1')
    expect((await trial.setUp({ workItem: 'L1' })).worktree!.branch).toBe('agent/coder/L1-2')
    expect((await trial.setUp({ workItem: 'L1', jobId: 'j2' })).worktree!.branch).toBe('agent/coder/L1-3')
  })

  test('a branch name below an existing branch loses its slashes', async () => {
    const trial = repository()
    trial.git(trial.root, 'branch', 'agent')
    expect((await trial.setUp()).worktree!.branch).toBe('agent-coder-j1')
    expect((await trial.setUp()).worktree!.branch).toBe('agent-coder-j1')
  })
})

describe('the starting point of a worktree', () => {
  test('a worktree can start from a named branch, local or remote', async () => {
    const trial = repository()
    trial.git(trial.root, 'branch', 'next')
    trial.commit(trial.root, 'later.txt')
    const state = await trial.setUp({}, { baseBranch: 'next' })
    expect(state.worktree!.base).toBe('next')
    expect(existsSync(join(state.folder, 'later.txt'))).toBe(false)
    trial.git(trial.folder, 'clone', '-q', '--bare', trial.root, 'remote.git')
    trial.git(trial.root, 'remote', 'add', 'origin', join(trial.folder, 'remote.git'))
    trial.git(trial.root, 'fetch', '-q')
    trial.git(trial.root, 'branch', '-D', 'next')
    expect((await trial.setUp({ jobId: 'j2' }, { baseBranch: 'next' })).worktree!.base).toBe('origin/next')
  })

  test('a worktree can start from a detached HEAD', async () => {
    const trial = repository()
    trial.git(trial.root, 'checkout', '-q', '--detach')
    const { worktree } = await trial.setUp()
    expect(worktree!.base).toBe(trial.git(trial.root, 'rev-parse', 'HEAD'))
    expect(worktree!.branch).toBe('agent/coder/j1')
  })

  test('a missing base branch is refused', async () => {
    const trial = repository()
    await expect(trial.setUp({}, { baseBranch: 'mian' })).rejects.toMatchObject({
      message: expect.stringContaining('there is no branch `mian`'),
      hint: 'did you mean `main`?',
      exit: 4,
    })
    expect(trial.worktrees()).toBe(1)
  })
})

test('a repository without commits is refused with what to do', async () => {
  const trial = repository({ commits: false })
  await expect(trial.setUp()).rejects.toMatchObject({
    message: expect.stringContaining('has no commit yet'),
    hint: expect.stringContaining('--allow-empty'),
    exit: 4,
  })
  await expect(trial.setUp({}, { baseBranch: 'main' })).rejects.toMatchObject({
    message: expect.stringContaining('has no commit yet'),
  })
  expect(trial.git(trial.root, 'status', '--porcelain')).toBe('')
})

test('a folder without a repository, and a bare repository, are refused', async () => {
  const trial = repository()
  await expect(trial.setUp({ folder: trial.bin })).rejects.toMatchObject({
    message: expect.stringContaining('is not in a git repository'),
    exit: 4,
  })
  trial.git(trial.folder, 'init', '-q', '--bare', 'bare.git')
  await expect(trial.setUp({ folder: join(trial.folder, 'bare.git') })).rejects.toMatchObject({
    message: expect.stringContaining('without files'),
  })
  await expect(trial.setUp({ folder: join(trial.folder, 'gone') })).rejects.toMatchObject({
    message: expect.stringContaining('is not there'),
  })
})

test('worktrees work with spaces in paths, in subfolders, elsewhere and behind a link', async () => {
  const trial = repository({ name: 'my [odd] repo' })
  trial.commit(trial.root, 'packages/web app/index.js')
  const inside = await trial.setUp({ folder: join(trial.root, 'packages', 'web app') }, { worktreeDir: 'work [trees]' })
  expect(inside.folder).toBe(join(trial.root, 'work [trees]', 'j1', 'packages', 'web app'))
  expect(trial.git(trial.root, 'status', '--porcelain')).toBe('')
  const away = await trial.setUp({ jobId: 'j2' }, { worktreeDir: join(trial.folder, 'else where') })
  expect(away.folder).toBe(join(trial.folder, 'else where', 'j2'))
  symlinkSync(join(trial.folder, 'else where'), join(trial.folder, 'link'))
  const linked = () => trial.setUp({ jobId: 'j3' }, { worktreeDir: join(trial.folder, 'link') })
  expect(await linked()).toEqual(await linked())
})

test("a job requested in another job's worktree starts from there, lies beside it and survives it", async () => {
  const trial = repository()
  const outer = await trial.setUp()
  trial.commit(outer.folder, 'sub/outer.txt')
  const inner = await trial.setUp({ jobId: 'j2', folder: join(outer.folder, 'sub') })
  const path = join(trial.root, '.worktrees', 'j2')
  expect(inner).toEqual({
    folder: join(path, 'sub'),
    worktree: { path, branch: 'agent/coder/j2', base: 'agent/coder/j1', repository: trial.root },
  })
  expect(existsSync(join(inner.folder, 'outer.txt'))).toBe(true)
  expect(await trial.tearDown(outer)).toMatchObject({ kept: false })
  expect(await trial.setUp({ jobId: 'j2', known: inner })).toEqual(inner)
})

test('worktrees of submodules and bare repositories are created where requested', async () => {
  const trial = repository()
  const other = repository()
  trial.git(trial.root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.root, 'sub')
  const sub = join(trial.root, 'sub')
  expect((await trial.setUp({ folder: sub })).worktree).toMatchObject({
    path: join(sub, '.worktrees', 'j1'),
    repository: sub,
  })
  trial.git(trial.folder, 'clone', '-q', '--bare', other.root, 'bare.git')
  trial.git(join(trial.folder, 'bare.git'), 'worktree', 'add', '-q', '-b', 'next', '../next')
  const next = join(trial.folder, 'next')
  expect((await trial.setUp({ folder: next })).worktree).toMatchObject({
    path: join(next, '.worktrees', 'j1'),
    repository: next,
  })
})

test('eight jobs at the same time on one repository each get their own worktree', async () => {
  const trial = repository()
  const states = await Promise.all(
    Array.from({ length: 8 }, (_, index) => trial.setUp({ jobId: `j${index}`, workItem: 'same' })),
  )
  expect(new Set(states.map(({ folder }) => folder)).size).toBe(8)
  expect(states.map(({ worktree }) => worktree!.branch).sort()).toEqual(
    ['', '-2', '-3', '-4', '-5', '-6', '-7', '-8'].map((suffix) => `agent/coder/same${suffix}`),
  )
})

test('a lock that another git process holds for a moment is waited for', async () => {
  const trial = repository()
  const lock = join(trial.root, '.git', 'refs', 'heads', 'agent', 'coder', 'j1.lock')
  mkdirSync(dirname(lock), { recursive: true })
  writeFileSync(lock, '')
  // A git wrapper that reports when it failed.
  const bin = mkdtempSync(join(tmpdir(), 'baton-git-'))
  onTestFinished(() => rmSync(bin, { recursive: true }))
  const failed = join(bin, 'failed')
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n'${real}' "$@" && exit\ncode=$?\n: > '${failed}'\nexit $code\n`, {
    mode: 0o755,
  })
  trial.env.PATH = `${bin}:${trial.env.PATH ?? process.env.PATH}`
  const settingUp = trial.setUp()
  await until('git has met the lock', () => existsSync(failed))
  rmSync(lock)
  expect((await settingUp).worktree!.branch).toBe('agent/coder/j1')
})

test('a repository named in the environment is ignored', async () => {
  const trial = repository()
  const other = repository()
  trial.env.GIT_DIR = join(other.root, '.git')
  await trial.setUp()
  delete trial.env.GIT_DIR
  expect([trial.worktrees(), other.worktrees()]).toEqual([2, 1])
})

describe('resuming a job in its worktree', () => {
  test('a resumed job finds its stored worktree, whatever branch is checked out', async () => {
    const trial = repository()
    const known = await trial.setUp()
    trial.git(known.folder, 'checkout', '-q', '-b', 'elsewhere')
    expect(await trial.setUp({ known })).toEqual(known)
    expect(trial.worktrees()).toBe(2)
  })

  test('a removed worktree is created again from its branch', async () => {
    const trial = repository()
    const known = await trial.setUp()
    trial.commit(known.folder, 'done.txt')
    rmSync(known.folder, { recursive: true })
    expect(await trial.setUp({ known })).toEqual(known)
    expect(existsSync(join(known.folder, 'done.txt'))).toBe(true)
  })

  test('the checkout around a broken worktree is never used in its place', async () => {
    const trial = repository()
    const known = await trial.setUp()
    rmSync(known.folder, { recursive: true })
    mkdirSync(known.folder, { recursive: true })
    expect(await trial.setUp({ known })).toEqual(known)
    expect(trial.git(known.folder, 'rev-parse', '--show-toplevel')).toContain(known.worktree!.path)
    rmSync(join(known.folder, '.git'))
    writeFileSync(join(known.folder, 'mine.txt'), '')
    await expect(trial.setUp({ known })).rejects.toMatchObject({
      message: expect.stringContaining('cannot be made again'),
    })
  })

  test('a worktree that cannot be created again is reported', async () => {
    const trial = repository()
    const known = await trial.setUp()
    trial.git(trial.root, 'worktree', 'remove', known.folder)
    trial.git(trial.root, 'branch', '-D', 'agent/coder/j1')
    await expect(trial.setUp({ known })).rejects.toMatchObject({
      message: expect.stringContaining('cannot be made again'),
      exit: 3,
    })
  })
})

test('a worktree finished late by a git process that survived its Baton is adopted', async () => {
  const trial = repository()
  const first = trial.setUp()
  const second = trial.setUp()
  expect(await second).toMatchObject({
    worktree: { path: (await first).worktree!.path, branch: (await first).worktree!.branch },
  })
  expect(trial.worktrees()).toBe(2)
})

test('half-written git output is read again, and a detached HEAD is its commit', async () => {
  const trial = repository()
  const head = trial.git(trial.root, 'rev-parse', 'HEAD')
  const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const once = join(trial.folder, 'once')
  const half = 'fatal: failed to read .git/worktrees/job_9/commondir: Success'
  trial.program(
    'git',
    `case "$*" in
      *'worktree list'*) [ -e '${once}' ] || { : > '${once}'; echo '${half}' >&2; exit 128; } ;;
      *symbolic-ref*) exit 0 ;;
    esac
    exec '${real}' "$@"`,
  )
  expect(await trial.setUp()).toMatchObject({ worktree: { base: head } })
})
