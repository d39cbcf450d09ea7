import { baseName } from './paths.js'
import { parseCommandLine, programOf, type ShellWord } from './shell.js'

/** Returns the git commands of a command line: the verb, and the words behind it. */
export function gitRuns(command: string): GitRun[] {
  if (command === last.command) return last.runs
  last = { command, runs: /\bgit\b/.test(command) ? parseGitRuns(command) : [] }
  return last.runs
}

interface GitRun {
  verb: string
  args: ShellWord[]
}

/** Cached, because the watchers of commits and of the branch read the same command in turn. */
let last: { command: string; runs: GitRun[] } = { command: '', runs: [] }

function parseGitRuns(command: string): GitRun[] {
  return parseCommandLine(command).flatMap((run) => {
    const words = programOf(run)
    if (baseName(words[0]?.text ?? '') !== 'git') return []
    const rest = wordsFromVerb(words.slice(1))
    return rest[0] === undefined ? [] : [{ verb: rest[0].text, args: rest.slice(1) }]
  })
}

/** Returns the words from git's verb on, without the options before it. */
export function wordsFromVerb(words: readonly ShellWord[]): ShellWord[] {
  let first = 0
  while (words[first]?.text.startsWith('-')) first += /^-[cC]$/.test(words[first]!.text) ? 2 : 1
  return words.slice(first)
}
