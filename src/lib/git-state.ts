import { execFileSync } from 'node:child_process'
import { gitFolderOf, isInsideBareRepository, isReadableByGit } from './git-folder.js'
import { patience } from './patience.js'

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
export function gitState(folder: string, withinMs = patience(PATIENCE_MS)): GitState | null {
  const repository = gitFolderOf(folder)
  if (repository === null || isInsideBareRepository(folder) || !isReadableByGit(repository)) return null
  const end = performance.now() + withinMs
  const left = (): number => Math.max(1, Math.ceil(end - performance.now()))
  const named = git(folder, ['config', '--show-scope', '--name-only', '-z', '--get-regexp', NAMED_SETTINGS], left())
  // A list that is too long or came too late hides filters, and git before 2.31 ignores settings
  // from the environment: git then might start a program that the repository names.
  if (named === null || !named.includes(`command\0${PROBE}\0`)) return null
  const safe = [...SAFE_SETTINGS, ...filterKeysIn(named).map((key) => [key, ''] as const)]
  const status = git(folder, STATUS, left(), safe)
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
      : (git(folder, ['log', `-${MOST_RECENT}`, '--format=%h%x00%s'], left(), safe) ?? '')
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

/**
 * Not looked into: a submodule has a configuration of its own, with filters of its own. Only its
 * commit counts.
 */
const STATUS = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=dirty']

type Setting = readonly [key: string, value: string]

/**
 * A repository can name programs for git to start, and its folder is named by a signal: these
 * settings go before those in `.git/config`. Whose repositories are read at all is git's own rule
 * (`safe.directory`), which nothing here changes.
 */
const PROBE = 'baton.probe'
const NAMED_SETTINGS = `^(filter\\.|baton\\.probe$)`
const SAFE_SETTINGS: readonly Setting[] = [
  [PROBE, 'true'],
  // A folder that was cloned can hold a whole repository, with a configuration of its own.
  ['safe.bareRepository', 'explicit'],
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['log.showSignature', 'false'],
]

/**
 * The commands of filters that the repository itself configures. Those of the user's own
 * configuration, as for Git LFS, stay.
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
 * In the environment a key may hold any character, unlike behind `-c`. Overrides what the caller's
 * own environment says.
 */
function settingsAsEnvironment(settings: readonly Setting[]): Record<string, string> {
  const entries = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(settings.length) }
}

/**
 * Null when git failed or took too long. Never fetches: a partial clone would start what its remote
 * names.
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
