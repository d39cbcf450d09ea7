import { existsSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { WorkspaceSpec, WorkspaceState } from '../../contract/job.js'
import { type GitGround, git, gitTry, whyNot } from './git.js'
import { type Published, type PullRequestWords, publish } from './publish.js'
import { worktreesIn } from './worktree-list.js'

export interface TearDownWish {
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
export async function tearDownWorkspace(wish: TearDownWish, ground: GitGround): Promise<TornDown> {
  const { worktree } = wish.state
  if (!worktree) return { kept: false, path: null, branch: null, published: null, notes: [] }
  const { path, branch, base, repository } = worktree
  const kept = (notes: string[], published: Published | null = null): TornDown => ({ kept: true, path, branch, published, notes })
  if (!existsSync(repository)) return { ...kept([`the repository ${repository} is gone`]), kept: existsSync(path) }

  const own = await ownCommits(repository, base, branch, ground)
  const wished = wish.success && (wish.workspace.pushOnSuccess || wish.workspace.createPr)
  const published = wished && own !== 0 ? await publish(worktree, wish.workspace, wish.words, ground) : null
  const notes = [...(published?.notes ?? []), ...(await elsewhere(worktree, wished, ground))]
  if (existsSync(path)) {
    const reason = await whyKept(path, repository, ground)
    if (reason) return kept([...notes, `${path} is kept: ${reason}`], published)
    if (!wish.workspace.removeClean) return kept(notes, published)
    const end = await git(repository, ['worktree', 'remove', '--', path], ground)
    if (end.exitCode !== 0) return kept([...notes, `${path} is kept: ${whyNot(end)}`], published)
  } else await git(repository, ['worktree', 'prune'], ground)
  const branchKept = !wish.workspace.removeClean || !(await dropBranch(repository, base, branch, ground))
  return { kept: false, path, branch: branchKept ? branch : null, published, notes }
}

/** Where the work can be seen now. */
export function publishedNotes(torn: TornDown | null): string[] {
  if (torn === null) return []
  if (!torn.published?.pushed) return torn.kept || torn.branch === null ? [] : [`its commits are on the branch ${torn.branch}`]
  const { pullRequest } = torn.published
  return [pullRequest === null ? `the branch ${torn.branch} is pushed` : `pull request: ${pullRequest}`]
}

/** A branch that is gone has none. null: cannot be told, and then nothing is dropped. */
async function ownCommits(repository: string, base: string, branch: string, ground: GitGround): Promise<number | null> {
  if ((await git(repository, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`], ground)).exitCode === 1) return 0
  const count = await gitTry(repository, ['rev-list', '--count', `refs/heads/${branch}`, '--not', base, '--'], ground)
  return count === null ? null : Number(count)
}

/** Commits that the agent made on a branch it chose itself: whose that is nobody knows, so they are named and left there. */
async function elsewhere({ path, branch, base }: Worktree, wished: boolean, ground: GitGround): Promise<string[]> {
  const head = existsSync(path) ? await gitTry(path, ['symbolic-ref', '--quiet', 'HEAD'], ground) : null
  if (head === null || head === `refs/heads/${branch}`) return []
  const known = ['--not', base, `refs/heads/${branch}`, '--']
  const count = Number(await gitTry(path, ['rev-list', '--count', '--ignore-missing', head, ...known], ground))
  if (!(count > 0)) return []
  const name = head.replace(/^refs\/heads\//, '')
  const commits = `${count} ${count === 1 ? 'commit' : 'commits'}`
  return [`its worktree was left on the branch ${name}, with ${commits} that ${branch} lacks${wished ? ': not pushed' : ''}`]
}

/** null: nothing would be lost. */
async function whyKept(path: string, repository: string, ground: GitGround): Promise<string | null> {
  const status = await git(path, ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=none'], ground)
  if (status.exitCode !== 0) return `its state cannot be told (${whyNot(status)})`
  const changes = status.stdout.split('\0').filter((line) => /^.. /.test(line))
  if (changes.length > 0) {
    const names = changes.slice(0, 3).map((line) => line.slice(3))
    return `${changes.length} uncommitted ${changes.length === 1 ? 'file' : 'files'} (${names.join(', ')}${changes.length > 3 ? ', …' : ''})`
  }
  // git takes them for files that it overlooks, which go.
  const all = await worktreesIn(repository, ground).catch(() => null)
  if (all === null) return 'the worktrees of its repository cannot be listed'
  const inner = all.find((one) => one.path.startsWith(`${path}${sep}`) && existsSync(one.path))
  if (inner) return `another worktree lies in it (${relative(path, inner.path)})`
  // Work may have been committed on no branch at all.
  const head = await gitTry(path, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], ground)
  if (head === null) return 'it is on a branch without commits'
  const holders = await gitTry(
    repository,
    ['for-each-ref', '--count=1', `--contains=${head}`, 'refs/heads', 'refs/remotes', 'refs/tags'],
    ground,
  )
  return holders ? null : `its commit ${head.slice(0, 9)} is on no branch`
}

/** Only while it still has nothing of its own: the commit that was looked at must be the one that goes. */
async function dropBranch(repository: string, base: string, branch: string, ground: GitGround): Promise<boolean> {
  const tip = await gitTry(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], ground)
  if (tip === null) return true
  if ((await ownCommits(repository, base, branch, ground)) !== 0) return false
  return (await git(repository, ['update-ref', '-d', `refs/heads/${branch}`, tip], ground)).exitCode === 0
}
