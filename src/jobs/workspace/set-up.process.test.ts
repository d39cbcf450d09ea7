import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import { createTestRepository } from '../../testing/git-repository.js'

const repository = (options?: Parameters<typeof createTestRepository>[0]) => {
  const fixture = createTestRepository(options)
  onTestFinished(fixture.remove)
  return fixture
}

test('without a strategy a job works in the folder in which it was requested', async () => {
  const fixture = repository()
  expect(await fixture.setUp({ folder: '/anywhere' }, { strategy: 'none' })).toEqual({
    folder: '/anywhere',
    worktree: null,
  })
})

test('setting up creates a worktree and a branch, and git shows no new files', async () => {
  const fixture = repository()
  const state = await fixture.setUp({ workItem: 'LIN 42' })
  const path = join(fixture.root, '.worktrees', 'j1')
  expect(state).toEqual({
    folder: path,
    worktree: { path, branch: 'agent/coder/LIN-42', base: 'main', repository: fixture.root },
  })
  expect(readFileSync(join(path, 'README.md'), 'utf8')).toBe('README.md')
  expect(fixture.git(path, 'branch', '--show-current')).toBe('agent/coder/LIN-42')
  expect(fixture.git(fixture.root, 'status', '--porcelain')).toBe('')
  expect(existsSync(join(fixture.root, '.gitignore'))).toBe(false)
  await fixture.setUp({ jobId: 'j2' })
  const exclude = readFileSync(join(fixture.root, '.git', 'info', 'exclude'), 'utf8')
  expect(exclude.split('\n').filter((line) => line === '/.worktrees/')).toHaveLength(1)
})

test('a worktree that was created but not stored is adopted', async () => {
  const fixture = repository()
  const first = await fixture.setUp()
  fixture.put(join(first.folder, 'half.txt'), 'x')
  expect(await fixture.setUp()).toEqual(first)
  expect(fixture.worktrees()).toBe(2)
  expect(fixture.branches()).toEqual(['agent/coder/j1', 'main'])
  expect(existsSync(join(first.folder, 'half.txt'))).toBe(true)
})

test('a worktree that git did not finish is not touched', async () => {
  const fixture = repository()
  const first = await fixture.setUp()
  writeFileSync(join(fixture.root, '.git', 'worktrees', 'j1', 'locked'), 'initializing')
  const second = await fixture.setUp()
  expect(second.worktree).toMatchObject({ path: `${first.worktree!.path}-2`, branch: 'agent/coder/j1-2' })
  expect(existsSync(first.folder)).toBe(true)
})

test('a folder with other content, or another worktree, is not touched', async () => {
  const fixture = repository()
  fixture.put(join(fixture.root, '.worktrees', 'j1', 'mine.txt'), 'x')
  fixture.git(fixture.root, 'worktree', 'add', '-q', '-b', 'other', '.worktrees/j1-2')
  expect((await fixture.setUp()).worktree!.path).toBe(join(fixture.root, '.worktrees', 'j1-3'))
  expect(readFileSync(join(fixture.root, '.worktrees', 'j1', 'mine.txt'), 'utf8')).toBe('x')
})

describe('a branch name that is taken', () => {
  test('a taken branch name gets a number', async () => {
    const fixture = repository()
    fixture.git(fixture.root, 'branch', 'agent/coder/L1')
    expect((await fixture.setUp({ workItem: 'L1' })).worktree!.branch).toBe('agent/coder/L1-2')
    expect((await fixture.setUp({ workItem: 'L1', jobId: 'j2' })).worktree!.branch).toBe('agent/coder/L1-3')
  })

  test('a branch name below an existing branch loses its slashes', async () => {
    const fixture = repository()
    fixture.git(fixture.root, 'branch', 'agent')
    expect((await fixture.setUp()).worktree!.branch).toBe('agent-coder-j1')
    expect((await fixture.setUp()).worktree!.branch).toBe('agent-coder-j1')
  })
})

