import type { CallEntry, ResultEntry } from '../contract/conversation.js'
import type { Fact, FactState } from '../contract/fact.js'
import { checksIn, runsTests } from './check-command.js'
import { checkOutcome, commandOutcome, type Outcome, testRunOf } from './check-outcome.js'
import { baseName } from './paths.js'
import { parseCommandLine, programOf } from './shell.js'
import type { TestRun } from './test-runners.js'
import type { Watcher } from './watcher.js'

interface CommandState {
  found: Map<string, Fact>
  open: Map<string, CallEntry>
  streaks: Streaks
}

/** Runs of one check, whatever the rest of the command line: since when it fails or passes. */
type Streaks = Map<string, { failsSince: number | null; passedAt: number }>

function countRun(streaks: Streaks, command: string, outcome: Outcome, line: number): void {
  for (const { key } of checksIn(command)) {
    const before = streaks.get(key) ?? { failsSince: null, passedAt: 0 }
    if (outcome === 'passed') streaks.set(key, { failsSince: null, passedAt: line })
    else if (outcome === 'failed') streaks.set(key, { ...before, failsSince: before.failsSince ?? line })
  }
}

/**
 * Adds to a failed check the line of its first failure in a row.
 * Notes on a failed check that a later run of the same checks passed, however it was worded.
 */
function withStreak(streaks: Streaks, fact: Fact): Fact {
  if (fact.state !== 'failed') return fact
  const known = checksIn(fact.kind === 'test' && fact.detail.command !== undefined ? '' : fact.text).flatMap(
    ({ key }) => streaks.get(key) ?? [],
  )
  if (known.length === 0) return fact
  if (known.every(({ passedAt }) => passedAt > fact.line))
    return { ...fact, detail: { ...fact.detail, overcome: true } }
  const since = Math.min(...known.map(({ failsSince }) => failsSince ?? fact.line))
  return { ...fact, detail: { ...fact.detail, since } }
}

/**
 * Collects commands with their results. A command that ran several times is one fact:
 * its last result and the number of runs.
 */
export function watchCommands(
  state: CommandState = { found: new Map(), open: new Map(), streaks: new Map() },
): Watcher {
  const { found, open, streaks } = state

  const put = (call: CallEntry, text: string, returned: ResultEntry, first: boolean): void => {
    let fact = found.get(text)
    if (fact === undefined) {
      fact = { kind: 'command', text, line: 0, at: null, state: null, detail: { exitCode: null, by: 'agent', runs: 0 } }
      found.set(text, fact)
    }
    fact.line = returned.line
    fact.at = returned.at
    fact.state = stateOf(call, returned, first)
    const [check] = checksIn(text)
    if (check !== undefined) {
      fact.detail.check = check.kind
      if (fact.state === 'ok' || fact.state === 'failed')
        countRun(streaks, text, fact.state === 'ok' ? 'passed' : 'failed', returned.line)
    }
    fact.detail.exitCode = returned.exitCode
    fact.detail.by = call.tool === '!' ? 'user' : 'agent'
    if (first) fact.detail.runs = Number(fact.detail.runs) + 1
    if (returned.interrupted) fact.detail.interrupted = true
    else if (fact.detail.interrupted === true) delete fact.detail.interrupted
  }

  return {
    state,
    called: (call) => {
      if (call.act.type === 'command' && commandOf(call) !== '') open.set(call.callId, call)
    },
    returned: (returned, call) => {
      const text = commandOf(call)
      if (text === '') return
      const first = open.delete(call.callId)
      if (!returned.refused || returned.interrupted) put(call, text, returned, first)
    },
    facts: () => {
      const unreturned = [...open.values()].map(
        (call): Fact => ({
          kind: 'command',
          text: commandOf(call),
          line: call.line,
          at: call.at,
          state: 'unknown',
          detail: { exitCode: null, by: 'agent', runs: 1 },
        }),
      )
      const told = [...found.values()].map((fact) => withStreak(streaks, { ...fact, detail: { ...fact.detail } }))
      return [...told, ...unreturned.filter(({ text }) => !found.has(text))]
    },
  }
}

