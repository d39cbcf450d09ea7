import type { CallEntry, Entry, ResultEntry, Todo } from '../contract/conversation.js'
import type { Fact, FactState } from '../contract/fact.js'
import { watchCommands, watchErrors, watchTests } from './commands.js'
import { watchBranch, watchCommits } from './commits.js'
import type { Demand } from './constraint-english.js'
import { demandOf } from './constraint-words.js'
import { type Language, languageOf } from './language.js'
import { relativePath, resolvePath } from './paths.js'
import { watchQuestions } from './questions.js'
import { sentencesOf } from './sentences.js'
import { filesOf } from './shell-files.js'
import type { Watcher } from './watcher.js'

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
 * Version of the stored state. Raise it when a watcher stores or extracts something else,
 * so that stored states are discarded and transcripts read again.
 */
export const FACTS_FORMAT = 1

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
    said: ({ by, text, line, at }) => {
      if (by === 'user') found.push({ kind: 'request', text: text.trim(), line, at, state: null, detail: {} })
    },
    facts: () => found.map((fact, i) => (i === found.length - 1 ? { ...fact, detail: { last: true } } : fact)),
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
      for (const { words, demand, language } of demandsIn(text)) {
        const key = words.toLowerCase()
        found.delete(key)
        found.set(key, { kind: 'constraint', text: words, line, at, state: demand, detail: { language } })
      }
    },
    facts: () => [...found.values()],
  }
}

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

/**
 * Collects stated choices, with their reason if it is in the same sentence.
 * Choices of the user in a dialog are part of that question.
 */
export function watchDecisions(state: { found: Map<string, Fact> } = { found: new Map() }): Watcher {
  const { found } = state
  const put = (text: string, line: number, at: number | null, by: string): void => {
    found.delete(text)
    found.set(text, { kind: 'decision', text, line, at, state: null, detail: { by } })
  }
  return {
    state,
    said: ({ by, text, line, at }) => {
      if (by === 'other') return
      const language = languageOf(text)
      const signs = language !== 'en' ? [OTHERS[language]] : by === 'agent' ? AGENT : USER
      for (const one of sentencesOf(text)) if (!one.question && isDecision(one.text, signs)) put(one.text, line, at, by)
    },
    facts: () => [...found.values()],
  }
}