describe('the starting point of a worktree', () => {
  test('a worktree can start from a named branch, local or remote', async () => {
    const fixture = repository()
    fixture.git(fixture.root, 'branch', 'next')
    fixture.commit(fixture.root, 'later.txt')
    const state = await fixture.setUp({}, { baseBranch: 'next' })
    expect(state.worktree!.base).toBe('next')
    expect(existsSync(join(state.folder, 'later.txt'))).toBe(false)
    fixture.git(fixture.folder, 'clone', '-q', '--bare', fixture.root, 'remote.git')
    fixture.git(fixture.root, 'remote', 'add', 'origin', join(fixture.folder, 'remote.git'))
    fixture.git(fixture.root, 'fetch', '-q')
    fixture.git(fixture.root, 'branch', '-D', 'next')
    expect((await fixture.setUp({ jobId: 'j2' }, { baseBranch: 'next' })).worktree!.base).toBe('origin/next')
  })

  test('a worktree can start from a detached HEAD', async () => {
    const fixture = repository()
    fixture.git(fixture.root, 'checkout', '-q', '--detach')
    const { worktree } = await fixture.setUp()
    expect(worktree!.base).toBe(fixture.git(fixture.root, 'rev-parse', 'HEAD'))
    expect(worktree!.branch).toBe('agent/coder/j1')
  })

  test('a missing base branch is refused', async () => {
    const fixture = repository()
    await expect(fixture.setUp({}, { baseBranch: 'mian' })).rejects.toMatchObject({
      message: expect.stringContaining('there is no branch `mian`'),
      hint: 'did you mean `main`?',
      exit: 4,
    })
    expect(fixture.worktrees()).toBe(1)
  })
})

test('a repository without commits is refused with what to do', async () => {
  const fixture = repository({ commits: false })
  await expect(fixture.setUp()).rejects.toMatchObject({
    message: expect.stringContaining('has no commit yet'),
    hint: expect.stringContaining('--allow-empty'),
    exit: 4,
  })
  await expect(fixture.setUp({}, { baseBranch: 'main' })).rejects.toMatchObject({
    message: expect.stringContaining('has no commit yet'),
  })
  expect(fixture.git(fixture.root, 'status', '--porcelain')).toBe('')
})

test('a folder without a repository, and a bare repository, are refused', async () => {
  const fixture = repository()
  await expect(fixture.setUp({ folder: fixture.bin })).rejects.toMatchObject({
    message: expect.stringContaining('is not in a git repository'),
    exit: 4,
  })
  fixture.git(fixture.folder, 'init', '-q', '--bare', 'bare.git')
  await expect(fixture.setUp({ folder: join(fixture.folder, 'bare.git') })).rejects.toMatchObject({
    message: expect.stringContaining('bare'),
  })
  await expect(fixture.setUp({ folder: join(fixture.folder, 'gone') })).rejects.toMatchObject({
    message: expect.stringContaining('does not exist'),
  })
})

test('worktrees work with spaces in paths, in subfolders, elsewhere and behind a link', async () => {
  const fixture = repository({ name: 'my [odd] repo' })
  fixture.commit(fixture.root, 'packages/web app/index.js')
  const inside = await fixture.setUp(
    { folder: join(fixture.root, 'packages', 'web app') },
    { worktreeDir: 'work [trees]' },
  )
  expect(inside.folder).toBe(join(fixture.root, 'work [trees]', 'j1', 'packages', 'web app'))
  expect(fixture.git(fixture.root, 'status', '--porcelain')).toBe('')
  const away = await fixture.setUp({ jobId: 'j2' }, { worktreeDir: join(fixture.folder, 'else where') })
  expect(away.folder).toBe(join(fixture.folder, 'else where', 'j2'))
  symlinkSync(join(fixture.folder, 'else where'), join(fixture.folder, 'link'))
  const linked = () => fixture.setUp({ jobId: 'j3' }, { worktreeDir: join(fixture.folder, 'link') })
  expect(await linked()).toEqual(await linked())
})

test("a job requested in another job's worktree starts from there, lies beside it and survives it", async () => {
  const fixture = repository()
  const outer = await fixture.setUp()
  fixture.commit(outer.folder, 'sub/outer.txt')
  const inner = await fixture.setUp({ jobId: 'j2', folder: join(outer.folder, 'sub') })
  const path = join(fixture.root, '.worktrees', 'j2')
  expect(inner).toEqual({
    folder: join(path, 'sub'),
    worktree: { path, branch: 'agent/coder/j2', base: 'agent/coder/j1', repository: fixture.root },
  })
  expect(existsSync(join(inner.folder, 'outer.txt'))).toBe(true)
  expect(await fixture.tearDown(outer)).toMatchObject({ kept: false })
  expect(await fixture.setUp({ jobId: 'j2', known: inner })).toEqual(inner)
})

test('worktrees of submodules and bare repositories are created where requested', async () => {
  const fixture = repository()
  const other = repository()
  fixture.git(fixture.root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.root, 'sub')
  const sub = join(fixture.root, 'sub')
  expect((await fixture.setUp({ folder: sub })).worktree).toMatchObject({
    path: join(sub, '.worktrees', 'j1'),
    repository: sub,
  })
  fixture.git(fixture.folder, 'clone', '-q', '--bare', other.root, 'bare.git')
  fixture.git(join(fixture.folder, 'bare.git'), 'worktree', 'add', '-q', '-b', 'next', '../next')
  const next = join(fixture.folder, 'next')
  expect((await fixture.setUp({ folder: next })).worktree).toMatchObject({
    path: join(next, '.worktrees', 'j1'),
    repository: next,
  })
})

