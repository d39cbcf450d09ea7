import type { Fact } from '../contract/fact.js'
import { gitRuns } from './git.js'
import type { Watcher } from './watcher.js'

export interface BranchWatcher extends Watcher {
  /** The agent's own word, which may lag behind a command. */
  told(name: string, entry: { line: number; at: number | null }): void
}

/** The branch at the end: git's own words first, then the command's, then the agent's note beside its entries. */
export function watchBranch(state: { last: Fact | null } = { last: null }): BranchWatcher {
  const put = (text: string, line: number, at: number | null): void => {
    state.last = { kind: 'branch', text, line, at, state: null, detail: {} }
  }
  return {
    state,
    told: (name, { line, at }) => put(name, line, at),
    returned: ({ ok, refused, text, line, at }, { act }) => {
      if (act.type !== 'command' || refused) return
      const runs = gitRuns(act.command)
      if (!runs.some(({ verb }) => TELLING.has(verb))) return
      const name = saidBy(text, runs) ?? (ok === false ? null : askedOf(runs))
      if (name !== null) put(name, line, at)
    },
    facts: () => (state.last === null ? [] : [state.last]),
  }
}

/** What can change the branch, or tells it. */
const TELLING = new Set([
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

function saidBy(output: string, runs: GitRuns): string | null {
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

/** A quiet switch says nothing: then what was asked for. */
function askedOf(runs: GitRuns): string | null {
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
