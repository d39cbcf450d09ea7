import type { Fact } from '../contract/fact.js'
import { gitRuns } from './git.js'
import type { Word } from './shell.js'
import type { Watcher } from './watcher.js'

/** Git's own words: `[main 1a2b3c4] Subject`. */
const MADE = /^[ \t]*\[(?:(detached HEAD)|([^\s\]]+))(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.*)$/gm
const COMMITTING = new Set(['commit', 'cherry-pick', 'revert', 'merge', 'am', 'rebase'])

/** Commits made and kept: an amended one replaces the last, one that is reset away is none, nor is one a hook refused. */
export function watchCommits(state: { made: Fact[] } = { made: [] }): Watcher {
  return {
    state,
    returned: ({ ok, refused, interrupted, text, line, at, exitCode }, { act }) => {
      if (act.type !== 'command' || refused) return
      const runs = gitRuns(act.command)
      if (runs.length === 0) return
      const told = runs.some(({ verb }) => COMMITTING.has(verb)) ? [...text.matchAll(MADE)] : []
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
        } else if (verb === 'commit' && succeeded && told.length === 0 && !isDry(args) && !NOTHING_TO.test(text)) {
          add(subjectOf(args) ?? (amend ? (state.made.at(-1)?.text ?? '') : ''), null, null, amend)
        }
      }
      for (const match of told.slice(next)) add(match[4]!, match[3]!, match[2] ?? null, false)

      function add(subject: string, id: string | null, branch: string | null, amend: boolean): void {
        if (subject === '') return
        if (amend) state.made.pop()
        state.made.push({ kind: 'commit', text: subject.trim(), line, at, state: null, detail: { id, branch, amended: amend } })
      }
    },
    facts: () => [...state.made],
  }
}

const NOTHING_TO = /nothing to commit|no changes added to commit|nothing added to commit/
const isDry = (args: Word[]): boolean => args.some(({ text }) => text === '--dry-run' || text === '-h' || text === '--help')

/** The first line of the message on the command line; null: it came from elsewhere. */
function subjectOf(args: Word[]): string | null {
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

/** How many commits a reset takes away, as far as it is counted from HEAD. */
function stepsBack(args: Word[]): number {
  const target = args.find(({ text }) => /^(?:HEAD|@)[~^]/.test(text))?.text
  if (target === undefined) return 0
  const count = /~(\d+)$/.exec(target)
  return count ? Number(count[1]) : (target.match(/[~^]/g)?.length ?? 0)
}
