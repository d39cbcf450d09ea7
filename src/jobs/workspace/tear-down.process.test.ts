import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { holdTime } from '../../../test/harness/held-time.js'
import { until } from '../../../test/harness/wait.js'
import { createTestRepository } from '../../testing/git-repository.js'

const makeWorktree = async () => {
  const fixture = createTestRepository()
  onTestFinished(fixture.remove)
  const state = await fixture.setUp()
  return { ...fixture, state, path: state.worktree!.path }
}
const BRANCH = 'agent/coder/j1'

describe('cleaning up a worktree', () => {
  test('a worktree without changes is removed with its branch, and removing twice is harmless', async () => {
    const { state, path, tearDown, branches, worktrees } = await makeWorktree()
    const gone = { kept: false, path, branch: null, published: null, notes: [] }
    expect(await tearDown(state)).toEqual(gone)
    expect(existsSync(path)).toBe(false)
    expect(branches()).toEqual(['main'])
    expect(worktrees()).toBe(1)
    expect(await tearDown(state)).toEqual(gone)
  })

  test('a worktree with commits is removed, and its branch stays', async () => {
    const { state, path, tearDown, commit, branches } = await makeWorktree()
    commit(path, 'done.txt')
    expect(await tearDown(state)).toEqual({ kept: false, path, branch: BRANCH, published: null, notes: [] })
    expect(existsSync(path)).toBe(false)
    expect(branches()).toEqual([BRANCH, 'main'])
  })

  test.each<[string, (fixture: Awaited<ReturnType<typeof makeWorktree>>) => void, RegExp]>([
    ['a changed file', ({ path, put }) => put(join(path, 'README.md'), 'else'), /1 uncommitted file \(README\.md\)/],
    ['a new file', ({ path, put }) => put(join(path, 'new file.txt'), 'x'), /1 uncommitted file \(new file\.txt\)/],
    [
      'staged files',
      ({ path, put, git }) => {
        for (const name of ['a', 'b', 'c', 'd']) put(join(path, name), 'x')
        git(path, 'add', '-A')
      },
      /4 uncommitted files \(a, b, c, …\)/,
    ],
    [
      'a commit on no branch',
      ({ path, git, commit }) => {
        git(path, 'checkout', '-q', '--detach')
        commit(path, 'loose.txt')
      },
      /its commit \w{9} is on no branch/,
    ],
    [
      'another worktree in an ignored folder',
      ({ path, git, root, put }) => {
        put(join(root, '.git', 'info', 'exclude'), '/.worktrees/\n')
        git(path, 'worktree', 'add', '-q', '-b', 'inner', '.worktrees/inner')
        put(join(path, '.worktrees', 'inner', 'work.txt'), 'not committed')
      },
      /it contains another worktree \(\.worktrees\/inner\)/,
    ],
    ['a lock', ({ path, git, root }) => void git(root, 'worktree', 'lock', path), /locked/],
  ])('a worktree with %s is kept and reported', async (_, change, note) => {
    const fixture = await makeWorktree()
    change(fixture)
    const end = await fixture.tearDown(fixture.state)
    expect(end).toMatchObject({ kept: true, path: fixture.path, branch: BRANCH })
    expect(end.notes.join()).toMatch(note)
    expect(end.notes.join()).toContain(fixture.path)
    expect(existsSync(fixture.path)).toBe(true)
    expect(fixture.branches()).toContain(BRANCH)
  })

  test('a clean worktree stays if configured so', async () => {
    const { state, path, tearDown, branches } = await makeWorktree()
    expect(await tearDown(state, { removeClean: false })).toMatchObject({ kept: true, branch: BRANCH })
    expect(existsSync(path)).toBe(true)
    expect(branches()).toContain(BRANCH)
  })

  test('a worktree whose base is gone keeps its branch', async () => {
    const { state, root, git, tearDown, branches } = await makeWorktree()
    git(root, 'branch', '-m', 'main', 'trunk')
    expect(await tearDown(state)).toMatchObject({ kept: false, branch: BRANCH })
    expect(branches()).toContain(BRANCH)
  })

  test('a worktree that was removed already is reported as gone', async () => {
    const { state, path, tearDown, worktrees } = await makeWorktree()
    rmSync(path, { recursive: true })
    expect(await tearDown(state)).toMatchObject({ kept: false, branch: null, notes: [] })
    expect(worktrees()).toBe(1)
  })

  test('a job without a worktree has nothing to clean up', async () => {
    const { tearDown } = await makeWorktree()
    expect(await tearDown({ folder: '/x', worktree: null })).toMatchObject({ kept: false, path: null, notes: [] })
  })
})

