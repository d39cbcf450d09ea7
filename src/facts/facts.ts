import type { CallEntry, Entry, ResultEntry, Todo } from '../contract/conversation.js'
import type { Fact, FactState } from '../contract/fact.js'
import { watchCommands, watchErrors, watchTests } from './commands.js'
import { watchBranch, watchCommits } from './commits.js'
import type { Demand } from './constraint-english.js'
import { WITHDRAWALS } from './constraint-withdrawals.js'
import { demandOf } from './constraint-words.js'
import { watchDecisions } from './decisions.js'
import { definedNames } from './defined-names.js'
import { watchFindings } from './findings.js'
import { languageOf } from './language.js'
import { ownProse } from './own-prose.js'
import { relativePath, resolvePath } from './paths.js'
import { watchQuestions } from './questions.js'
import { sentencesOf } from './sentences.js'
import { filesOf } from './shell-files.js'
import type { Watcher } from './watcher.js'
import { meaningWords } from './words.js'

/** A collector of facts from one conversation. */
export interface Facts {
  /** Processes the next entry of the conversation. */
  add(entry: Entry): void
  /** Returns the facts so far, kind by kind, each in the order of its first occurrence. */
  facts(): Fact[]
  /**
   * Returns the collector's state as plain data with maps and sets. Copy it before the next entry;
   * `startFacts` continues from a copy.
   */
  state(): FactsState
}

/**
 * Version of the stored state. Raise it when a watcher stores or extracts something else.
 * Stored states of other versions are discarded, and transcripts are read again.
 */
export const FACTS_FORMAT = 6

/** The state of all watchers. Only the watchers know its content. */
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
  findings: watchFindings,
}

/**
 * Starts to collect facts, or continues from the state of an earlier collector.
 * Every entry must be given in order.
 */
export function startFacts(before: FactsState | null = null): Facts {
  const begin = <Kind extends keyof typeof WATCHERS>(kind: Kind): ReturnType<(typeof WATCHERS)[Kind]> =>
    (WATCHERS[kind] as (state?: unknown) => Watcher)(before?.[kind]) as ReturnType<(typeof WATCHERS)[Kind]>
  const branch = begin('branch')
  const kinds = Object.keys(WATCHERS) as (keyof typeof WATCHERS)[]
  const byKind = kinds.map((kind): [typeof kind, Watcher] => [kind, kind === 'branch' ? branch : begin(kind)])
  const watchers = byKind.map(([, watcher]) => watcher)
  const calls = (before?.calls as Map<string, CallEntry> | undefined) ?? new Map<string, CallEntry>()
  const saying = watchers.filter((one) => one.said !== undefined)
  const calling = watchers.filter((one) => one.called !== undefined)
  const returning = watchers.filter((one) => one.returned !== undefined)
  return {
    add: (entry) => {
      if (entry.branch !== undefined) branch.reported(entry.branch, entry)
      if (entry.kind === 'said') for (const one of saying) one.said!(entry)
      else if (entry.kind === 'called') {
        calls.set(entry.callId, entry)
        for (const one of calling) one.called!(entry)
      } else if (entry.kind === 'returned') {
        const call = calls.get(entry.callId)
        if (call === undefined) return
        if (!isStillRunning(call, entry)) calls.delete(entry.callId)
        for (const one of returning) one.returned!(entry, call)
      }
    },
    facts: () => watchers.flatMap((one) => one.facts()),
    state: () => ({ ...(Object.fromEntries(byKind.map(([kind, { state }]) => [kind, state])) as FactsState), calls }),
  }
}

/** Returns true for a background command that has only started; its end is reported later. */
function isStillRunning(call: CallEntry, returned: ResultEntry): boolean {
  return call.act.type === 'command' && call.act.background && returned.ok !== false && returned.exitCode === null
}

/** Collects every prompt of the user verbatim, so that rules that miss something lose nothing. */
function watchRequests(state: { found: Fact[] } = { found: [] }): Watcher {
  const { found } = state
  return {
    state,
    said: ({ by, text, line, at, feedback }) => {
      if (by !== 'user') return
      // A question about a declined call asks for an answer; the work is still the earlier request.
      const aside = feedback === true && /[?？]/.test(text)
      found.push({ kind: 'request', text: text.trim(), line, at, state: null, detail: aside ? { aside } : {} })
    },
    facts: () => {
      const last = found.findLast(({ detail }) => detail.aside !== true) ?? found.at(-1)
      return found.map((fact) => (fact === last ? { ...fact, detail: { ...fact.detail, last: true } } : fact))
    },
  }
}

/**
 * Collects sentences of the user that require or forbid something.
 * Only his own prose counts: no output of tools and no pasted text.
 */
