import { ANSWER_MS, boundedListener } from '../../agents/shared/bounded-listener.js'
import type { Runtime, RuntimeListener, SessionOptions } from '../../contract/runtime.js'
import { type Log, silentLog } from '../../lib/log.js'
import { ScriptedSession } from './scripted-session.js'
import type { RuntimeScript, ScriptedRequest } from './scripted-steps.js'

interface ScriptedRuntime extends Runtime {
  /** Every request the model would have got, oldest first. */
  requests: ScriptedRequest[]
  /** How each session was begun, oldest first. */
  startedSessions: SessionOptions[]
}

/** No client at all: plays a script in this process. For dry runs, and for tests of whoever uses a runtime. */
export function scriptedRuntime(
  script: RuntimeScript,
  { log = silentLog, answerMs = ANSWER_MS }: { log?: Log; answerMs?: number } = {},
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
