import type { Called, Returned } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { commandOf } from './commands.js'
import type { Watcher } from './watcher.js'

/** How many lines of an output are told, and how long each may be. */
const MOST_LINES = 3
const LONGEST = 300
const MOST_LOOKED_AT = 20_000

/** Errors met, in the words of what failed, and whether the same was done again and worked. */
export function watchErrors(): Watcher {
  const found = new Map<string, Fact>()

  const overcome = (key: string): void => {
    for (const fact of found.values()) {
      if (fact.detail.of === key && fact.detail.overcome === false) fact.detail = { ...fact.detail, overcome: true }
    }
  }

  return {
    returned: (returned, call) => {
      const key = keyOf(call)
      if (key === null || returned.interrupted) return
      if (returned.ok === true) overcome(key)
      if (returned.ok !== false) return
      const text = errorIn(returned)
      if (text === '') return
      const detail = { of: key, tool: call.tool, exitCode: returned.exitCode, overcome: false }
      found.set(`${key}\n${text}`, { kind: 'error', text, line: returned.line, at: returned.at, state: null, detail })
    },
    facts: () => [...found.values()],
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
  /\b(?:\w*Error|\w*Exception|panic|fatal|FATAL|Unhandled|Traceback)\b.*[:!]/,
  /\berror(?:\[\w+\]| TS\d+)?:/i,
  /^E\s{2,}\S/,
  /^\s*[\w./-]+:\d+(?::\d+)?:? /,
  /\b(?:CONFLICT|rejected|failed|cannot|can't|not found|no such file|denied|refused|undefined|unresolved|unexpected|invalid|timed out|missing|mismatch)\b/i,
  /\b(?:error|fail|[A-Z]{1,4}\d{3,4})\b/i,
]

function errorIn({ text }: Returned): string {
  const lines = text
    .slice(0, MOST_LOOKED_AT)
    .replace(/^(?:Error: )?Exit code \d+\n?/, '')
    .replace(/<\/?tool_use_error>/g, '')
    .split('\n')
    .map((line) => line.trim().slice(0, LONGEST))
    .filter((line) => line !== '')
  const picked = new Set<string>()
  for (const sign of TELLING) {
    for (const line of lines) {
      if (picked.size >= MOST_LINES) break
      if (sign.test(line)) picked.add(line)
    }
  }
  const chosen = picked.size > 0 ? lines.filter((line, i) => picked.has(line) && lines.indexOf(line) === i) : lines.slice(-1)
  return chosen.join('\n')
}
