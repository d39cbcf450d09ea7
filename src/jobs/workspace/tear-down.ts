import { existsSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { WorkspaceSpec, WorkspaceState } from '../../contract/records/job.js'
import { runCommand } from '../../lib/run-command.js'
import { type GitContext, git, gitEnv, gitFailureLine, gitTry } from './git.js'
import { listWorktrees } from './repository.js'

interface TearDownRequest {
  workspace: WorkspaceSpec
  state: WorkspaceState
  /** True to push the branch. Failed jobs push nothing. */
  success: boolean
  words: PullRequestText
}

export interface CleanupResult {
  /** True when the worktree still exists. */
  kept: boolean
  /** Path of the worktree. Null when there was none. */
  path: string | null
  /** Branch that still exists. Null when there is none. */
  branch: string | null
  published: Published | null
  /** Sentences for the user about the cleanup, in order. */
  notes: string[]
}

type Worktree = NonNullable<WorkspaceState['worktree']>

/**
 * Cleans up a job's worktree without forcing anything.
 * Never throws, because the job is over.
 * A worktree with changes is kept and reported. A clean worktree is removed.
 * The branch stays if it has commits of its own. Every step can be repeated.
 */
export async function tearDownWorkspace(request: TearDownRequest, context: GitContext): Promise<CleanupResult> {
  const { worktree } = request.state
  if (!worktree) return { kept: false, path: null, branch: null, published: null, notes: [] }
  const { path, branch, base, repository } = worktree
  const kept = (notes: string[], published: Published | null = null): CleanupResult => ({
    kept: true,
    path,
    branch,
    published,
    notes,
  })
  if (!existsSync(repository))
    return { ...kept([`the repository ${repository} no longer exists`]), kept: existsSync(path) }

  const own = await ownCommits(repository, base, branch, context)
  const wished = request.success && (request.workspace.pushOnSuccess || request.workspace.createPr)
  const published = wished && own !== 0 ? await publish(worktree, request.workspace, request.words, context) : null
  const notes = [...(published?.notes ?? []), ...(await noteOtherBranch(worktree, wished, context))]
  if (existsSync(path)) {
    const reason = await whyKept(path, repository, context)
    if (reason) return kept([...notes, `${path} is kept: ${reason}`], published)
    if (!request.workspace.removeClean) return kept(notes, published)
    const end = await git(repository, ['worktree', 'remove', '--', path], context)
    if (end.exitCode !== 0) return kept([...notes, `${path} is kept: ${gitFailureLine(end)}`], published)
  } else await git(repository, ['worktree', 'prune'], context)
  const branchKept = !request.workspace.removeClean || !(await dropBranch(repository, base, branch, context))
  return { kept: false, path, branch: branchKept ? branch : null, published, notes }
}

/** Returns sentences that tell where the work can be found now. */
export function publishedNotes(torn: CleanupResult | null): string[] {
  if (torn === null) return []
  if (!torn.published?.pushed)
    return torn.kept || torn.branch === null ? [] : [`its commits are on the branch ${torn.branch}`]
  const { pullRequest } = torn.published
  return [pullRequest === null ? `the branch ${torn.branch} is pushed` : `pull request: ${pullRequest}`]
}

/**
 * Counts the branch's own commits. 0 for a missing branch.
 * Null when git fails. Nothing is deleted then.
 */
async function ownCommits(
  repository: string,
  base: string,
  branch: string,
  context: GitContext,
): Promise<number | null> {
  if ((await git(repository, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`], context)).exitCode === 1)
    return 0
  const count = await gitTry(repository, ['rev-list', '--count', `refs/heads/${branch}`, '--not', base, '--'], context)
  return count === null ? null : Number(count)
}

/** Reports commits that the agent made on a branch of its own choice, which are not touched. */
async function noteOtherBranch(
  { path, branch, base }: Worktree,
  wished: boolean,
  context: GitContext,
): Promise<string[]> {
  const head = existsSync(path) ? await gitTry(path, ['symbolic-ref', '--quiet', 'HEAD'], context) : null
  if (head === null || head === `refs/heads/${branch}`) return []
  const known = ['--not', base, `refs/heads/${branch}`, '--']
  const count = Number(await gitTry(path, ['rev-list', '--count', '--ignore-missing', head, ...known], context))
  if (!(count > 0)) return []
  const name = head.replace(/^refs\/heads\//, '')
  const commits = `${count} ${count === 1 ? 'commit' : 'commits'}`
  return [`its worktree is on the branch ${name} with ${commits} that ${branch} lacks${wished ? '; not pushed' : ''}`]
}

/** Returns why a worktree must be kept. Null when no work would be lost. */
async function whyKept(path: string, repository: string, context: GitContext): Promise<string | null> {
  const status = await git(
    path,
    ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=none'],
    context,
  )
  if (status.exitCode !== 0) return `its state is unknown (${gitFailureLine(status)})`
  const changes = status.stdout.split('\0').filter((line) => /^.. /.test(line))
  if (changes.length > 0) {
    const names = changes.slice(0, 3).map((line) => line.slice(3))
    return (
      `${changes.length} uncommitted ${changes.length === 1 ? 'file' : 'files'} ` +
      `(${names.join(', ')}${changes.length > 3 ? ', …' : ''})`
    )
  }
  // Git treats nested worktrees as ignored files and would delete them.
  const all = await listWorktrees(repository, context).catch(() => null)
  if (all === null) return 'the worktrees of its repository cannot be listed'
  const inner = all.find((one) => one.path.startsWith(`${path}${sep}`) && existsSync(one.path))
  if (inner) return `it contains another worktree (${relative(path, inner.path)})`
  // Commits may be on a detached HEAD.
  const head = await gitTry(path, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], context)
  if (head === null) return 'it is on a branch without commits'
  const holders = await gitTry(
    repository,
    ['for-each-ref', '--count=1', `--contains=${head}`, 'refs/heads', 'refs/remotes', 'refs/tags'],
    context,
  )
  return holders ? null : `its commit ${head.slice(0, 9)} is on no branch`
}

/**
 * Deletes a branch without commits of its own.
 * The expected commit is passed to git, so that a commit added meanwhile is not lost.
 */
async function dropBranch(repository: string, base: string, branch: string, context: GitContext): Promise<boolean> {
  const tip = await gitTry(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], context)
  if (tip === null) return true
  if ((await ownCommits(repository, base, branch, context)) !== 0) return false
  return (await git(repository, ['update-ref', '-d', `refs/heads/${branch}`, tip], context)).exitCode === 0
}

interface PullRequestText {
  title: string
  body: string
}

interface Published {
  pushed: boolean
  /** Address of the pull request. Null when none was requested, or creating it failed. */
  pullRequest: string | null
  notes: string[]
}

const REMOTE_TIMEOUT_MS = 120_000

/**
 * Pushes the branch and opens a pull request if requested.
 * An error of git or of the pull request is reported in `notes` and does not fail the job.
 */
async function publish(
  worktree: Worktree,
  { createPr }: Pick<WorkspaceSpec, 'createPr'>,
  words: PullRequestText,
  context: GitContext,
): Promise<Published> {
  const { branch, repository } = worktree
  const failed = (note: string): Published => ({ pushed: false, pullRequest: null, notes: [note] })
  const remote = await remoteOf(worktree, context)
  if (remote === null) return failed(`the branch ${branch} is not pushed: the repository has no remote`)
  const refs = `refs/heads/${branch}:refs/heads/${branch}`
  const timeoutMs = context.remoteTimeoutMs ?? REMOTE_TIMEOUT_MS
  const end = await git(repository, ['push', '--quiet', '-u', remote, refs], { ...context, timeoutMs })
  if (end.exitCode !== 0) return failed(`the branch ${branch} is not pushed to ${remote}: ${gitFailureLine(end)}`)
  if (!createPr) return { pushed: true, pullRequest: null, notes: [] }
  return { pushed: true, ...(await openPullRequest(worktree, remote, words, context, timeoutMs)) }
}

/** Returns the remote that the base branch tracks, else `origin`, else the only remote. */
async function remoteOf({ base, repository }: Worktree, context: GitContext): Promise<string | null> {
  const remotes = ((await gitTry(repository, ['remote'], context)) ?? '').split('\n').filter(Boolean)
  const ofBase = await gitTry(repository, ['config', '--get', `branch.${base}.remote`], context)
  const wished = [ofBase, remotes.find((remote) => base.startsWith(`${remote}/`)), 'origin']
  return (
    wished.find((name): name is string => !!name && remotes.includes(name)) ??
    (remotes.length === 1 ? remotes[0]! : null)
  )
}

async function openPullRequest(
  { path, branch, base, repository }: Worktree,
  remote: string,
  { title, body }: PullRequestText,
  context: GitContext,
  timeoutMs: number,
): Promise<Pick<Published, 'pullRequest' | 'notes'>> {
  const into = /^[0-9a-f]{40,64}$/.test(base)
    ? []
    : ['--base', base.startsWith(`${remote}/`) ? base.slice(remote.length + 1) : base]
  const end = await runCommand({
    command: ['gh', 'pr', 'create', '--head', branch, ...into, '--title', title, '--body-file', '-'],
    // The body quotes the conversation, and every user of the machine can read command lines.
    input: body,
    // The worktree may have been deleted before a kill. Then only the rest is repeated.
    cwd: existsSync(path) ? path : repository,
    env: { ...gitEnv(context.env), GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' },
    timeoutMs,
    keep: { head: 0, tail: 64 * 1024 },
    endsGroup: true,
  })
  // If a pull request exists from before a crash, gh names it in its error.
  const address = /https?:\/\/\S+\/pull\/\d+/.exec(`${end.stdout}\n${end.stderr}`)?.[0] ?? null
  if (end.exitCode === 0 || (address && /already exists/.test(end.stderr)))
    return { pullRequest: address ?? end.stdout.trim().split('\n').at(-1) ?? null, notes: [] }
  const missing = end.trouble?.includes('ENOENT')
  const why = missing ? '`gh` is not installed' : gitFailureLine(end)
  return {
    pullRequest: null,
    notes: [`no pull request was opened: ${why}. The branch ${branch} is pushed; open one by hand`],
  }
}