export const commandOf = (call: CallEntry): string => (call.act.type === 'command' ? call.act.command.trim() : '')

function stateOf(call: CallEntry, { ok, exitCode, interrupted, text }: ResultEntry, first: boolean): FactState {
  if (interrupted) return 'unknown'
  const background = call.act.type === 'command' && call.act.background
  if (exitCode === null && first && background && ok !== false) return 'running'
  const command = commandOf(call)
  const end = { output: text, exitCode, ok }
  const outcome =
    checksIn(command).length > 0 ? checkOutcome(command, end, testRunOf(command, text)) : commandOutcome(command, end)
  return outcome === 'passed' ? 'ok' : outcome
}

/** Number of lines of an output that are quoted, and their maximum length. */
const MOST_LINES = 3
const LONGEST = 300
/** Maximum number of open errors per command; a success marks the newest as overcome. */
const MOST_STANDING = 20
const MOST_LOOKED_AT = 10_000

interface ErrorState {
  found: Map<string, Fact>
  /**
   * Open errors by what failed (see `attemptOf`): a command, or a tool with its file.
   * The facts are the same objects as in `found`.
   */
  standing: Map<string, Fact[]>
}

/** Collects errors, quoted from the output, and whether the same call worked later. */
export function watchErrors(state: ErrorState = { found: new Map(), standing: new Map() }): Watcher {
  const { found, standing } = state

  const overcome = (key: string): void => {
    for (const fact of standing.get(key) ?? []) fact.detail = { ...fact.detail, overcome: true }
    standing.delete(key)
  }

  return {
    state,
    returned: (returned, call) => {
      const key = attemptOf(call)
      if (key === null || returned.interrupted) return
      if (returned.ok === true) overcome(key)
      // A call that Baton itself refused, because it wanted the brief, was no attempt at the work.
      if (returned.ok !== false || (returned.refused && returned.text.includes('[baton] '))) return
      const text = errorIn(returned)
      if (text === '') return
      const detail = { of: key, tool: call.tool, exitCode: returned.exitCode, overcome: false }
      const fact: Fact = { kind: 'error', text, line: returned.line, at: returned.at, state: null, detail }
      found.set(`${key}\n${text}`, fact)
      standing.set(key, [...(standing.get(key) ?? []), fact].slice(-MOST_STANDING))
    },
    facts: () => [...found.values()].map((fact) => ({ ...fact })),
  }
}

/** Identifies what was tried: the command, or the tool and its file. */
function attemptOf(call: CallEntry): string | null {
  const { act } = call
  if (act.type === 'command') return commandOf(call)
  if (act.type === 'read' || act.type === 'change') return `${act.type} ${act.path}`
  return act.type === 'other' ? `${call.tool} ${act.words.slice(0, 200)}` : null
}

const ERROR_SIGNS = [
  /(?:Error|Exception|Failure|panic|fatal|FATAL|Unhandled|Traceback)\b.*[:!]|Failure at /,
  /\berror(?:\[\w+\]| TS\d+)?:/i,
  /^E\s{2,}\S/,
  /^\s*[\w./-]+:\d+(?::\d+)?:? /,
  new RegExp(
    String.raw`\b(?:CONFLICT|rejected|failed|cannot|can't|not found|no such file|denied|refused|undefined|` +
      String.raw`unresolved|unexpected|invalid|timed out|missing|mismatch)\b`,
    'i',
  ),
  /\b(?:error|fail|[A-Z]{1,4}\d{3,4})\b/i,
]

/** Quick filter: every line that reports an error contains one of these. */
const QUICK_FILTER = new RegExp(
  String.raw`error|exception|failure|panic|fatal|unhandled|traceback|^E\s|:\d|conflict|rejected|fail|cannot|` +
    "can't|not found|no such|denied|refused|undefined|unresolved|unexpected|invalid|timed out|missing|" +
    String.raw`mismatch|[A-Z]\d{3}`,
  'i',
)

