import { FIRST_RECOVERY } from '../compaction/recovery.js'
import type { CallEntry, CompactionEntry, Entry, ResultEntry } from '../contract/conversation.js'
import { resolvePath } from '../facts/paths.js'
import { textOfCall } from './arms.js'
import { eachToken, tokensIn } from './specific-tokens.js'

/** Calls of the agent after a compaction in which a token counts as needed. */
export const CALLS_AFTER = 40

/** A file that the agent read again, or a command that it ran again. */
export interface RepeatedCall {
  kind: 'reread' | 'rerun'
  /** Tokens of the result that later calls used. Empty when they used none. */
  used: Set<string>
}

/** The agent's work in the `CALLS_AFTER` calls after a compaction. */
export interface WorkAfterCompaction {
  compaction: CompactionEntry
  calls: number
  /**
   * Tokens of calls that nothing since the compaction had introduced.
   * The value is a file when only the text written to that file contains the token, else null.
   */
  used: Map<string, string | null>
  repeated: RepeatedCall[]
  /** True when Baton put facts back after this compaction. */
  recovered: boolean
}

/** Data of the running window that is dropped when it closes. */
interface OpenWindow extends WorkAfterCompaction {
  /** Tokens that prompts and results since the compaction introduced. */
  introduced: Set<string>
  /** Files that the client itself gave to the agent again after the compaction. */
  restored: Set<string>
  paths: Set<string>
  commands: Set<string>
  /** Results of repeated calls, by call id. Null until the call returned. */
  results: Map<string, { repeated: RepeatedCall; own: ReadonlySet<string>; tokens: ReadonlySet<string> | null }>
}

/** Marks of calls that the agent did not make: files named with @ and commands typed with !. */
const NOT_OF_AGENT = new Set(['@', '!'])

/** Watches a conversation and returns the agent's work after each compaction. */
export function watchWorkAfter(): {
  add(entry: Entry): void
  end(): { work: WorkAfterCompaction[]; root: string | null }
} {
  const work: WorkAfterCompaction[] = []
  /** Files and commands of the time before the running window. */
  const paths = new Set<string>()
  const commands = new Set<string>()
  let root: string | null = null
  let window: OpenWindow | null = null

  const close = (): void => {
    if (window === null) return
    for (const path of window.paths) paths.add(path)
    for (const command of window.commands) commands.add(command)
    const { compaction, calls, used, repeated, recovered } = window
    work.push({ compaction, calls, used, repeated, recovered })
    window = null
  }

  const called = (call: CallEntry): void => {
    root ??= call.cwd ?? null
    const { act } = call
    const path = act.type === 'read' || act.type === 'change' ? resolvePath(act.path, call.cwd ?? root) : null
    const command = act.type === 'command' ? act.command.replace(/\s+/g, ' ').trim() : null
    if (NOT_OF_AGENT.has(call.tool)) {
      if (path !== null) (window?.restored ?? paths).add(path)
      return
    }
    if (window === null) {
      if (path !== null) paths.add(path)
      if (command !== null) commands.add(command)
      return
    }
    window.calls++
    const isReread = act.type === 'read' && paths.has(path!) && !window.paths.has(path!)
    const isRerun = command !== null && commands.has(command) && !window.commands.has(command)
    const own = use(window, call, path)
    if (isReread || isRerun) {
      const repeated: RepeatedCall = { kind: isReread ? 'reread' : 'rerun', used: new Set() }
      window.repeated.push(repeated)
      window.results.set(call.callId, { repeated, own, tokens: null })
    }
    if (path !== null) window.paths.add(path)
    if (command !== null) window.commands.add(command)
    if (window.calls === CALLS_AFTER) close()
  }

  /** Notes the tokens of a call and returns them. */
  const use = (open: OpenWindow, call: CallEntry, path: string | null): Set<string> => {
    const { act } = call
    const own = new Set<string>()
    const note = (token: string, file: string | null): void => {
      own.add(token)
      for (const { repeated, tokens } of open.results.values()) if (tokens?.has(token)) repeated.used.add(token)
      if (open.introduced.has(token)) return
      const before = open.used.get(token)
      open.used.set(token, before === undefined || before === file ? file : null)
    }
    if (act.type !== 'change') eachToken(textOfCall(act), root, (token) => note(token, null))
    else {
      eachToken(act.path, root, (token) => note(token, null))
      if (act.written !== undefined && !open.restored.has(path!))
        eachToken(act.written, root, (token) => note(token, path))
    }
    return own
  }

  const returned = ({ callId, text }: ResultEntry): void => {
    if (window === null) return
    const result = window.results.get(callId)
    if (result !== undefined) {
      const { introduced } = window
      result.tokens = new Set(
        [...tokensIn(text, root)].filter((token) => !result.own.has(token) && !introduced.has(token)),
      )
    }
    introduce(window, text)
  }

  const introduce = (open: OpenWindow, text: string): void =>
    eachToken(text, root, (token) => void open.introduced.add(token))

  return {
    add(entry) {
      if (entry.kind === 'compacted') {
        close()
        window = openWindow(entry)
      } else if (entry.kind === 'called') called(entry)
      else if (entry.kind === 'returned') returned(entry)
      else if (window !== null && entry.by !== 'agent') {
        if (entry.by === 'other' && entry.text.includes(FIRST_RECOVERY)) window.recovered = true
        else introduce(window, entry.text)
      }
    },
    end() {
      close()
      return { work, root }
    },
  }
}

const openWindow = (compaction: CompactionEntry): OpenWindow => ({
  compaction,
  calls: 0,
  used: new Map(),
  repeated: [],
  recovered: false,
  introduced: new Set(),
  restored: new Set(),
  paths: new Set(),
  commands: new Set(),
  results: new Map(),
})
