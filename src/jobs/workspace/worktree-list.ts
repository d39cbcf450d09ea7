import { type GitGround, gitText } from './git.js'

export interface ListedWorktree {
  path: string
  /** null: HEAD is on no branch, or the repository is bare. */
  branch: string | null
  /** null: not locked; '' without a reason. */
  locked: string | null
  /** Its folder is gone. */
  prunable: boolean
}

/** Reads `git worktree list --porcelain -z`. */
export function parseWorktrees(output: string): ListedWorktree[] {
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

/** All of a repository; the first is the one the others belong to. */
export async function worktreesIn(folder: string, ground: GitGround): Promise<ListedWorktree[]> {
  return parseWorktrees(await gitText(folder, ['worktree', 'list', '--porcelain', '-z'], ground))
}
