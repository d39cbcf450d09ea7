import { existsSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { WorkspaceSpec, WorkspaceState } from '../../contract/records/job.js'
import { runCommand } from '../../lib/run-command.js'
import { type GitContext, git, gitEnv, gitTry, whyNot } from './git.js'
import { worktreesIn } from './repository.js'

interface TearDownRequest {
  workspace: WorkspaceSpec
  state: WorkspaceState
  /** Only then is anything pushed. */
  success: boolean
  words: PullRequestWords
}

export interface TornDown {
  /** The worktree is still there. */
  kept: boolean
  /** null: there was none. */
  path: string | null
  /** The branch that is still there; null: none. */
  branch: string | null
  published: Published | null
  /** Sentences for people, in order; empty: nothing is worth a word. */
  notes: string[]
}

type Worktree = NonNullable<WorkspaceState['worktree']>

/**
 * The end of a job's worktree. Nothing is ever forced: a worktree with changes is kept and named; one without is removed; its branch stays
 * if it has commits of its own, else it goes too. Every step may be done twice. Never throws: the job is over, whatever becomes of this.
 */
export async function tearDownWorkspace(request: TearDownRequest, context: GitContext): Promise<TornDown> {
  const { worktree } = request.state
  if (!worktree) return { kept: false, path: null, branch: null, published: null, notes: [] }
  const { path, branch, base, repository } = worktree
  const kept = (notes: string[], published: Published | null = null): TornDown => ({
    kept: true,
    path,
    branch,
    published,
    notes,
  })
  if (!existsSync(repository)) return { ...kept([`the repository ${repository} is gone`]), kept: existsSync(path) }

  const own = await ownCommits(repository, base, branch, context)
  const wished = request.success && (request.workspace.pushOnSuccess || request.workspace.createPr)
  const published = wished && own !== 0 ? await publish(worktree, request.workspace, request.words, context) : null
  const notes = [...(published?.notes ?? []), ...(await elsewhere(worktree, wished, context))]
  if (existsSync(path)) {
    const reason = await whyKept(path, repository, context)
    if (reason) return kept([...notes, `${path} is kept: ${reason}`], published)
    if (!request.workspace.removeClean) return kept(notes, published)
    const end = await git(repository, ['worktree', 'remove', '--', path], context)
    if (end.exitCode !== 0) return kept([...notes, `${path} is kept: ${whyNot(end)}`], published)
  } else await git(repository, ['worktree', 'prune'], context)
  const branchKept = !request.workspace.removeClean || !(await dropBranch(repository, base, branch, context))
  return { kept: false, path, branch: branchKept ? branch : null, published, notes }
}

/** Where the work can be seen now. */
export function publishedNotes(torn: TornDown | null): string[] {
  if (torn === null) return []
  if (!torn.published?.pushed)
    return torn.kept || torn.branch === null ? [] : [`its commits are on the branch ${torn.branch}`]
  const { pullRequest } = torn.published
  return [pullRequest === null ? `the branch ${torn.branch} is pushed` : `pull request: ${pullRequest}`]
}

/** A branch that is gone has none. null: cannot be told, and then nothing is dropped. */
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

/** Commits that the agent made on a branch it chose itself: whose that is nobody knows, so they are named and left there. */
async function elsewhere({ path, branch, base }: Worktree, wished: boolean, context: GitContext): Promise<string[]> {
  const head = existsSync(path) ? await gitTry(path, ['symbolic-ref', '--quiet', 'HEAD'], context) : null
  if (head === null || head === `refs/heads/${branch}`) return []
  const known = ['--not', base, `refs/heads/${branch}`, '--']
  const count = Number(await gitTry(path, ['rev-list', '--count', '--ignore-missing', head, ...known], context))
  if (!(count > 0)) return []
  const name = head.replace(/^refs\/heads\//, '')
  const commits = `${count} ${count === 1 ? 'commit' : 'commits'}`
  return [
    `its worktree was left on the branch ${name}, with ${commits} that ${branch} lacks${wished ? ': not pushed' : ''}`,
  ]
}

/** null: nothing would be lost. */
async function whyKept(path: string, repository: string, context: GitContext): Promise<string | null> {
  const status = await git(
    path,
    ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=none'],
    context,
  )
  if (status.exitCode !== 0) return `its state cannot be told (${whyNot(status)})`
  const changes = status.stdout.split('\0').filter((line) => /^.. /.test(line))
  if (changes.length > 0) {
    const names = changes.slice(0, 3).map((line) => line.slice(3))
    return `${changes.length} uncommitted ${changes.length === 1 ? 'file' : 'files'} (${names.join(', ')}${changes.length > 3 ? ', …' : ''})`
  }
  // git takes them for files that it overlooks, which go.
  const all = await worktreesIn(repository, context).catch(() => null)
  if (all === null) return 'the worktrees of its repository cannot be listed'
  const inner = all.find((one) => one.path.startsWith(`${path}${sep}`) && existsSync(one.path))
  if (inner) return `another worktree lies in it (${relative(path, inner.path)})`
  // Work may have been committed on no branch at all.
  const head = await gitTry(path, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], context)
  if (head === null) return 'it is on a branch without commits'
  const holders = await gitTry(
    repository,
    ['for-each-ref', '--count=1', `--contains=${head}`, 'refs/heads', 'refs/remotes', 'refs/tags'],
    context,
  )
  return holders ? null : `its commit ${head.slice(0, 9)} is on no branch`
}

/** Only while it still has nothing of its own: the commit that was looked at must be the one that goes. */
async function dropBranch(repository: string, base: string, branch: string, context: GitContext): Promise<boolean> {
  const tip = await gitTry(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], context)
  if (tip === null) return true
  if ((await ownCommits(repository, base, branch, context)) !== 0) return false
  return (await git(repository, ['update-ref', '-d', `refs/heads/${branch}`, tip], context)).exitCode === 0
}

