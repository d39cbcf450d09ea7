import { type Log, silentLog } from '../../lib/log.js'
import { boundedEars, EAR_MS } from './bounded-ears.js'
import type { Ears, Runtime, SessionWish } from './runtime.js'
import { ScriptedSession } from './scripted-session.js'
import type { RuntimeScript, ScriptedRequest } from './scripted-steps.js'

export interface ScriptedRuntime extends Runtime {
  /** Every request the model would have got, oldest first. */
  requests: ScriptedRequest[]
  /** How each session was begun, oldest first. */
  wishes: SessionWish[]
}

/** No client at all: plays a script in this process. For dry runs, and for tests of whoever uses a runtime. */
export function scriptedRuntime(
  script: RuntimeScript,
  { log = silentLog, earMs = EAR_MS }: { log?: Log; earMs?: number } = {},
): ScriptedRuntime {
  const conversations = new Map<string, string[]>()
  const requests: ScriptedRequest[] = []
  const wishes: SessionWish[] = []
  return {
    name: 'scripted',
    requests,
    wishes,
    missing: () => null,
    start: (wish: SessionWish, ears: Ears) => {
      const texts = conversationOf(wish, conversations)
      conversations.set(wish.sessionId, texts)
      const steps = script.sessions[wishes.length] ?? []
      wishes.push(wish)
      return new ScriptedSession({ wish, ears: boundedEars(ears, log, earMs), script, steps: [...steps], texts, requests })
    },
  }
}

function conversationOf({ begin, sessionId }: SessionWish, conversations: Map<string, string[]>): string[] {
  if (begin.how === 'fresh') return []
  const from = begin.how === 'resume' ? sessionId : begin.from
  const texts = conversations.get(from) ?? []
  if (begin.how === 'resume') return texts
  const cut = begin.at === null ? -1 : texts.indexOf(`(${begin.at})`)
  return cut < 0 ? [...texts] : texts.slice(0, cut + 1)
}
