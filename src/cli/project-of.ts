import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { House } from '../house.js'

export interface ProjectHere {
  /** The spelling that stands for it. */
  project: string
  /** Every spelling under which sessions carry it: a link may lead there too. */
  spellings: string[]
  /** False: no session was seen in it yet. */
  known: boolean
}

/**
 * The project a folder belongs to, spelled as sessions spell it: the nearest project of a known session that holds the folder,
 * else the root of its git repository, else the folder itself.
 */
export function projectOf(house: House, cwd: string): ProjectHere {
  const here = real(cwd)
  const spelled = new Set(house.store.sessions().flatMap(({ project }) => (project === null ? [] : [project])))
  const holding = [...spelled].map((project) => ({ project, real: real(project) })).filter((one) => holds(one.real, here))
  const nearest = Math.max(0, ...holding.map((one) => one.real.length))
  const found = holding.filter((one) => one.real.length === nearest)
  const root = found[0]?.real ?? gitRoot(here) ?? here
  return { project: root, spellings: [...new Set([root, ...found.map((one) => one.project)])], known: found.length > 0 }
}

function holds(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

function gitRoot(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

/** A folder that is gone is compared as it is written. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
