import { appendFileSync, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BatonError, EXIT } from '../../lib/errors.js'
import { readNamedFile } from '../../lib/named-file.js'
import { nearestName } from '../../lib/nearest-name.js'
import { type GitContext, git, gitFailureLine, gitText, gitTry } from './git.js'

export interface Repository {
  /** Root of the checkout in which the job was requested. Its state is the starting point. */
  root: string
  /**
   * Main checkout, below which worktrees are created.
   * A worktree inside another worktree would be deleted with the other one.
   */
  home: string
  /** Path from the repository's root to the job's folder. Empty for the root itself. */
  inside: string
}

export async function repositoryOf(folder: string, context: GitContext): Promise<Repository> {
  const end = await git(folder, ['rev-parse', '--show-toplevel'], context)
  if (end.trouble?.includes('ENOENT'))
    throw new BatonError('git is not installed', 'install git, or set `workspace: {strategy: none}`', EXIT.refused)
  if (end.exitCode !== 0) {
    const bare = /must be run in a work tree/.test(end.stderr)
    const what = end.trouble ?? (bare ? 'is a bare repository' : 'is not in a git repository')
    const why = end.trouble || bare || /not a git repository/i.test(end.stderr) ? what : gitFailureLine(end)
    throw new BatonError(
      `${folder}: ${why}`,
      'a worktree needs a repository: run `git init`, or set `strategy: none`',
      EXIT.refused,
    )
  }
  const root = end.stdout.replace(/\n$/, '')
  return { root, home: await findMainCheckout(root, context), inside: relative(root, realpathSync(folder)) }
}

async function findMainCheckout(root: string, context: GitContext): Promise<string> {
  const folders = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir']
  const [own, common] = (await gitText(root, folders, context)).split('\n')
  if (own === common) return root
  const first = (await listWorktrees(root, context))[0]?.path
  // A bare repository has no checkout, and for a submodule git names its internal folder.
  const top = first && existsSync(first) ? await gitTry(first, ['rev-parse', '--show-toplevel'], context) : null
  return top !== null && top === first ? top : root
}

/** Returns the start of the job's branch: the name of a branch if there is one, else the commit. */
export async function branchBaseOf({ root }: Repository, asked: string | null, context: GitContext): Promise<string> {
  const head = await gitTry(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], context)
  if (asked === null) {
    if (!head) throw noCommitsError(root)
    return (await gitTry(root, ['symbolic-ref', '--quiet', '--short', 'HEAD'], context)) || head
  }
  const remotes = (await gitText(root, ['remote'], context)).split('\n').filter(Boolean)
  for (const name of [asked, ...remotes.map((remote) => `${remote}/${asked}`)]) {
    if (
      (await gitTry(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], context)) !==
      null
    )
      return name
  }
  if (head === null) throw noCommitsError(root)
  const branches = (await gitText(root, ['for-each-ref', '--format=%(refname:short)', 'refs/heads'], context)).split(
    '\n',
  )
  const nearest = nearestName(asked, branches)
  const hint = nearest ? `did you mean \`${nearest}\`?` : `branches: ${branches.slice(0, 10).join(', ')}`
  throw new BatonError(`there is no branch \`${asked}\` in ${root} to start from`, hint, EXIT.refused, {
    key: 'workspace.base_branch',
  })
}

function noCommitsError(root: string): BatonError {
  const hint = 'run `git commit --allow-empty -m "First"`, or set `strategy: none`'
  return new BatonError(`${root} has no commit yet, but a worktree needs one`, hint, EXIT.refused)
}

/** Returns the folder for worktrees of a repository. */
export function worktreeFolder({ home }: Repository, worktreeDir: string): string {
  return isAbsolute(worktreeDir) ? resolve(worktreeDir) : resolve(join(home, worktreeDir))
}

const LARGEST_EXCLUDE = 1024 * 1024

/**
 * Hides worktrees from `git status`.
 * Uses the repository's own exclude list, never a committed file.
 */
export async function excludeFromGit({ home }: Repository, folder: string, context: GitContext): Promise<void> {
  const below = relative(home, folder)
  if (below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) return
  if ((await git(home, ['check-ignore', '--quiet', '--', `${below}/x`], context)).exitCode === 0) return
  const path = resolve(home, await gitText(home, ['rev-parse', '--git-path', 'info/exclude'], context))
  const line = `/${below.replace(/[\\*?[\]!#]/g, '\\$&')}/`
  const read = readNamedFile(path, { owner: 'anyone', most: LARGEST_EXCLUDE })
  if ('refused' in read && read.refused !== 'missing') return
  const known = 'refused' in read ? '' : read.bytes.toString('utf8')
  if (known.split('\n').includes(line)) return
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, `${known === '' || known.endsWith('\n') ? '' : '\n'}${line}\n`)
}

export interface ListedWorktree {
  path: string
  /** Name of the branch. Null when HEAD is detached or the repository is bare. */
  branch: string | null
  /** Reason why git locked the worktree, possibly empty. Null when it is not locked. */
  locked: string | null
  /** True when the worktree's folder is gone. */
  prunable: boolean
}

/** Parses `git worktree list --porcelain -z`. */
function parseWorktrees(output: string): ListedWorktree[] {
  return output.split('\0\0').flatMap((block) => {
    const lines = block.split('\0').filter((line) => line !== '')
    const value = (key: string): string | null => {
      const line = lines.find((each) => each === key || each.startsWith(`${key} `))
      return line === undefined ? null : line.slice(key.length + 1)
    }
    const path = value('worktree')
    if (path === null) return []
    const branch = value('branch')?.replace(/^refs\/heads\//, '') ?? null
    return [{ path, branch, locked: value('locked'), prunable: value('prunable') !== null }]
  })
}

/** Lists all worktrees of a repository. The first is the main checkout. */
export async function listWorktrees(folder: string, context: GitContext): Promise<ListedWorktree[]> {
  return parseWorktrees(await gitText(folder, ['worktree', 'list', '--porcelain', '-z'], context))
}
