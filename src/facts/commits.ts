import type { Fact } from '../contract/fact.js'
import { gitRuns } from './git.js'
import type { ShellWord } from './shell.js'
import type { Watcher } from './watcher.js'

/** Output of git for a new commit: `[main 1a2b3c4] Subject`. */
const COMMIT_LINE = /^[ \t]*\[(?:(detached HEAD)|([^\s\]]+))(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.*)$/gm
const COMMITTING = new Set(['commit', 'cherry-pick', 'revert', 'merge', 'am', 'rebase'])

/**
 * Collects commits that still exist: an amended one replaces the last, and a reset removes them.
 * A commit that a hook refused is not recorded.
 */
export function watchCommits(state: { made: Fact[] } = { made: [] }): Watcher {
  return {
    state,
    returned: ({ ok, refused, interrupted, text, line, at, exitCode }, { act }) => {
      if (act.type !== 'command' || refused) return
      const runs = gitRuns(act.command)
      if (runs.length === 0) return
      const told = runs.some(({ verb }) => COMMITTING.has(verb)) ? [...text.matchAll(COMMIT_LINE)] : []
      const succeeded = ok !== false && !interrupted && (exitCode ?? 0) === 0
      let next = 0
      for (const { verb, args } of runs) {
        if (verb === 'reset' && succeeded) state.made.splice(Math.max(0, state.made.length - stepsBack(args)))
        if (!COMMITTING.has(verb)) continue
        const match = told[next]
        const amend = args.some((word) => word.text === '--amend')
        if (match !== undefined) {
          next++
          add(match[4]!, match[3]!, match[2] ?? null, amend)
        } else if (
          verb === 'commit' &&
          succeeded &&
          told.length === 0 &&
          !isDry(args) &&
          !NOTHING_TO_COMMIT.test(text)
        ) {
          add(subjectOf(args) ?? (amend ? (state.made.at(-1)?.text ?? '') : ''), null, null, amend)
        }
      }
      for (const match of told.slice(next)) add(match[4]!, match[3]!, match[2] ?? null, false)

      function add(subject: string, id: string | null, branch: string | null, amend: boolean): void {
        if (subject === '') return
        if (amend) state.made.pop()
        state.made.push({
          kind: 'commit',
          text: subject.trim(),
          line,
          at,
          state: null,
          detail: { id, branch, amended: amend },
        })
      }
    },
    facts: () => [...state.made],
  }
}

const NOTHING_TO_COMMIT = /nothing to commit|no changes added to commit|nothing added to commit/
const isDry = (args: ShellWord[]): boolean =>
  args.some(({ text }) => text === '--dry-run' || text === '-h' || text === '--help')

/** Returns the first line of the message on the command line. Null when it came from elsewhere. */
function subjectOf(args: ShellWord[]): string | null {
  for (const [i, { text }] of args.entries()) {
    const joined = /^(?:--message=|-\w*m(?==))=?(.*)$/s.exec(text)
    const message = joined ? joined[1]! : /^(?:-\w*m|--message)$/.test(text) ? (args[i + 1]?.text ?? '') : null
    if (message !== null && message !== '') return firstLine(message)
  }
  return null
}

function firstLine(message: string): string | null {
  const document = /^\$\(cat <<-?\s*(['"]?)[\w.-]+\1\s*\n([\s\S]*)/.exec(message)
  const lines = (document ? document[2]! : message).split('\n')
  return lines.map((line) => line.trim()).find((line) => line !== '') ?? null
}

/** Returns how many commits a reset removes, as far as it counts from HEAD. */
function stepsBack(args: ShellWord[]): number {
  const target = args.find(({ text }) => /^(?:HEAD|@)[~^]/.test(text))?.text
  if (target === undefined) return 0
  const count = /~(\d+)$/.exec(target)
  return count ? Number(count[1]) : (target.match(/[~^]/g)?.length ?? 0)
}

interface BranchWatcher extends Watcher {
  /** Records the branch that the agent reports, which may lag behind a command. */
  reported(name: string, entry: { line: number; at: number | null }): void
}

/** Tracks the current branch: from the output of git, else the command, else the agent's report. */
export function watchBranch(state: { last: Fact | null } = { last: null }): BranchWatcher {
  const put = (text: string, line: number, at: number | null): void => {
    state.last = { kind: 'branch', text, line, at, state: null, detail: {} }
  }
  return {
    state,
    reported: (name, { line, at }) => put(name, line, at),
    returned: ({ ok, refused, text, line, at }, { act }) => {
      if (act.type !== 'command' || refused) return
      const runs = gitRuns(act.command)
      if (!runs.some(({ verb }) => BRANCH_VERBS.has(verb))) return
      const name = branchInOutput(text, runs) ?? (ok === false ? null : branchInCommand(runs))
      if (name !== null) put(name, line, at)
    },
    facts: () => (state.last === null ? [] : [state.last]),
  }
}

/** Git commands that change the branch or print it. */
const BRANCH_VERBS = new Set([
  'checkout',
  'switch',
  'commit',
  'merge',
  'cherry-pick',
  'revert',
  'rebase',
  'branch',
  'status',
  'pull',
  'am',
])

type GitRuns = ReturnType<typeof gitRuns>

function branchInOutput(output: string, runs: GitRuns): string | null {
  let name: string | null = null
  for (const pattern of [
    /^(?:Switched to (?:a new )?branch|Already on) '([^']+)'/gm,
    /^[ \t]*\[([^\s\]]+)(?: \(root-commit\))? [0-9a-f]{7,40}\] /gm,
  ]) {
    for (const match of output.matchAll(pattern)) if (match[1] !== 'detached') name = match[1]!
  }
  if (runs.some(({ verb }) => verb === 'status')) name ??= /^On branch (\S+)/m.exec(output)?.[1] ?? null
  return name
}

/** Returns the branch that a command asked for, because a quiet switch prints nothing. */
function branchInCommand(runs: GitRuns): string | null {
  let name: string | null = null
  for (const { verb, args } of runs) {
    const words = args.filter(({ open }) => !open).map(({ text }) => text)
    const made = words.findIndex((word) => /^-[bBcC]$|^--create$|^--orphan$/.test(word))
    if ((verb === 'checkout' || verb === 'switch') && made >= 0) name = words[made + 1] ?? name
    else if (verb === 'switch') name = words.find((word) => !word.startsWith('-')) ?? name
    else if (verb === 'branch' && /^-[mM]$/.test(words[0] ?? '')) name = words.at(-1) ?? name
  }
  return name
}
