import { type Options, query } from '@anthropic-ai/claude-agent-sdk'
import type { Home } from './home.js'
import { clientBinary } from './paths.js'
import type { ClientMessage } from './run-print.js'
import { PATIENCE_MS } from './wait.js'

export interface SdkRun {
  messages: ClientMessage[]
  sessionId: string | null
  result: ClientMessage | null
  /** Error that the iterator threw at its end. Null when it ended normally. */
  error: Error | null
}

/** Runs the Agent SDK's `query()` to its end, isolated in this home. */
export async function runSdk(home: Home, run: { prompt: string; options?: Options }): Promise<SdkRun> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), PATIENCE_MS)
  const messages: ClientMessage[] = []
  let error: Error | null = null
  try {
    const options: Options = {
      cwd: home.project,
      // Without CLAUDE_CONFIG_DIR the SDK would read the configuration of the real home.
      env: { ...home.env, CLAUDE_CONFIG_DIR: home.configDir },
      pathToClaudeCodeExecutable: clientBinary(),
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
      abortController: abort,
      ...run.options,
    }
    for await (const message of query({ prompt: run.prompt, options }))
      messages.push(message as unknown as ClientMessage)
  } catch (thrown) {
    error = thrown as Error
  } finally {
    clearTimeout(timer)
  }
  return {
    messages,
    sessionId: messages.findLast((m) => m.session_id)?.session_id ?? null,
    result: messages.findLast((m) => m.type === 'result') ?? null,
    error,
  }
}
