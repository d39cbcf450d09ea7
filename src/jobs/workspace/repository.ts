import { appendFileSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BatonError, EXIT } from '../../lib/errors.js'
import { nearestName } from '../../lib/nearest-name.js'
import { type GitGround, git, gitText, gitTry, whyNot } from './git.js'
import { worktreesIn } from './worktree-list.js'

export interface Repository {
  /** The root of the checkout in which the job was asked for: there lies what it starts from. */
  root: string
  /** The checkout that the others belong to, where there is one: below it worktrees lie. One that lay in another would go with it. */
  home: string
  /** From there to the folder of the job; '' the root itself. */
  inside: string
}

export async function repositoryOf(folder: string, ground: GitGround): Promise<Repository> {
  const end = await git(folder, ['rev-parse', '--show-toplevel'], ground)
  if (end.trouble?.includes('ENOENT'))
    throw new BatonError('git is not installed', 'install it, or write `workspace: {strategy: none}`', EXIT.refused)
  if (end.exitCode !== 0) {
    const bare = /must be run in a work tree/.test(end.stderr)
    const what = end.trouble ?? (bare ? 'is a repository without files' : 'is not in a git repository')
    const why = end.trouble || bare || /not a git repository/i.test(end.stderr) ? what : whyNot(end)
    throw new BatonError(`${folder}: ${why}`, 'a worktree needs a repository: `git init`, or `strategy: none`', EXIT.refused)
  }
  const root = end.stdout.replace(/\n$/, '')
  return { root, home: await homeOf(root, ground), inside: relative(root, realpathSync(folder)) }
}

async function homeOf(root: string, ground: GitGround): Promise<string> {
  const folders = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir']
  const [own, common] = (await gitText(root, folders, ground)).split('\n')
  if (own === common) return root
  const first = (await worktreesIn(root, ground))[0]?.path
  // One without files has no checkout, and of a submodule git names the folder of its own.
  const top = first && existsSync(first) ? await gitTry(first, ['rev-parse', '--show-toplevel'], ground) : null
  return top !== null && top === first ? top : root
}

/** What the job's branch starts from: a name where there is one, else the commit. */
export async function baseOf({ root }: Repository, asked: string | null, ground: GitGround): Promise<string> {
  const head = await gitTry(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], ground)
  if (asked === null) {
    if (!head) throw withoutCommits(root)
    return (await gitTry(root, ['symbolic-ref', '--quiet', '--short', 'HEAD'], ground)) || head
  }
  const remotes = (await gitText(root, ['remote'], ground)).split('\n').filter(Boolean)
  for (const name of [asked, ...remotes.map((remote) => `${remote}/${asked}`)]) {
    if ((await gitTry(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], ground)) !== null)
      return name
  }
  if (head === null) throw withoutCommits(root)
  const branches = (await gitText(root, ['for-each-ref', '--format=%(refname:short)', 'refs/heads'], ground)).split('\n')
  const nearest = nearestName(asked, branches)
  const hint = nearest ? `did you mean \`${nearest}\`?` : `branches: ${branches.slice(0, 10).join(', ')}`
  throw new BatonError(`there is no branch \`${asked}\` in ${root} to start from`, hint, EXIT.refused, {
    key: 'workspace.base_branch',
  })
}

function withoutCommits(root: string): BatonError {
  const hint = 'commit something first (`git commit --allow-empty -m "First"`), or write `strategy: none`'
  return new BatonError(`${root} has no commit yet, and a worktree starts from one`, hint, EXIT.refused)
}

/** Where the worktrees of a repository lie. */
export function worktreesOf({ home }: Repository, worktreeDir: string): string {
  return isAbsolute(worktreeDir) ? resolve(worktreeDir) : resolve(join(home, worktreeDir))
}

/** Keeps git from showing worktrees as new files: in the repository's own list, never in a file that is committed. */
export async function leaveOut({ home }: Repository, folder: string, ground: GitGround): Promise<void> {
  const below = relative(home, folder)
  if (below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) return
  if ((await git(home, ['check-ignore', '--quiet', '--', `${below}/x`], ground)).exitCode === 0) return
  const path = resolve(home, await gitText(home, ['rev-parse', '--git-path', 'info/exclude'], ground))
  const line = `/${below.replace(/[\\*?[\]!#]/g, '\\$&')}/`
  const known = readIfThere(path)
  if (known.split('\n').includes(line)) return
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, `${known === '' || known.endsWith('\n') ? '' : '\n'}${line}\n`)
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
