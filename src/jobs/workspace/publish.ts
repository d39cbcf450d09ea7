import { existsSync } from 'node:fs'
import type { WorkspaceSpec, WorkspaceState } from '../../contract/job.js'
import { runCommand } from '../../lib/run-command.js'
import { type GitGround, git, gitEnv, gitTry, whyNot } from './git.js'

export interface PullRequestWords {
  title: string
  body: string
}

export interface Published {
  pushed: boolean
  /** null: none was asked for, or none came about. */
  pullRequest: string | null
  notes: string[]
}

type Worktree = NonNullable<WorkspaceState['worktree']>

const REMOTE_TIMEOUT_MS = 120_000

/** Pushes the branch and, where that is wished, opens a pull request. What fails is told; the job has succeeded all the same. */
export async function publish(
  worktree: Worktree,
  { createPr }: Pick<WorkspaceSpec, 'createPr'>,
  words: PullRequestWords,
  ground: GitGround,
): Promise<Published> {
  const { branch, repository } = worktree
  const failed = (note: string): Published => ({ pushed: false, pullRequest: null, notes: [note] })
  const remote = await remoteOf(worktree, ground)
  if (remote === null) return failed(`the branch ${branch} is not pushed: the repository has no remote`)
  const refs = `refs/heads/${branch}:refs/heads/${branch}`
  const timeoutMs = ground.remoteTimeoutMs ?? REMOTE_TIMEOUT_MS
  const end = await git(repository, ['push', '--quiet', '-u', remote, refs], { ...ground, timeoutMs })
  if (end.exitCode !== 0) return failed(`the branch ${branch} is not pushed to ${remote}: ${whyNot(end)}`)
  if (!createPr) return { pushed: true, pullRequest: null, notes: [] }
  return { pushed: true, ...(await openPullRequest(worktree, remote, words, ground, timeoutMs)) }
}

/** The remote the base is followed from, else `origin`, else the only one. */
async function remoteOf({ base, repository }: Worktree, ground: GitGround): Promise<string | null> {
  const remotes = ((await gitTry(repository, ['remote'], ground)) ?? '').split('\n').filter(Boolean)
  const ofBase = await gitTry(repository, ['config', '--get', `branch.${base}.remote`], ground)
  const wished = [ofBase, remotes.find((remote) => base.startsWith(`${remote}/`)), 'origin']
  return wished.find((name): name is string => !!name && remotes.includes(name)) ?? (remotes.length === 1 ? remotes[0]! : null)
}

async function openPullRequest(
  { path, branch, base, repository }: Worktree,
  remote: string,
  { title, body }: PullRequestWords,
  ground: GitGround,
  timeoutMs: number,
): Promise<Pick<Published, 'pullRequest' | 'notes'>> {
  const into = /^[0-9a-f]{40,64}$/.test(base)
    ? []
    : ['--base', base.startsWith(`${remote}/`) ? base.slice(remote.length + 1) : base]
  const end = await runCommand({
    command: ['gh', 'pr', 'create', '--head', branch, ...into, '--title', title, '--body', body],
    // The worktree may have gone before a kill, and the rest is done once more.
    cwd: existsSync(path) ? path : repository,
    env: { ...gitEnv(ground.env), GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' },
    timeoutMs,
    keep: { head: 0, tail: 64 * 1024 },
    endsGroup: true,
  })
  // One that is there already, from a time before a crash, is named in the refusal.
  const address = /https?:\/\/\S+\/pull\/\d+/.exec(`${end.stdout}\n${end.stderr}`)?.[0] ?? null
  if (end.exitCode === 0 || (address && /already exists/.test(end.stderr)))
    return { pullRequest: address ?? end.stdout.trim().split('\n').at(-1) ?? null, notes: [] }
  const missing = end.trouble?.includes('ENOENT')
  const why = missing ? '`gh` is not installed' : whyNot(end)
  return { pullRequest: null, notes: [`no pull request was opened: ${why}. The branch ${branch} is pushed; open one by hand`] }
}
