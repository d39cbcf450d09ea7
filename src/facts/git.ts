import { baseName } from './paths.js'
import { programOf, runsOf, type Word } from './shell.js'

/** The git commands of a command line: what is asked of git, and its words from there on. */
export function gitRuns(command: string): GitRun[] {
  if (command === last.command) return last.runs
  last = { command, runs: /\bgit\b/.test(command) ? read(command) : [] }
  return last.runs
}

interface GitRun {
  verb: string
  args: Word[]
}

/** Commits and branch look at the same command one after the other. */
let last: { command: string; runs: GitRun[] } = { command: '', runs: [] }

function read(command: string): GitRun[] {
  return runsOf(command).flatMap((run) => {
    const words = programOf(run)
    if (baseName(words[0]?.text ?? '') !== 'git') return []
    const rest = fromVerb(words.slice(1))
    return rest[0] === undefined ? [] : [{ verb: rest[0].text, args: rest.slice(1) }]
  })
}

/** Git's words without its own options before what is asked of it. */
export function fromVerb(words: readonly Word[]): Word[] {
  let first = 0
  while (words[first]?.text.startsWith('-')) first += /^-[cC]$/.test(words[first]!.text) ? 2 : 1
  return words.slice(first)
}