describe('push and pull request', () => {
  const withRemote = async () => {
    const fixture = await makeWorktree()
    fixture.git(fixture.folder, 'init', '-q', '--bare', 'remote.git')
    const remote = join(fixture.folder, 'remote.git')
    fixture.git(fixture.root, 'remote', 'add', 'origin', remote)
    fixture.commit(fixture.path, 'done.txt')
    const readCalls = () => readFileSync(join(fixture.folder, 'gh.txt'), 'utf8')
    const gh = (script: string) => fixture.program('gh', `printf '%s\\n' "$@" > "${fixture.folder}/gh.txt"\n${script}`)
    return {
      ...fixture,
      remote,
      gh,
      readCalls,
      pushed: () => fixture.git(remote, 'for-each-ref', '--format=%(refname:short)'),
    }
  }

  test('the branch is pushed with its upstream', async () => {
    const { state, root, git, tearDown, pushed } = await withRemote()
    expect(await tearDown(state, { pushOnSuccess: true })).toMatchObject({
      kept: false,
      branch: BRANCH,
      published: { pushed: true, pullRequest: null },
      notes: [],
    })
    expect(pushed()).toBe(BRANCH)
    expect(git(root, 'config', `branch.${BRANCH}.remote`)).toBe('origin')
  })

  test('nothing is pushed for a failed job or without commits', async () => {
    const { state, path, git, tearDown, pushed } = await withRemote()
    expect(await tearDown(state, { pushOnSuccess: true, removeClean: false }, false)).toMatchObject({ published: null })
    git(path, 'reset', '-q', '--hard', 'main')
    expect(await tearDown(state, { pushOnSuccess: true })).toMatchObject({ published: null, branch: null })
    expect(pushed()).toBe('')
  })

  test('commits are pushed although uncommitted files remain, and the worktree is kept', async () => {
    const { state, path, put, tearDown, pushed } = await withRemote()
    put(join(path, 'more.txt'), 'x')
    expect(await tearDown(state, { pushOnSuccess: true })).toMatchObject({ kept: true, published: { pushed: true } })
    expect(pushed()).toBe(BRANCH)
  })

  test('a pull request is opened with gh', async () => {
    const { state, gh, readCalls, tearDown, folder } = await withRemote()
    gh('cat > "$(dirname "$0")/body"; echo "https://example.com/me/shop/pull/7"')
    const end = await tearDown(state, { pushOnSuccess: true, createPr: true })
    expect(end).toMatchObject({
      kept: false,
      published: { pushed: true, pullRequest: 'https://example.com/me/shop/pull/7' },
      notes: [],
    })
    expect(readCalls().split('\n').slice(0, -1)).toEqual([
      'pr',
      'create',
      '--head',
      BRANCH,
      '--base',
      'main',
      '--title',
      'T',
      '--body-file',
      '-',
    ])
    expect(readFileSync(join(folder, 'bin', 'body'), 'utf8')).toBe('B')
  })

  test('an existing pull request is reported', async () => {
    const { state, gh, tearDown } = await withRemote()
    gh('echo "a pull request for branch x already exists:" >&2; echo "https://example.com/me/shop/pull/7" >&2; exit 1')
    const { published } = await tearDown(state, { createPr: true })
    expect(published).toMatchObject({ pullRequest: 'https://example.com/me/shop/pull/7', notes: [] })
    // After a kill that followed the removal of the worktree, everything is repeated.
    expect((await tearDown(state, { createPr: true })).published).toEqual(published)
  })

  test('commits on another branch stay there, are reported and not pushed', async () => {
    const { state, path, git, commit, branches, tearDown, pushed } = await withRemote()
    git(path, 'checkout', '-q', '-b', 'fix/parser', 'main')
    commit(path, 'one.txt')
    git(path, 'branch', '-D', BRANCH)
    const { notes, ...end } = await tearDown(state, { pushOnSuccess: true })
    expect(end).toMatchObject({ kept: false, branch: null, published: null })
    expect(notes).toEqual([`its worktree is on the branch fix/parser with 1 commit that ${BRANCH} lacks; not pushed`])
    expect([branches(), pushed()]).toEqual([['fix/parser', 'main'], ''])
  })

  test('another branch without new commits is not reported', async () => {
    const { state, path, git, tearDown } = await withRemote()
    git(path, 'checkout', '-q', '-b', 'same')
    expect((await tearDown(state)).notes).toEqual([])
  })

  test.each([
    ['fails', 'echo "To get started, run: gh auth login" >&2; exit 4', 'gh auth login'],
    ['hangs', 'touch "$0.began"; exec sleep 600', 'timeout after'],
    ['is not there', null, '`gh` is not installed'],
  ])('a gh that %s is reported, and the rest continues', async (does, script, note) => {
    const { state, gh, env, git, folder, program, tearDown, pushed } = await withRemote()
    if (script !== null) gh(script)
    else {
      const real = git(folder, '--exec-path')
      program('git', `PATH=${process.env.PATH} exec git "$@"`)
      env.PATH = `${folder}/bin:${real}:/nowhere`
    }
    const time = does === 'hangs' ? holdTime() : null
    const ending = tearDown(state, { createPr: true }, true, 60_000)
    if (time) await until('gh runs', () => existsSync(join(folder, 'bin', 'gh.began')))
    const end = await (time ? time.pass(ending) : ending)
    expect(end).toMatchObject({ kept: false, branch: BRANCH, published: { pushed: true, pullRequest: null } })
    expect(end.notes.join()).toContain(note)
    expect(end.notes.join()).toContain('open one by hand')
    expect(pushed()).toBe(BRANCH)
  })

  test.each<[string, (fixture: Awaited<ReturnType<typeof withRemote>>) => void, string]>([
    ['no remote', ({ git, root }) => void git(root, 'remote', 'remove', 'origin'), 'has no remote'],
    [
      'a remote that is gone',
      ({ remote }) => rmSync(remote, { recursive: true }),
      'does not appear to be a git repository',
    ],
    [
      'a remote that has other commits',
      ({ git, root, path, remote }) => {
        git(root, 'push', '-q', 'origin', 'main')
        const other = git(root, 'commit-tree', '-m', 'Other', 'main^{tree}')
        git(root, 'push', '-q', remote, `${other}:refs/heads/${BRANCH}`)
        git(path, 'status')
      },
      'rejected',
    ],
    [
      'a remote that never answers',
      ({ git, root, program, env, folder }) => {
        program('never', 'touch "$0.began"; exec sleep 600')
        env.GIT_SSH_COMMAND = join(folder, 'bin', 'never')
        git(root, 'remote', 'set-url', 'origin', 'ssh://nobody@127.0.0.1/x.git')
      },
      'timeout after',
    ],
  ])('with %s the push is not forced, the error is reported and the branch stays', async (_, change, note) => {
    const fixture = await withRemote()
    change(fixture)
    const time = note === 'timeout after' ? holdTime() : null
    const ending = fixture.tearDown(fixture.state, { pushOnSuccess: true, createPr: true }, true, 60_000)
    if (time) await until('git asks the remote', () => existsSync(join(fixture.folder, 'bin', 'never.began')))
    const end = await (time ? time.pass(ending) : ending)
    expect(end).toMatchObject({ branch: BRANCH, published: { pushed: false, pullRequest: null } })
    expect(end.notes[0]).toContain('is not pushed')
    expect(end.notes[0]).toContain(note)
    expect(fixture.branches()).toContain(BRANCH)
  })
})
