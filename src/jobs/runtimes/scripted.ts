import { boundedEars, EAR_MS } from '../../agents/shared/bounded-ears.js'
import type { Runtime, RuntimeListener, SessionOptions } from '../../contract/runtime.js'
import { type Log, silentLog } from '../../lib/log.js'
import { ScriptedSession } from './scripted-session.js'
import type { RuntimeScript, ScriptedRequest } from './scripted-steps.js'

interface ScriptedRuntime extends Runtime {
  /** Every request the model would have got, oldest first. */
  requests: ScriptedRequest[]
  /** How each session was begun, oldest first. */
  wishes: SessionOptions[]
}

/** No client at all: plays a script in this process. For dry runs, and for tests of whoever uses a runtime. */
export function scriptedRuntime(
  script: RuntimeScript,
  { log = silentLog, earMs = EAR_MS }: { log?: Log; earMs?: number } = {},
): ScriptedRuntime {
  const conversations = new Map<string, string[]>()
  const requests: ScriptedRequest[] = []
  const wishes: SessionOptions[] = []
  return {
    name: 'scripted',
    requests,
    wishes,
    missing: () => null,
    start: (wish: SessionOptions, listener: RuntimeListener) => {
      const texts = conversationOf(wish, conversations)
      conversations.set(wish.sessionId, texts)
      const steps = script.sessions[wishes.length] ?? []
      wishes.push(wish)
      return new ScriptedSession({
        wish,
        listener: boundedEars(listener, log, earMs),
        script,
        steps: [...steps],
        texts,
        requests,
      })
    },
  }
}

function conversationOf({ begin, sessionId }: SessionOptions, conversations: Map<string, string[]>): string[] {
  if (begin.how === 'fresh') return []
  const from = begin.how === 'resume' ? sessionId : begin.from
  const texts = conversations.get(from) ?? []
  if (begin.how === 'resume') return texts
  const cut = begin.at === null ? -1 : texts.indexOf(`(${begin.at})`)
  return cut < 0 ? [...texts] : texts.slice(0, cut + 1)
}
