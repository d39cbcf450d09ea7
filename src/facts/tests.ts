import type { Called, Returned } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { baseName } from './paths.js'
import { programOf, runsOf } from './shell.js'
import { readTestRun, runsTests, type TestRun } from './test-runners.js'
import type { Watcher } from './watcher.js'

interface State {
  runs: Map<string, Fact>
  tests: Map<string, Fact>
  failing: Set<string>
}

/** Test runs and tests that failed, as they stand at the end: one that failed and passed later passed. */
export function watchTests(state: State = { runs: new Map(), tests: new Map(), failing: new Set() }): Watcher {
  const { runs, tests, failing } = state

  const take = (call: Called, { text, ok, exitCode, line, at }: Returned): void => {
    if (call.act.type !== 'command') return
    const command = call.act.command.trim()
    const told = readTestRun(text, command)
    const failed = ok === false || (exitCode ?? 0) !== 0 || told?.passed === false
    if (ok === null && told === null) return
    const detail = { exitCode, failing: told?.failing.length ?? null }
    runs.set(command, { kind: 'test', text: command, line, at, state: failed ? 'failed' : 'passed', detail })
    if (told === null) {
      // A runner asked to be quiet says nothing when all is well.
      if (!failed && exitCode === 0 && !command.includes('|'))
        settle(command, { passed: true, failing: [], passing: () => [] }, line, at)
      return
    }
    settle(command, told, line, at)
    for (const name of told.failing) {
      failing.add(name)
      tests.set(name, { kind: 'test', text: name, line, at, state: 'failed', detail: { command } })
    }
  }

  /** What failed before and was run again without failing now passes. */
  const settle = (command: string, told: TestRun, line: number, at: number | null): void => {
    const open = [...failing].filter((name) => !told.failing.includes(name))
    const filters = open.length === 0 ? [] : filtersOf(command)
    for (const name of open) {
      const fact = tests.get(name)!
      const covered =
        fact.detail.command === command ||
        filters.length === 0 ||
        filters.some((filter) => name.includes(filter) || filter.includes(name)) ||
        told.passing().includes(name)
      if (!covered) continue
      failing.delete(name)
      tests.set(name, { ...fact, state: 'passed', line, at, detail: { command } })
    }
  }

  return {
    state,
    returned: (returned, call) => {
      if (call.act.type !== 'command' || returned.refused || returned.interrupted || !runsTests(call.act.command)) return
      if (call.act.background && returned.exitCode === null && readTestRun(returned.text, call.act.command) === null) return
      take(call, returned)
    },
    facts: () => [...runs.values(), ...tests.values()],
  }
}

/** Which tests were asked for: paths and patterns on the command line. None: all. */
function filtersOf(command: string): string[] {
  return runsOf(command)
    .filter((run) => runsTests(run.words.map(({ text }) => text).join(' ')))
    .flatMap((run) => {
      const words = programOf(run).map(({ text }) => text)
      return words.flatMap((word, i) => {
        const value = /^-(?:-?run|k|t|-testNamePattern|-grep|g|-filter|R|-tests|Dtest=|e|-exact)=?$/.test(words[i - 1] ?? '')
        const path = i > 0 && !word.startsWith('-') && /[/.:]/.test(word) && !/^\.\.?(?:\/\.\.\.)?\/?$|\/?\.\.\.$/.test(word)
        return value
          ? [word.replace(/[\^$"']/g, '')]
          : path
            ? [word.replace(/^\.\//, ''), baseName(word).replace(/\.\w+$/, '')]
            : []
      })
    })
    .filter((word) => word.length > 2)
}