export function watchConstraints(state: { found: Map<string, Fact> } = { found: new Map() }): Watcher {
  const { found } = state
  return {
    state,
    said: ({ by, text, line, at }) => {
      if (by !== 'user') return
      const own = ownProse(text)
      for (const one of sentencesOf(own)) if (!one.question) withdraw(one.text)
      for (const { words, demand, language } of demandsIn(own)) {
        const key = words.toLowerCase()
        found.delete(key)
        found.set(key, { kind: 'constraint', text: words, line, at, state: demand, detail: { language } })
      }
    },
    returned: ({ answered, line, at }) => {
      for (const { answer } of answered ?? []) {
        // A picked option is a decision; only a typed answer can state a rule.
        if (answer.length < TYPED_ANSWER) continue
        for (const { words, demand, language } of demandsIn(answer)) {
          const detail = { language, how: 'dialog' }
          const key = words.toLowerCase()
          found.delete(key)
          found.set(key, { kind: 'constraint', text: words, line, at, state: demand, detail })
        }
      }
    },
    facts: () => [...found.values()],
  }

  /** Drops the earlier constraint that a sentence takes back: the one that shares most words. */
  function withdraw(sentence: string): void {
    if (found.size === 0 || !WITHDRAWALS.some(({ pattern }) => pattern.test(sentence))) return
    const shared = [...found].map(([key, { text }]) => ({ key, count: sharedMeaning(text, sentence) }))
    const most = Math.max(...shared.map(({ count }) => count))
    if (most < SHARED_OF_A_WITHDRAWAL) return
    for (const { key, count } of shared) if (count === most) found.delete(key)
  }
}

/** Fewest words that a withdrawal shares with what it takes back. */
const SHARED_OF_A_WITHDRAWAL = 2

/** Counts the words of meaning that two texts share. */
function sharedMeaning(one: string, other: string): number {
  const words = meaningWords(other)
  return [...meaningWords(one)].filter((word) => words.has(word)).length
}

/** Fewest characters of an answer that was typed and not picked. */
const TYPED_ANSWER = 60

function demandsIn(text: string): { words: string; demand: Demand; language: string }[] {
  const sentences = sentencesOf(text)
  const language = languageOf(sentences.map((one) => one.text).join(' '))
  return sentences.flatMap(({ text: words, question }) => {
    const demand = demandOf(words, question, language)
    return demand === null ? [] : [{ words, demand, language }]
  })
}

interface KeptTodo extends Todo {
  line: number
  at: number | null
}

interface TodoState {
  kept: Map<string, KeptTodo>
  /** Todos that are no longer on the agent's list. */
  past: Map<string, KeptTodo>
  open: Map<string, CallEntry>
}

/**
 * Collects the agent's todos, kept as one list or by id.
 * A todo that left the list unfinished was dropped.
 */
function watchTodos(state: TodoState = { kept: new Map(), past: new Map(), open: new Map() }): Watcher {
  const { open } = state

  const put = (key: string, todo: Todo, line: number, at: number | null): void => {
    const before = state.kept.get(key)
    const text = todo.text === '' ? (before?.text ?? '') : todo.text
    if (text === '' && before === undefined) return
    state.kept.set(key, { ...todo, text, line, at })
  }

  const apply = (call: CallEntry, returned: ResultEntry | null): void => {
    const { line, at } = returned ?? call
    if (call.act.type === 'todos' && call.act.whole) {
      replace(call.act.todos, line, at)
      return
    }
    const told = returned?.todos ?? []
    for (const todo of told) put(`#${todo.id}`, todo, line, at)
    if (call.act.type !== 'todos' || told.length > 0) return
    for (const [i, todo] of call.act.todos.entries()) {
      const id = todo.id ?? /#(\d+)/.exec(returned?.text ?? '')?.[1]
      put(id === undefined || id === null ? `${call.callId}.${i}` : `#${id}`, { ...todo, id: id ?? null }, line, at)
    }
  }

  const replace = (todos: Todo[], line: number, at: number | null): void => {
    const before = state.kept
    state.kept = new Map()
    for (const [key, todo] of before) {
      if (!key.startsWith('=')) state.kept.set(key, todo)
      else state.past.set(key, isOpen(todo) ? { ...todo, status: 'dropped' } : todo)
    }
    for (const todo of todos) {
      state.past.delete(`=${todo.text}`)
      put(`=${todo.text}`, todo, line, at)
    }
  }

  return {
    state,
    called: (call) => {
      if (call.act.type === 'todos') open.set(call.callId, call)
    },
    returned: (returned, call) => {
      open.delete(call.callId)
      if (returned.ok !== false && !returned.refused) apply(call, returned)
    },
    facts: () => {
      if (open.size === 0) return [...state.past.values(), ...state.kept.values()].map(todoFact)
      // A call without a result counts as made for now: the list is as the agent wanted it.
      const { kept, past } = state
      state.kept = new Map(kept)
      state.past = new Map(past)
      for (const call of open.values()) apply(call, null)
      const facts = [...state.past.values(), ...state.kept.values()].map(todoFact)
      state.kept = kept
      state.past = past
      return facts
    },
  }
}

const isOpen = ({ status }: Todo): boolean => status === 'open' || status === 'doing'

const TODO_STATES: Record<Todo['status'], FactState> = { open: 'open', doing: 'open', done: 'done', dropped: 'dropped' }

function todoFact({ id, text, status, line, at }: KeptTodo): Fact {
  return { kind: 'todo', text, line, at, state: TODO_STATES[status], detail: { id, doing: status === 'doing' } }
}

