import type { Called, Returned } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { commandOf } from './commands.js'
import type { Watcher } from './watcher.js'

/** How many lines of an output are told, and how long each may be. */
const MOST_LINES = 3
const LONGEST = 300
/** Of the same thing tried again and again the newest errors are told to be overcome; that is enough. */
const MOST_STANDING = 20
const MOST_LOOKED_AT = 10_000

interface State {
  found: Map<string, Fact>
  /** Errors that stand, by what was tried: the same objects as in `found`. */
  standing: Map<string, Fact[]>
}

/** Errors met, in the words of what failed, and whether the same was done again and worked. */
export function watchErrors(state: State = { found: new Map(), standing: new Map() }): Watcher {
  const { found, standing } = state

  const overcome = (key: string): void => {
    for (const fact of standing.get(key) ?? []) fact.detail = { ...fact.detail, overcome: true }
    standing.delete(key)
  }

  return {
    state,
    returned: (returned, call) => {
      const key = keyOf(call)
      if (key === null || returned.interrupted) return
      if (returned.ok === true) overcome(key)
      // What Baton itself refused, because the brief was wanted, was no attempt at the work.
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

/** What was tried: the command, or the tool and its file. */
function keyOf(call: Called): string | null {
  const { act } = call
  if (act.type === 'command') return commandOf(call)
  if (act.type === 'read' || act.type === 'change') return `${act.type} ${act.path}`
  return act.type === 'other' ? `${call.tool} ${act.words.slice(0, 200)}` : null
}

const TELLING = [
  /(?:Error|Exception|Failure|panic|fatal|FATAL|Unhandled|Traceback)\b.*[:!]|Failure at /,
  /\berror(?:\[\w+\]| TS\d+)?:/i,
  /^E\s{2,}\S/,
  /^\s*[\w./-]+:\d+(?::\d+)?:? /,
  /\b(?:CONFLICT|rejected|failed|cannot|can't|not found|no such file|denied|refused|undefined|unresolved|unexpected|invalid|timed out|missing|mismatch)\b/i,
  /\b(?:error|fail|[A-Z]{1,4}\d{3,4})\b/i,
]

/** Something of this stands in every line that tells an error. */
const CHEAP =
  /error|exception|failure|panic|fatal|unhandled|traceback|^E\s|:\d|conflict|rejected|fail|cannot|can't|not found|no such|denied|refused|undefined|unresolved|unexpected|invalid|timed out|missing|mismatch|[A-Z]\d{3}/i

function errorIn({ text }: Returned): string {
  const lines = text
    .slice(0, MOST_LOOKED_AT)
    .replace(/^(?:Error: )?Exit code \d+\n?/, '')
    .replace(/<\/?tool_use_error>/g, '')
    .split('\n')
    .map((line) => line.trim().slice(0, LONGEST))
    .filter((line) => line !== '')
  const picked = new Set<string>()
  const telling = lines.filter((line) => CHEAP.test(line))
  for (const sign of TELLING) {
    for (const line of telling) {
      if (picked.size >= MOST_LINES) break
      if (sign.test(line)) picked.add(line)
    }
  }
  const chosen = picked.size > 0 ? lines.filter((line, i) => picked.has(line) && lines.indexOf(line) === i) : lines.slice(-1)
  return chosen.join('\n')
}
