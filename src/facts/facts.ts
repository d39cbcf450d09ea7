import type { Called, Entry, Returned } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { watchBranch } from './branch.js'
import { watchCommands } from './commands.js'
import { watchCommits } from './commits.js'
import { watchConstraints } from './constraints.js'
import { watchDecisions } from './decisions.js'
import { watchErrors } from './errors.js'
import { watchFiles } from './files.js'
import { watchQuestions } from './questions.js'
import { watchRequests } from './requests.js'
import { watchTests } from './tests.js'
import { watchTodos } from './todos.js'
import type { Watcher } from './watcher.js'

export interface Facts {
  take(entry: Entry): void
  /** What happened so far, kind by kind, each in the order it was first met. */
  facts(): Fact[]
  /** All that is remembered, as plain data with maps and sets: copy it before the next entry. `startFacts` goes on from a copy. */
  state(): FactsState
}

/** Raise it with every change to what a watcher remembers or makes of an entry: what was kept before is then read anew. */
export const FACTS_FORMAT = 1

/** Opaque but to the watchers: they alone know what is in it. */
export type FactsState = Record<'calls' | keyof typeof WATCHERS, unknown>

const WATCHERS = {
  requests: watchRequests,
  constraints: watchConstraints,
  files: watchFiles,
  commands: watchCommands,
  tests: watchTests,
  commits: watchCommits,
  branch: watchBranch,
  todos: watchTodos,
  decisions: watchDecisions,
  questions: watchQuestions,
  errors: watchErrors,
}

/** Begins to collect what happened in a conversation, or goes on from what an earlier one remembered. Give it every entry in order. */
export function startFacts(before: FactsState | null = null): Facts {
  const begin = <Kind extends keyof typeof WATCHERS>(kind: Kind): ReturnType<(typeof WATCHERS)[Kind]> =>
    (WATCHERS[kind] as (state?: unknown) => Watcher)(before?.[kind]) as ReturnType<(typeof WATCHERS)[Kind]>
  const branch = begin('branch')
  const kinds = Object.keys(WATCHERS) as (keyof typeof WATCHERS)[]
  const byKind = kinds.map((kind): [typeof kind, Watcher] => [kind, kind === 'branch' ? branch : begin(kind)])
  const watchers = byKind.map(([, watcher]) => watcher)
  const calls = (before?.calls as Map<string, Called> | undefined) ?? new Map<string, Called>()
  const saying = watchers.filter((one) => one.said !== undefined)
  const calling = watchers.filter((one) => one.called !== undefined)
  const returning = watchers.filter((one) => one.returned !== undefined)
  return {
    take: (entry) => {
      if (entry.branch !== undefined) branch.told(entry.branch, entry)
      if (entry.kind === 'said') for (const one of saying) one.said!(entry)
      else if (entry.kind === 'called') {
        calls.set(entry.callId, entry)
        for (const one of calling) one.called!(entry)
      } else if (entry.kind === 'returned') {
        const call = calls.get(entry.callId)
        if (call === undefined) return
        if (!goesOn(call, entry)) calls.delete(entry.callId)
        for (const one of returning) one.returned!(entry, call)
      }
    },
    facts: () => watchers.flatMap((one) => one.facts()),
    state: () => ({ ...(Object.fromEntries(byKind.map(([kind, { state }]) => [kind, state])) as FactsState), calls }),
  }
}

/** It was only started: its end is told later. */
function goesOn(call: Called, returned: Returned): boolean {
  return call.act.type === 'command' && call.act.background && returned.ok !== false && returned.exitCode === null
}
