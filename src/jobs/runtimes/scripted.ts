import { boundedListener, MAX_ANSWER_MS } from '../../agents/shared/bounded-listener.js'
import type { Runtime, RuntimeListener, SessionOptions } from '../../contract/runtime.js'
import { type Log, silentLog } from '../../lib/log.js'
import { ScriptedSession } from './scripted-session.js'
import type { RuntimeScript, ScriptedRequest } from './scripted-steps.js'

interface ScriptedRuntime extends Runtime {
  /** Every request the model would have received, oldest first. */
  requests: ScriptedRequest[]
  /** Options of each started session, oldest first. */
  startedSessions: SessionOptions[]
}

/**
 * Creates a runtime that plays a script in this process, without a client.
 * Used for dry runs and for tests of code that uses a runtime.
 */
export function scriptedRuntime(
  script: RuntimeScript,
  { log = silentLog, answerMs = MAX_ANSWER_MS }: { log?: Log; answerMs?: number } = {},
): ScriptedRuntime {
  const conversations = new Map<string, string[]>()
  const requests: ScriptedRequest[] = []
  const startedSessions: SessionOptions[] = []
  return {
    name: 'scripted',
    requests,
    startedSessions,
    missing: () => null,
    start: (sessionOptions: SessionOptions, listener: RuntimeListener) => {
      const texts = conversationOf(sessionOptions, conversations)
      conversations.set(sessionOptions.sessionId, texts)
      const steps = script.sessions[startedSessions.length] ?? []
      startedSessions.push(sessionOptions)
      return new ScriptedSession({
        sessionOptions,
        listener: boundedListener(listener, log, answerMs),
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