interface PullRequestWords {
  title: string
  body: string
}

interface Published {
  pushed: boolean
  /** null: none was asked for, or none came about. */
  pullRequest: string | null
  notes: string[]
}

const REMOTE_TIMEOUT_MS = 120_000

/** Pushes the branch and, where that is wished, opens a pull request. What fails is told; the job has succeeded all the same. */
async function publish(
  worktree: Worktree,
  { createPr }: Pick<WorkspaceSpec, 'createPr'>,
  words: PullRequestWords,
  context: GitContext,
): Promise<Published> {
  const { branch, repository } = worktree
  const failed = (note: string): Published => ({ pushed: false, pullRequest: null, notes: [note] })
  const remote = await remoteOf(worktree, context)
  if (remote === null) return failed(`the branch ${branch} is not pushed: the repository has no remote`)
  const refs = `refs/heads/${branch}:refs/heads/${branch}`
  const timeoutMs = context.remoteTimeoutMs ?? REMOTE_TIMEOUT_MS
  const end = await git(repository, ['push', '--quiet', '-u', remote, refs], { ...context, timeoutMs })
  if (end.exitCode !== 0) return failed(`the branch ${branch} is not pushed to ${remote}: ${whyNot(end)}`)
  if (!createPr) return { pushed: true, pullRequest: null, notes: [] }
  return { pushed: true, ...(await openPullRequest(worktree, remote, words, context, timeoutMs)) }
}

/** The remote the base is followed from, else `origin`, else the only one. */
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
  { title, body }: PullRequestWords,
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
    // The worktree may have gone before a kill, and the rest is done once more.
    cwd: existsSync(path) ? path : repository,
    env: { ...gitEnv(context.env), GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' },
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
  return {
    pullRequest: null,
    notes: [`no pull request was opened: ${why}. The branch ${branch} is pushed; open one by hand`],
  }
}
