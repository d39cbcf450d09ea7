import { execFileSync } from 'node:child_process'

/** A repository as git tells it. */
export interface GitState {
  branch: string | null
  commit: string | null
  subject: string | null
  /** Paths of what is not committed. */
  dirty: string[]
  /** Commits that were not pushed; null: not known. */
  ahead: number | null
  /** Newest first. */
  recent: { id: string; subject: string }[]
}

const PATIENCE_MS = 1_500
const MOST_DIRTY = 200
const MOST_RECENT = 10

/** null: no repository, no git, or one too slow to wait for. */
export function gitState(folder: string, withinMs = PATIENCE_MS): GitState | null {
  const end = performance.now() + withinMs
  const left = (): number => Math.max(1, Math.ceil(end - performance.now()))
  const status = git(folder, ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal'], left())
  if (status === null) return null
  const entries = status.split('\0')
  const head = (name: string): string | null =>
    entries.find((entry) => entry.startsWith(`# ${name} `))?.slice(name.length + 3) ?? null
  const commit = head('branch.oid')
  const branch = head('branch.head')
  const ahead = /^\+(\d+)/.exec(head('branch.ab') ?? '')?.[1]
  const log =
    commit === null || commit === '(initial)' ? '' : (git(folder, ['log', `-${MOST_RECENT}`, '--format=%h%x00%s'], left()) ?? '')
  const recent = log.split('\n').flatMap((line) => {
    const [id, subject] = line.split('\0')
    return id && subject !== undefined ? [{ id, subject }] : []
  })
  return {
    branch: branch === '(detached)' ? null : branch,
    commit: commit === '(initial)' ? null : commit,
    subject: recent[0]?.subject ?? null,
    dirty: dirtyIn(entries),
    ahead: ahead === undefined ? null : Number(ahead),
    recent,
  }
}

/** `1 XY sub mH mI mW hH hI path`, `2 … path` followed by the old one, `u … path`, `? path`. */
function dirtyIn(entries: readonly string[]): string[] {
  const paths: string[] = []
  for (let at = 0; at < entries.length && paths.length < MOST_DIRTY; at++) {
    const entry = entries[at]!
    const fields = { '1': 8, '2': 9, u: 10, '?': 1 }[entry[0] ?? '']
    if (fields === undefined) continue
    paths.push(entry.split(' ').slice(fields).join(' '))
    if (entry[0] === '2') at++
  }
  return paths
}

function git(folder: string, args: string[], timeout: number): string | null {
  try {
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' }
    return execFileSync('git', ['-C', folder, ...args], {
      ...{ env, encoding: 'utf8', timeout, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024 },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return null
  }
}
