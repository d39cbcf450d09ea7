import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { WorkspaceSpec, WorkspaceState } from '../contract/records/job.js'
import { setUpWorkspace, type WorkspaceRequest } from '../jobs/workspace/set-up.js'
import { tearDownWorkspace } from '../jobs/workspace/tear-down.js'

/** Creates a real repository with one commit, isolated from the machine's git settings. */
export function createTestRepository({ name = 'repo', commits = true } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-workspace-')))
  const root = join(folder, name)
  const bin = join(folder, 'bin')
  mkdirSync(root)
  mkdirSync(bin)
  const env: Record<string, string> = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@b',
  }
  const git = (at: string, ...args: string[]): string =>
    execFileSync('git', ['-C', at, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd()
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const commit = (at: string, file: string, text = file): void => {
    put(join(at, file), text)
    git(at, 'add', '-A')
    git(at, 'commit', '-q', '-m', `Add ${file}`)
  }
  git(folder, 'init', '-q', '-b', 'main', root)
  if (commits) commit(root, 'README.md')

  const spec = (more: Partial<WorkspaceSpec> = {}): WorkspaceSpec => ({
    strategy: 'git_worktree',
    worktreeDir: '.worktrees',
    branchPattern: 'agent/{agent}/{workItem}',
    baseBranch: null,
    pushOnSuccess: false,
    createPr: false,
    removeClean: true,
    ...more,
  })
  const setUp = (
    change: Partial<Omit<WorkspaceRequest, 'workspace'>> = {},
    more: Partial<WorkspaceSpec> = {},
  ): Promise<WorkspaceState> =>
    setUpWorkspace(
      { jobId: 'j1', agentName: 'coder', workItem: null, folder: root, known: null, workspace: spec(more), ...change },
      { env, patienceMs: 300 },
    )
  const tearDown = (
    state: WorkspaceState,
    more: Partial<WorkspaceSpec> = {},
    success = true,
    remoteTimeoutMs = 60_000,
  ) =>
    tearDownWorkspace(
      { workspace: spec(more), state, success, words: { title: 'T', body: 'B' } },
      { env, remoteTimeoutMs },
    )
  return {
    folder,
    root,
    bin,
    env,
    git,
    put,
    commit,
    spec,
    setUp,
    tearDown,
    branches: () => git(root, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n'),
    worktrees: () =>
      git(root, 'worktree', 'list', '--porcelain')
        .split('\n')
        .filter((line) => line.startsWith('worktree ')).length,
    program: (name: string, script: string) => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(bin, name), 0o755)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
