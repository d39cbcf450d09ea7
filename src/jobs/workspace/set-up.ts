import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkspaceSpec, WorkspaceState } from '../../contract/records/job.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { type GitContext, git, gitFailureLine, gitTry } from './git.js'
import {
  branchBaseOf,
  excludeFromGit,
  type ListedWorktree,
  listWorktrees,
  type Repository,
  repositoryOf,
  worktreeFolder,
} from './repository.js'

export interface WorkspaceRequest {
  jobId: string
  agentName: string | null
  workItem: string | null
  /** Folder in which the job was requested. */
  folder: string
  workspace: WorkspaceSpec
  /** State stored by an earlier run. Null when there is none. */
  known: WorkspaceState | null
}

interface WorkspaceContext extends GitContext {
  /** Time to wait for a worktree that another git process is still creating. */
  patienceMs?: number
}

const MOST_NAMES = 50
const MOST_TRIES = 5
const MAKING_MS = 600_000
const LOOK_EVERY_MS = 100
/** Lock reason that git sets while it creates a worktree. */
const UNFINISHED = 'initializing'

/**
 * Prepares the folder in which a job works.
 * With `git_worktree`: a worktree and a branch, created once and named after the job's id.
 * A worktree that was created but not stored, because Baton was killed, is found and adopted.
 * A worktree that git itself did not finish is not touched.
 * Throws a `BatonError` that says what to do.
 */
export async function setUpWorkspace(request: WorkspaceRequest, context: WorkspaceContext): Promise<WorkspaceState> {
  if (request.known && !request.known.worktree?.dropped) return restoreWorktree(request.known, request, context)
  if (request.workspace.strategy === 'none') return { folder: request.folder, worktree: null }
  const repository = await repositoryOf(request.folder, context)
  const base = await branchBaseOf(repository, request.workspace.baseBranch, context)
  const name = branchName(request.workspace.branchPattern, {
    agent: request.agentName,
    job: request.jobId,
    workItem: request.workItem,
  })
  const folder = worktreeFolder(repository, request.workspace.worktreeDir)
  mkdirSync(folder, { recursive: true })
  const place = { repository, base, name }
  for (let number = 1; number <= MOST_NAMES; number++) {
    // Use the real path, because git resolves symbolic links.
    const path = join(realpathSync(folder), withSuffix(folderName(request.jobId), number))
    await excludeFromGit(repository, folder === repository.home ? path : folder, context)
    const state = (await adoptWorktree(path, place, context)) ?? (await createWorktree(path, place, context))
    // A git process that outlived a killed Baton may have created the worktree meanwhile.
    const late = state ?? (await adoptWorktree(path, place, context))
    if (late) return late
  }
  throw new BatonError(
    `all worktree names in ${folder} are taken`,
    'remove unused worktrees with `git worktree remove`',
    EXIT.refused,
  )
}

/** Throws the errors of `setUpWorkspace` that can be found without creating anything. */
export async function checkWorkspace(
  { strategy, baseBranch }: WorkspaceSpec,
  folder: string,
  context: GitContext,
): Promise<void> {
  if (strategy === 'git_worktree') await branchBaseOf(await repositoryOf(folder, context), baseBranch, context)
}

interface WorktreePlan {
  repository: Repository
  base: string
  /** Name of the branch, before any suffix. */
  name: string
}

async function adoptWorktree(
  path: string,
  place: WorktreePlan,
  context: WorkspaceContext,
): Promise<WorkspaceState | null> {
  const deadline = Date.now() + (context.patienceMs ?? 10_000)
  let found = await findListedWorktree(place.repository.home, path, context)
  while (found?.locked === UNFINISHED && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    found = await findListedWorktree(place.repository.home, path, context)
  }
  if (!found?.branch || found.prunable || found.locked === UNFINISHED || !existsSync(path)) return null
  return hasBranchName(found.branch, place.name) ? stateOf(path, found.branch, place) : null
}

/** Creates a worktree. Null when something else is at the path. */
async function createWorktree(
  path: string,
  place: WorktreePlan,
  context: WorkspaceContext,
): Promise<WorkspaceState | null> {
  const { home } = place.repository
  if (await findListedWorktree(home, path, context)) return null
  if (existsSync(path) && readdirSync(path).length > 0) return null
  let name = place.name
  let tries = 0
  for (let number = 1; number <= MOST_NAMES; number++) {
    const branch = withSuffix(name, number)
    // Create the branch first, which is atomic.
    // `worktree add -b` may meet another git's lock halfway, leave a branch and need a new name.
    const made = await git(home, ['branch', '--no-track', '--', branch, place.base], context)
    const end =
      made.exitCode === 0
        ? await git(home, ['worktree', 'add', '--quiet', '--', path, branch], context, MAKING_MS)
        : made
    if (end.exitCode === 0) return stateOf(path, branch, place)
    if (made.exitCode === 0) await git(home, ['branch', '-D', '--quiet', '--', branch], context)
    if (/a branch named .* already exists|reference already exists/.test(end.stderr)) continue
    // If `agent` is a branch, `agent/x` cannot be one, as git stores branches as files and folders.
    const blocked = /' exists; cannot create '/.test(end.stderr) && name.includes('/')
    if (blocked) name = name.replaceAll('/', '-')
    // Git may read a file that another git process has half written, and fail.
    else if (end.exitCode === null || ++tries >= MOST_TRIES)
      throw new BatonError(
        `the worktree ${path} cannot be created: ${gitFailureLine(end)}`,
        'fix the cause, then resume the job',
        EXIT.failed,
      )
    else await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS * tries))
    // The path may be a worktree that a killed Baton had begun and git has finished now.
    const theirs = blocked ? null : await adoptWorktree(path, place, context)
    if (theirs) return theirs
    number = blocked ? 0 : number - 1
  }
  throw new BatonError(
    `the branches ${name} to ${name}-${MOST_NAMES} are taken`,
    'set another `branch_pattern`',
    EXIT.refused,
  )
}

