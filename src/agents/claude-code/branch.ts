import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { rememberFor } from '../../lib/remember.js'

/** The branch checked out where a session works; null: no repository, or a detached head. No subprocess. */
export function readBranch(cwd: string | null): string | null {
  if (cwd === null || !isAbsolute(cwd)) return null
  return remembered(cwd, () => findBranch(cwd))
}

const remembered = rememberFor<string | null>(1000, 1024)

function findBranch(cwd: string): string | null {
  for (let dir = cwd; ; dir = dirname(dir)) {
    const head = headOf(join(dir, '.git'))
    if (head !== null) return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1] ?? null
    if (dir === dirname(dir)) return null
  }
}

function headOf(git: string): string | null {
  try {
    const stat = statSync(git, { throwIfNoEntry: false })
    if (stat === undefined) return null
    if (stat.isDirectory()) return readFileSync(join(git, 'HEAD'), 'utf8')
    // A worktree or submodule: `.git` is a file that names the real folder.
    const link = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1]
    return link === undefined ? null : readFileSync(join(resolve(dirname(git), link), 'HEAD'), 'utf8')
  } catch {
    return null
  }
}
