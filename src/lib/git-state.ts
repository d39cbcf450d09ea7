import { execFileSync } from 'node:child_process'
import { gitFolderOf, isInsideBareRepository, isReadableByGit } from './git-folder.js'
import { scaleTimeout } from './patience.js'

/** The state of a repository, as git reports it. */
export interface GitState {
  branch: string | null
  commit: string | null
  subject: string | null
  /** Paths with uncommitted changes. */
  dirty: string[]
  /** Commits that were not pushed. Null when the branch has no upstream. */
  ahead: number | null
  /** Newest commits first. */
  recent: { id: string; subject: string }[]
}

const PATIENCE_MS = 1_500
const MOST_DIRTY = 200
const MOST_RECENT = 10

/**
 * Reads the state of the repository that contains a folder.
 * Null when there is no repository, no git, or git is too slow.
 */
export function gitState(folder: string, withinMs = scaleTimeout(PATIENCE_MS)): GitState | null {
  const repository = gitFolderOf(folder)
  if (repository === null || isInsideBareRepository(folder) || !isReadableByGit(repository)) return null
  const end = performance.now() + withinMs
  const remainingMs = (): number => Math.max(1, Math.ceil(end - performance.now()))
  const named = git(
    folder,
    ['config', '--show-scope', '--name-only', '-z', '--get-regexp', NAMED_SETTINGS],
    remainingMs(),
  )
  // A truncated list hides filters, and git before 2.31 ignores settings from the environment.
  // In both cases git might start a program that the repository names.
  if (named === null || !named.includes(`command\0${PROBE}\0`)) return null
  const safe = [...SAFE_SETTINGS, ...filterKeysIn(named).map((key) => [key, ''] as const)]
  const status = git(folder, STATUS, remainingMs(), safe)
  if (status === null) return null
  const entries = status.split('\0')
  const head = (name: string): string | null =>
    entries.find((entry) => entry.startsWith(`# ${name} `))?.slice(name.length + 3) ?? null
  const commit = head('branch.oid')
  const branch = head('branch.head')
  const ahead = /^\+(\d+)/.exec(head('branch.ab') ?? '')?.[1]
  const log =
    commit === null || commit === '(initial)'
      ? ''
      : (git(folder, ['log', `-${MOST_RECENT}`, '--format=%h%x00%s'], remainingMs(), safe) ?? '')
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

/**
 * Extracts the paths from lines of `git status`: `1 XY sub mH mI mW hH hI path`,
 * `2 … path` with the old path behind it, `u … path`, `? path`.
 */
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

/**
 * Arguments of git status.
 * Submodules are not searched, because each has a configuration with filters of its own.
 * Only a submodule's commit counts.
 */
const STATUS = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=dirty']

type Setting = readonly [key: string, value: string]

/**
 * Settings that override `.git/config`.
 * A repository can name programs for git to start.
 * Signals name the folder of a repository, so those programs must never run.
 * Git's own rule about the owner of a repository (`safe.directory`) stays in force.
 */
const PROBE = 'baton.probe'
const NAMED_SETTINGS = `^(filter\\.|baton\\.probe$)`
const SAFE_SETTINGS: readonly Setting[] = [
  [PROBE, 'true'],
  // A cloned folder can contain a whole bare repository with a configuration of its own.
  ['safe.bareRepository', 'explicit'],
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['log.showSignature', 'false'],
]

/**
 * Lists the filter commands that the repository itself configures.
 * Filters of the user's own configuration, such as Git LFS, keep working.
 */
function filterKeysIn(listed: string): string[] {
  const fields = listed.split('\0')
  const names = new Set<string>()
  for (let at = 0; at + 1 < fields.length; at += 2)
    if (fields[at] === 'local' || fields[at] === 'worktree')
      names.add(fields[at + 1]!.slice('filter.'.length).replace(/\.[^.]*$/, ''))
  return [...names].flatMap((name) => ['clean', 'smudge', 'process'].map((verb) => `filter.${name}.${verb}`))
}

/**
 * Passes settings as environment variables, because `-c` does not allow every character in a key.
 * These settings override those of the caller's own environment.
 */
function settingsAsEnvironment(settings: readonly Setting[]): Record<string, string> {
  const entries = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(settings.length) }
}

/**
 * Runs git. Null when it failed or took too long.
 * Fetching is turned off, because a partial clone would start programs that its remote names.
 */
function git(folder: string, args: string[], timeout: number, settings = SAFE_SETTINGS): string | null {
  try {
    const env = {
      ...process.env,
      ...settingsAsEnvironment(settings),
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
      LC_ALL: 'C',
    }
    return execFileSync('git', ['-C', folder, ...args], {
      env,
      encoding: 'utf8',
      timeout,
      killSignal: 'SIGKILL',
      maxBuffer: 16 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return null
  }
}