test('eight jobs at the same time on one repository each get their own worktree', async () => {
  const fixture = repository()
  const states = await Promise.all(
    Array.from({ length: 8 }, (_, index) => fixture.setUp({ jobId: `j${index}`, workItem: 'same' })),
  )
  expect(new Set(states.map(({ folder }) => folder)).size).toBe(8)
  expect(states.map(({ worktree }) => worktree!.branch).sort()).toEqual(
    ['', '-2', '-3', '-4', '-5', '-6', '-7', '-8'].map((suffix) => `agent/coder/same${suffix}`),
  )
})

test('a lock that another git process holds for a moment is waited for', async () => {
  const fixture = repository()
  const lock = join(fixture.root, '.git', 'refs', 'heads', 'agent', 'coder', 'j1.lock')
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
  fixture.env.PATH = `${bin}:${fixture.env.PATH ?? process.env.PATH}`
  const settingUp = fixture.setUp()
  await until('git has met the lock', () => existsSync(failed))
  rmSync(lock)
  expect((await settingUp).worktree!.branch).toBe('agent/coder/j1')
})

test('a repository named in the environment is ignored', async () => {
  const fixture = repository()
  const other = repository()
  fixture.env.GIT_DIR = join(other.root, '.git')
  await fixture.setUp()
  delete fixture.env.GIT_DIR
  expect([fixture.worktrees(), other.worktrees()]).toEqual([2, 1])
})

describe('resuming a job in its worktree', () => {
  test('a resumed job finds its stored worktree, whatever branch is checked out', async () => {
    const fixture = repository()
    const known = await fixture.setUp()
    fixture.git(known.folder, 'checkout', '-q', '-b', 'elsewhere')
    expect(await fixture.setUp({ known })).toEqual(known)
    expect(fixture.worktrees()).toBe(2)
  })

  test('a removed worktree is created again from its branch', async () => {
    const fixture = repository()
    const known = await fixture.setUp()
    fixture.commit(known.folder, 'done.txt')
    rmSync(known.folder, { recursive: true })
    expect(await fixture.setUp({ known })).toEqual(known)
    expect(existsSync(join(known.folder, 'done.txt'))).toBe(true)
  })

  test('the checkout around a broken worktree is never used in its place', async () => {
    const fixture = repository()
    const known = await fixture.setUp()
    rmSync(known.folder, { recursive: true })
    mkdirSync(known.folder, { recursive: true })
    expect(await fixture.setUp({ known })).toEqual(known)
    expect(fixture.git(known.folder, 'rev-parse', '--show-toplevel')).toContain(known.worktree!.path)
    rmSync(join(known.folder, '.git'))
    writeFileSync(join(known.folder, 'mine.txt'), '')
    await expect(fixture.setUp({ known })).rejects.toMatchObject({
      message: expect.stringContaining('cannot be created again'),
    })
  })

  test('a worktree that cannot be created again is reported', async () => {
    const fixture = repository()
    const known = await fixture.setUp()
    fixture.git(fixture.root, 'worktree', 'remove', known.folder)
    fixture.git(fixture.root, 'branch', '-D', 'agent/coder/j1')
    await expect(fixture.setUp({ known })).rejects.toMatchObject({
      message: expect.stringContaining('cannot be created again'),
      exit: 3,
    })
  })
})

test('a worktree finished late by a git process that survived its Baton is adopted', async () => {
  const fixture = repository()
  const first = fixture.setUp()
  const second = fixture.setUp()
  expect(await second).toMatchObject({
    worktree: { path: (await first).worktree!.path, branch: (await first).worktree!.branch },
  })
  expect(fixture.worktrees()).toBe(2)
})

test('half-written git output is read again, and a detached HEAD is its commit', async () => {
  const fixture = repository()
  const head = fixture.git(fixture.root, 'rev-parse', 'HEAD')
  const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const once = join(fixture.folder, 'once')
  const half = 'fatal: failed to read .git/worktrees/job_9/commondir: Success'
  fixture.program(
    'git',
    `case "$*" in
      *'worktree list'*) [ -e '${once}' ] || { : > '${once}'; echo '${half}' >&2; exit 128; } ;;
      *symbolic-ref*) exit 0 ;;
    esac
    exec '${real}' "$@"`,
  )
  expect(await fixture.setUp()).toMatchObject({ worktree: { base: head } })
})
