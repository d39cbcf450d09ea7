import { until } from '../../../test/harness/wait.js'
import type { RunningSession, RuntimeListener, RuntimeMessage, ToolResult } from '../../contract/runtime.js'

export type Kind<K extends RuntimeMessage['kind']> = Extract<RuntimeMessage, { kind: K }>

/** A session and every message it has sent. */
export interface RecordedSession {
  session: RunningSession
  messages: RuntimeMessage[]
  raw: string[]
  of<K extends RuntimeMessage['kind']>(kind: K): Kind<K>[]
  /** Resolves with the n-th message of a kind, counted from 1. */
  next<K extends RuntimeMessage['kind']>(kind: K, n?: number): Promise<Kind<K>>
}

/** Collects the messages of a session from now on. */
export function recordSession(session: RunningSession): RecordedSession {
  const recorded: RecordedSession = {
    session,
    messages: [],
    raw: [],
    of: (kind) => recorded.messages.filter((message): message is never => message.kind === kind),
    next: (kind, n = 1) =>
      until(
        () => `${kind} ${n}; heard ${JSON.stringify(recorded.messages).slice(-2000)}`,
        () => recorded.of(kind)[n - 1],
      ),
  }
  session.onRaw((line) => recorded.raw.push(line))
  void (async () => {
    for await (const message of session.messages) recorded.messages.push(message)
  })()
  return recorded
}

export interface RecordingListener extends RuntimeListener {
  /**
   * Calls of the listener, in order: `before Bash`, `after Bash`, `batch 2`, `compaction auto`, …
   */
  asked: string[]
  batches: ToolResult[][]
}

/** A listener that records each question and gives the answers it was made with. */
export function recordingListener(answers: Partial<RuntimeListener> = {}): RecordingListener {
  const it: RecordingListener = {
    asked: [],
    batches: [],
    beforeTool: async (call) => {
      it.asked.push(`before ${call.name}`)
      return answers.beforeTool?.(call) ?? {}
    },
    afterTool: async (result) => {
      it.asked.push(`${result.failed ? 'failed' : 'after'} ${result.name}`)
      await answers.afterTool?.(result)
    },
    afterBatch: async (calls) => {
      it.asked.push(`batch ${calls.length}`)
      it.batches.push(calls)
      return answers.afterBatch?.(calls) ?? {}
    },
    beforeCompaction: async (trigger) => {
      it.asked.push(`compaction ${trigger}`)
      return answers.beforeCompaction?.(trigger) ?? {}
    },
    afterCompaction: async () => {
      it.asked.push('compacted')
      return answers.afterCompaction?.() ?? {}
    },
  }
  return it
}