const TEMPORARY = /^(?:\/private)?\/(?:tmp|var\/tmp|var\/folders|dev)\//
const OF_GIT = /(?:^|\/)\.git\//

/** True for a temporary file, unless the work itself is in a temporary folder. */
const isTemporary = (path: string, root: string | null): boolean =>
  TEMPORARY.test(path) && !(root !== null && path.startsWith(`${root}/`))

/**
 * True for a file that a command wrote outside of the work: a temporary file, or one of git's own.
 */
function isScratch(path: string, root: string | null): boolean {
  const inside = root !== null && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
  return isTemporary(path, root) || OF_GIT.test(inside)
}

const MAKES_COMMIT = /\bgit\b[^\n|;&]*\bcommit\b/

/** Most names of changed parts that are kept of a file; the newest count. */
const MOST_NAMES = 12

function joinNames(before: Fact['detail'][string] | undefined, names: readonly string[]): string {
  const known = typeof before === 'string' && before !== '' ? before.split('\n') : []
  return [...known.filter((name) => !names.includes(name)), ...names].slice(-MOST_NAMES).join('\n')
}

interface FileState {
  found: Map<string, Fact>
  /** Changes whose call did not return. They may have been made. */
  open: Map<string, CallEntry>
  root: string | null
  /** Line of the newest commit. 0 before the first. */
  committedAt: number
}

/**
 * Collects files that were read or changed, by tools or evidently by commands.
 * A file that was changed once stays changed, unless the change was undone before any commit:
 * git restored the file, or a command removed a file that the session had made.
 */
function watchFiles(state: FileState = { found: new Map(), open: new Map(), root: null, committedAt: 0 }): Watcher {
  const { found, open } = state

  const put = (
    path: string,
    changed: boolean,
    line: number,
    at: number | null,
    more: { removed?: boolean; written?: string | undefined } = {},
  ): void => {
    let fact = found.get(path)
    if (fact === undefined) {
      const detail: Fact['detail'] = { reads: 0, changes: 0, removed: false }
      // A client lets an agent write over a file only after it read that file.
      if (changed && more.removed !== true) detail.made = true
      fact = { kind: 'file', text: relativePath(path, state.root), line, at, state: 'read', detail }
      found.set(path, fact)
    }
    const { detail } = fact
    fact.line = line
    fact.at = at
    if (changed) {
      fact.state = 'changed'
      detail.changes = Number(detail.changes) + 1
      detail.removed = more.removed === true
      if (more.written) detail.names = joinNames(detail.names, definedNames(more.written))
    } else detail.reads = Number(detail.reads) + 1
  }

  return {
    state,
    called: (call) => {
      state.root ??= call.cwd ?? null
      if (call.act.type === 'change') open.set(call.callId, call)
    },
    returned: (returned, call) => {
      open.delete(call.callId)
      const { act } = call
      const cwd = call.cwd ?? state.root
      if (act.type === 'read' || act.type === 'change') {
        const path = resolvePath(act.path, cwd)
        if (returned.ok !== false && !(act.type === 'change' && state.root !== null && isTemporary(path, state.root)))
          put(path, act.type === 'change', returned.line, returned.at, {
            written: act.type === 'change' ? act.written : undefined,
          })
      } else if (act.type === 'command' && !returned.refused) byCommand(act.command, cwd, returned, act.background)
    },
    facts: () => [
      ...[...found.values()].map((fact) => ({ ...fact, detail: { ...fact.detail } })),
      ...[...open.values()].flatMap(unconfirmed),
    ],
  }

  function byCommand(command: string, cwd: string | null, returned: ResultEntry, background: boolean): void {
    const { changed, restored, read } = filesOf(command, cwd, returned.ok === false, returned.text)
    // A background command may not have read its files yet.
    if (!background) for (const path of read) put(path, false, returned.line, returned.at)
    for (const { path, removed } of changed) {
      if (removed && isOwnAndUncommitted(path)) found.delete(path)
      else if (!isScratch(path, state.root)) put(path, true, returned.line, returned.at, { removed })
    }
    for (const path of restored) restore(path)
    if (returned.ok !== false && MAKES_COMMIT.test(command)) state.committedAt = returned.line
  }

  function isOwnAndUncommitted(path: string): boolean {
    const fact = found.get(path)
    return fact?.state === 'changed' && fact.detail.made === true && fact.line > state.committedAt
  }

  function restore(path: string): void {
    const fact = found.get(path)
    if (fact === undefined || fact.state !== 'changed' || fact.line < state.committedAt) return
    const { names: _, ...detail } = fact.detail
    found.set(path, { ...fact, state: 'read', detail: { ...detail, changes: 0, removed: false } })
  }

  function unconfirmed(call: CallEntry): Fact[] {
    if (call.act.type !== 'change') return []
    const path = resolvePath(call.act.path, call.cwd ?? state.root)
    if (found.get(path)?.state === 'changed') return []
    const detail = { reads: 0, changes: 1, removed: false, unconfirmed: true }
    return [
      { kind: 'file', text: relativePath(path, state.root), line: call.line, at: call.at, state: 'changed', detail },
    ]
  }
}