const BOTH = [
  /\b(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|opted|settled|went|picked) (?:to|on|for|against|not|with|that|the|a|an)\b/i,
  /\b(?:decision|decided|conclusion|verdict): /i,
  /\b(?:let's|lets|let us) (?:go|stick|use|keep|do|take|stay|drop|settle|make) (?:with|to|it|the|on|a|this|that|for|\w+ instead)\b/i,
  /\b(?:going|go|went|stick(?:ing)?) with (?!the flow)[\w`"']/i,
  /\b(?:we|i) (?:agreed|agree) (?:on|to|that)\b/i,
]
/** Verbs with which an agent describes a choice of its own. */
const CHOOSES =
  "(?:'ll| will|'m going to| am going to|'m| am|'d| would)?(?: (?:now|also|still|therefore|deliberately))? (?:keep|kept|use|used|using|put|made|make|leave|left|store|stored|storing|moved?|moving|write|wrote|do|did|load|loaded|read|parse|hash|sort|sorted|decode|split|stay|stayed|stick|stuck|prefer|preferred|take|took|add|added|avoid|avoided|subscribe|subscribed|call|called|cache|cached|build|built|return|handle|handled|wrap|wrapped|place|placed|do it|did it|did this|went|go|pass|passed|treat|treated|rename|renamed|pin|pinned|model|modelled|choose|chose|implement|implemented|run|hold|held|skip|skipped|revert|reverted|merge|merged|turn|turned|let|limit|limited|set|drop|dropped|require|required|compute|computed|generate|generated|catch|caught|raise|raised|log|logged|switch|switched|replace|replaced|extend|extended|copy|copied|check|checked|validate|validated|round|rounded)\\b"
const AGENT = [
  ...BOTH,
  /\b(?:i|we)(?:'ll| will| have|'ve)? (?:reject(?:ed)?|ruled? out|rul(?:ed|ing) out|dropped|abandon(?:ed)?|discard(?:ed)?|chose|chosen|picked)\b/i,
  /\b(?:i|we)(?:'m| am|'re| are) (?:dropping|rejecting|ruling out|abandoning|discarding|choosing|picking|opting|keeping|sticking|leaving out|skipping)\b/i,
  /\b(?:my|the|a) (?:better |best |right |safer |simpler )?(?:choice|decision|approach|design)(?: here)?(?:: | (?:is|was|will be|i took|we take)\b)/i,
]
/** Patterns of choices that name a reason or the rejected alternative. */
const REASONED = [
  /\b(?:i'd|we'd|i would|we would) rather\b.{3,160}\bthan\b/i,
  new RegExp(
    `\\b(?:i|we)${CHOOSES}(?! (?:not|with (?:the )?(?:failing|first)))\\b.{2,200}\\b(?:rather than|instead of|instead$|because|since|so that|over|and not|not the)\\b`,
    'i',
  ),
  new RegExp(`\\b(?:instead of|rather than|since|because)\\b.{2,100}[, ](?:i|we)${CHOOSES}`, 'i'),
  /\b(?:is|are|was|were|will be|gets?|stays?|goes|go|lives?)\b[^.]{2,120}\b(?:rather than\b|instead[.!]?$)/i,
  /^(?:so )?\w+(?:ed|t)\b[^.]{3,160}\b(?:rather than\b|instead of\b.*\b(?:because|so that|since)\b)/i,
  /\b(?:i|we)(?:'d| would)? (?:recommend|suggest|propose|favou?r)\b.{3,160}\b(?:over|because|rather than|instead)\b/i,
]
const REASON = /rather|instead|because|since|so that|over|and not|not the/i
const USER = [
  ...BOTH,
  /^(?:(?:yes|ok|okay|good|fine|no|hmm|alright|right|great)[,.! ]+)*(?:go (?:with|for)|take|choose|pick|use|do|option|variant|plan) (?:option |variant |plan |the )?(?:[a-d1-4]|first|second|third|latter|former)\b/i,
  /\b(?:we|i)(?:'ll| will) (?:go|use|keep|stay|stick|take|drop|ship)\b/i,
]

const OTHERS: Record<Exclude<Language, 'en'>, RegExp> = {
  de: /(?<!\p{L})(?:habe? (?:ich )?(?:mich|uns) (?:\S+ ){0,8}entschieden|entschieden (?:mich|uns)|habe (?:\S+ ){1,12}(?:gewählt|statt|anstatt)|(?:nehme|verwende|nutze|behalte)n? (?:ich|wir)? ?(?:\S+ ){0,12}(?:statt|anstatt|anstelle|weil))(?!\p{L})/iu,
  es: /(?<!\p{L})(?:he(?:mos)? (?:preferido|decidido|optado|elegido)|decidí|opté|elegí|(?:uso|usaré|dejo|mantengo|prefiero) (?:\S+ ){0,12}(?:en lugar de|en vez de|porque))(?!\p{L})/iu,
  fr: /(?<!\p{L})(?:j['’]ai (?:choisi|décidé|opté|préféré|retenu)|nous avons (?:choisi|décidé|opté)|(?:j['’]utilise|je garde|je préfère|je prends) (?:\S+ ){0,12}(?:plutôt que|au lieu de|parce que|car))(?!\p{L})/iu,
  zh: /(?:我|我们)?(?:决定|选择了|选用|改用|最终采用|采用了?).{2,60}(?:而不是|而非|因为|代替)|(?:决定|选择)(?:不|用|采用|使用|把)/,
  ja: /(?:ことにし(?:ました|た|ます)|を選びました|を採用し|に決め(?:ました|た))|(?:の代わりに|ではなく).{1,40}(?:を使|にし|採用|選)/,
  ru: /(?<!\p{L})(?:я |мы )?(?:решил[аи]?|выбрал[аи]?|предпочёл|предпочел|предпочла)(?!\p{L})|(?<!\p{L})(?:использую|оставляю|сделал[аи]?|беру) (?:\S+ ){0,12}(?:вместо|потому что|так как)(?!\p{L})/iu,
}

/** Quick filter: every decision contains one of these, and most sentences contain none. */
const QUICK_FILTER =
  /decid|decis|choice|chose|choose|opted|settled|went|picked?|go(?:ing)? (?:with|for)|stick|rather|instead|because|since|so that|over|not|agree|recommend|suggest|propos|favou?r|keep|skip|leav|pick|reject|rul|drop|abandon|discard|conclusion|verdict|let.?s|let us|approach|design|take|option|variant|plan|will|.ll/i

/** Intentions for the next minute, which are no decisions. */
const NEXT_STEP =
  /^(?:(?:ok|okay|now|first|next|good|great|right|so|then|alright)[,.! ]+)*(?:let me|i'll (?:look|check|start|read|run|see|now|first|begin|try|have to|take a look|go through|have a look|search|find|open|verify|fix (?:that|this|it)|add a test)|i will (?:look|check|start|read|run|now|first)|let's (?:see|look|check|start|run|try|find))\b/i

function isDecision(sentence: string, signs: RegExp[]): boolean {
  if (signs.length > 1 && !QUICK_FILTER.test(sentence)) return false
  const plain = sentence.replace(/[’‘]/g, "'")
  if (NEXT_STEP.test(plain) && !/\b(?:because|rather than|instead of)\b/i.test(plain)) return false
  if (signs.some((one) => one.test(plain))) return true
  return signs === AGENT && REASON.test(plain) && REASONED.some((one) => one.test(plain))
}

interface FileState {
  found: Map<string, Fact>
  /** Changes whose call did not return. They may have been made. */
  open: Map<string, CallEntry>
  root: string | null
}

/**
 * Collects files that were read or changed, by tools or evidently by commands.
 * A file that was changed once stays changed.
 */
function watchFiles(state: FileState = { found: new Map(), open: new Map(), root: null }): Watcher {
  const { found, open } = state

  const put = (path: string, changed: boolean, line: number, at: number | null, removed = false): void => {
    let fact = found.get(path)
    if (fact === undefined) {
      const detail = { reads: 0, changes: 0, removed: false }
      fact = { kind: 'file', text: relativePath(path, state.root), line, at, state: 'read', detail }
      found.set(path, fact)
    }
    const { detail } = fact
    fact.line = line
    fact.at = at
    if (changed) {
      fact.state = 'changed'
      detail.changes = Number(detail.changes) + 1
      detail.removed = removed
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
        if (returned.ok !== false) put(resolvePath(act.path, cwd), act.type === 'change', returned.line, returned.at)
      } else if (act.type === 'command' && !returned.refused) byCommand(act.command, cwd, returned, act.background)
    },
    facts: () => [
      ...[...found.values()].map((fact) => ({ ...fact, detail: { ...fact.detail } })),
      ...[...open.values()].flatMap(unconfirmed),
    ],
  }

  function byCommand(command: string, cwd: string | null, returned: ResultEntry, background: boolean): void {
    const { changed, read } = filesOf(command, cwd, returned.ok === false, returned.text)
    // A background command may not have read its files yet.
    if (!background) for (const path of read) put(path, false, returned.line, returned.at)
    for (const { path, removed } of changed) put(path, true, returned.line, returned.at, removed)
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