/** Returns the worktree of a resumed job. A removed worktree is created again from its branch. */
async function restoreWorktree(
  known: WorkspaceState,
  request: WorkspaceRequest,
  context: GitContext,
): Promise<WorkspaceState> {
  const { worktree } = known
  if (!worktree) return known
  // A folder that lost its `.git` belongs to the checkout around it, which is the user's own.
  const top = existsSync(worktree.path) ? await gitTry(worktree.path, ['rev-parse', '--show-toplevel'], context) : null
  if (top !== null && realpathSync(top) === realpathSync(worktree.path)) return known
  const hint = 'start a new job with `baton run`'
  if (!existsSync(worktree.repository))
    throw new BatonError(`the repository ${worktree.repository} no longer exists`, hint, EXIT.notFound)
  await git(worktree.repository, ['worktree', 'prune'], context)
  const end = await git(
    worktree.repository,
    ['worktree', 'add', '--quiet', '--', worktree.path, worktree.branch],
    context,
    600_000,
  )
  if (end.exitCode === 0) return known
  throw new BatonError(
    `the worktree ${worktree.path} of job ${request.jobId} is missing and cannot be created again: ` +
      gitFailureLine(end),
    hint,
    EXIT.notFound,
  )
}

async function findListedWorktree(root: string, path: string, context: GitContext): Promise<ListedWorktree | null> {
  return (await listWorktrees(root, context)).find((each) => each.path === path) ?? null
}

function stateOf(path: string, branch: string, { repository, base }: WorktreePlan): WorkspaceState {
  const inside = join(path, repository.inside)
  return { folder: existsSync(inside) ? inside : path, worktree: { path, branch, base, repository: repository.home } }
}

function folderName(jobId: string): string {
  return jobId.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '') || 'job'
}

/** Maximum bytes of a branch name, as git stores each level as a file name. */
const MAX_BYTES = 120

interface BranchParts {
  /** Name of the agent. Null for a job from a prompt alone. */
  agent: string | null
  job: string
  /** Name of the work item. Null to use the job's id instead. */
  workItem: string | null
}

/** Builds a branch name from its pattern. The result is always valid for git. */
export function branchName(pattern: string, { agent, job, workItem }: BranchParts): string {
  const filled = pattern
    .replaceAll('{agent}', withoutSlashes(agent ?? 'job'))
    .replaceAll('{job}', withoutSlashes(job))
    .replaceAll('{workItem}', withoutSlashes(workItem ?? job) || withoutSlashes(job))
  const parts = filled
    .split('/')
    .map(cleanLevel)
    .filter((name) => name !== '')
  const name = cutToBytes(parts.join('/')).replace(/(?:\.lock|[/.-])+$/i, '')
  return name === '' || name === 'HEAD' || name === '@' ? `baton-${withoutSlashes(job)}` : name
}

function cutToBytes(name: string): string {
  let taken = ''
  for (const letter of name) {
    if (Buffer.byteLength(taken + letter) > MAX_BYTES) break
    taken += letter
  }
  return taken
}

/** Returns the next name to try: `x` with 2 becomes `x-2`. */
function withSuffix(name: string, number: number): string {
  return number === 1 ? name : `${name}-${number}`
}

/** True when a branch has the given name, or the name with a numeric suffix. */
export function hasBranchName(branch: string, name: string): boolean {
  const flat = name.replaceAll('/', '-')
  return [name, flat].some(
    (known) => branch === known || (branch.startsWith(`${known}-`) && /^\d+$/.test(branch.slice(known.length + 1))),
  )
}

/** Makes user text a single path component, without slashes. */
function withoutSlashes(text: string): string {
  return text.replaceAll('/', '-')
}

/** Cleans one level of a name by the rules of `git check-ref-format`, without shell characters. */
function cleanLevel(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._@+=,#-]+/gu, '-')
    .replace(/@\{|\.{2,}/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[.-]+/, '')
    .replace(/(?:\.lock)+$/i, '')
    .replace(/[.-]+$/, '')
}