function errorIn({ text }: ResultEntry): string {
  const lines = text
    .slice(0, MOST_LOOKED_AT)
    .replace(/^(?:Error: )?Exit code \d+\n?/, '')
    .replace(/<\/?tool_use_error>/g, '')
    .split('\n')
    .map((line) => line.trim().slice(0, LONGEST))
    .filter((line) => line !== '')
  const picked = new Set<string>()
  const telling = lines.filter((line) => QUICK_FILTER.test(line))
  for (const sign of ERROR_SIGNS) {
    for (const line of telling) {
      if (picked.size >= MOST_LINES) break
      if (sign.test(line)) picked.add(line)
    }
  }
  const chosen =
    picked.size > 0 ? lines.filter((line, i) => picked.has(line) && lines.indexOf(line) === i) : lines.slice(-1)
  return chosen.join('\n')
}

interface TestState {
  runs: Map<string, Fact>
  streaks: Streaks
  tests: Map<string, Fact>
  failing: Set<string>
}

/**
 * Collects test runs and failed tests with their final state: a test that passed later has passed.
 */
export function watchTests(
  state: TestState = { runs: new Map(), streaks: new Map(), tests: new Map(), failing: new Set() },
): Watcher {
  const { runs, streaks, tests, failing } = state

  const take = (call: CallEntry, { text, ok, exitCode, line, at }: ResultEntry, told: TestRun | null): void => {
    if (call.act.type !== 'command') return
    const command = call.act.command.trim()
    const outcome = checkOutcome(command, { output: text, exitCode, ok }, told)
    if (ok === null && told === null && outcome === 'unknown') return
    const detail = { exitCode, failing: told?.failing.length ?? null }
    runs.set(command, { kind: 'test', text: command, line, at, state: outcome, detail })
    countRun(streaks, command, outcome, line)
    if (told === null) {
      // A quiet runner prints nothing when all tests pass.
      if (outcome === 'passed') settle(command, null, line, at)
      return
    }
    settle(command, told, line, at)
    for (const name of told.failing) {
      failing.add(name)
      tests.set(name, { kind: 'test', text: name, line, at, state: 'failed', detail: { command } })
    }
  }

  /** Marks tests as passed that failed before and did not fail in this run. */
  const settle = (command: string, told: TestRun | null, line: number, at: number | null): void => {
    const open = [...failing].filter((name) => told?.failing.includes(name) !== true)
    const filters = open.length === 0 ? [] : filtersOf(command)
    for (const name of open) {
      const fact = tests.get(name)!
      const covered =
        fact.detail.command === command ||
        filters.length === 0 ||
        filters.some((filter) => name.includes(filter) || filter.includes(name)) ||
        told?.passing().includes(name) === true
      if (!covered) continue
      failing.delete(name)
      tests.set(name, { ...fact, state: 'passed', line, at, detail: { command } })
    }
  }

  return {
    state,
    returned: (returned, call) => {
      if (call.act.type !== 'command' || returned.refused || returned.interrupted) return
      const told = testRunOf(call.act.command, returned.text)
      if (told === null && !runsTests(call.act.command)) return
      if (call.act.background && returned.exitCode === null && told === null) return
      take(call, returned, told)
    },
    facts: () => [...[...runs.values()].map((fact) => withStreak(streaks, fact)), ...tests.values()],
  }
}

/** Returns the tests that a command selects by paths and patterns. Empty means all. */
function filtersOf(command: string): string[] {
  const testing = new Set(checksIn(command).flatMap(({ kind, index }) => (kind === 'test' ? [index] : [])))
  return parseCommandLine(command)
    .filter((_, i) => testing.has(i))
    .flatMap((run) => {
      const words = programOf(run).map(({ text }) => text)
      return words.flatMap((word, i) => {
        const value = /^-(?:-?run|k|t|-testNamePattern|-grep|g|-filter|R|-tests|Dtest=|e|-exact)=?$/.test(
          words[i - 1] ?? '',
        )
        const path =
          i > 0 && !word.startsWith('-') && /[/.:]/.test(word) && !/^\.\.?(?:\/\.\.\.)?\/?$|\/?\.\.\.$/.test(word)
        return value
          ? [word.replace(/[\^$"']/g, '')]
          : path
            ? [word.replace(/^\.\//, ''), baseName(word).replace(/\.\w+$/, '')]
            : []
      })
    })
    .filter((word) => word.length > 2)
}
