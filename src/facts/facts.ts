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
}

/** Begins to collect what happened in a conversation. Give it every entry in order. */
export function startFacts(): Facts {
  const branch = watchBranch()
  const watchers: Watcher[] = [
    ...[watchRequests(), watchConstraints(), watchFiles(), watchCommands(), watchTests(), watchCommits()],
    ...[branch, watchTodos(), watchDecisions(), watchQuestions(), watchErrors()],
  ]
  const calls = new Map<string, Called>()
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
  }
}

/** It was only started: its end is told later. */
function goesOn(call: Called, returned: Returned): boolean {
  return call.act.type === 'command' && call.act.background && returned.ok !== false && returned.exitCode === null
}
