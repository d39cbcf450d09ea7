import type { RuntimeListener, ToolCall } from '../../../contract/runtime.js'
import { filesOf } from '../../../facts/shell-files.js'
import { toolActionOf } from '../conversation-tools.js'
import { asList, asObject, asText, type Fields } from '../fields.js'

interface HookRegistration {
  event: string
  matcher: string | null
}

/**
 * Hooks that Baton registers with the client.
 * SessionStart reaches a callback only after a compaction, SessionEnd never.
 */
export const REGISTERED_HOOKS: readonly HookRegistration[] = [
  { event: 'UserPromptSubmit', matcher: null },
  { event: 'PreToolUse', matcher: null },
  { event: 'PostToolUse', matcher: null },
  { event: 'PostToolUseFailure', matcher: null },
  { event: 'PostToolBatch', matcher: null },
  { event: 'PreCompact', matcher: null },
  { event: 'SessionStart', matcher: 'compact' },
  { event: 'PostCompact', matcher: null },
  { event: 'SubagentStop', matcher: null },
  { event: 'Stop', matcher: null },
  { event: 'StopFailure', matcher: null },
]

/**
 * Events that are reported as they arrive.
 * Single tool calls are reported with their batch, a compaction once it is not blocked.
 */
const REPORTED = new Set([
  'UserPromptSubmit',
  'PostToolBatch',
  'SessionStart',
  'PostCompact',
  'SubagentStop',
  'Stop',
  'StopFailure',
])

/**
 * Seconds that the client waits for an answer to a hook.
 * Baton answers far earlier, because a late answer for a batch would end the session.
 */
export const HOOK_TIMEOUT_S = 600

/**
 * Passes the client's hook calls to the listener and its answers back. One instance per session.
 */
export class ClientHooks {
  /**
   * Tool calls of the running batch that succeeded.
   * A refused or malformed call appears only in the report of its batch.
   */
  private readonly returned = new Set<string>()

  constructor(private readonly listener: RuntimeListener) {}

  /** Returns the output of the hook, {} for none. Never throws. */
  async answer(value: unknown): Promise<Fields> {
    const input = asObject(value) ?? {}
    const event = asText(input.hook_event_name) ?? ''
    if (REPORTED.has(event)) await this.listener.onHookEvent?.(event, input)
    switch (event) {
      case 'PreToolUse':
        return this.beforeTool(input)
      case 'PostToolUse':
        return this.afterTool(input, input.tool_response, false)
      case 'PostToolUseFailure':
        return this.afterTool(input, input.error, true)
      case 'PostToolBatch':
        return this.afterBatch(input)
      case 'PreCompact':
        return this.beforeCompaction(input)
      case 'SessionStart':
        return this.afterCompaction(input)
    }
    return {}
  }

  private async beforeTool(input: Fields): Promise<Fields> {
    const { deny } = await this.listener.beforeTool(callOf(input))
    if (deny === undefined) return {}
    const decision = { permissionDecision: 'deny', permissionDecisionReason: deny }
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } }
  }

  private async afterTool(input: Fields, result: unknown, failed: boolean): Promise<Fields> {
    const call = callOf(input)
    if (!failed && call.subagent === null) this.returned.add(call.id)
    await this.listener.afterTool({ ...call, result, failed })
    return {}
  }

  private async afterBatch(input: Fields): Promise<Fields> {
    // The end of a subagent's batch does not end a batch of the main agent.
    if (asText(input.agent_id) !== null) return {}
    const calls = asList(input.tool_calls)
      .map((entry) => asObject(entry) ?? {})
      .map((entry) => ({
        ...callOf(entry),
        result: entry.tool_response,
        failed: !this.returned.delete(asText(entry.tool_use_id) ?? ''),
      }))
    const { stop, context } = await this.listener.afterBatch(calls)
    return {
      ...(stop === undefined ? {} : { continue: false, stopReason: stop }),
      ...(context ? { hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: context } } : {}),
    }
  }

  private async beforeCompaction(input: Fields): Promise<Fields> {
    if (asText(input.agent_id) !== null) return {}
    const { block } = await this.listener.beforeCompaction(input.trigger === 'manual' ? 'manual' : 'auto')
    if (block !== undefined) return { decision: 'block', reason: block }
    const instructions = await this.listener.onHookEvent?.('PreCompact', input)
    // For PreCompact the client passes only this field of a callback's answer to its summariser.
    return instructions ? { systemMessage: instructions } : {}
  }

  private async afterCompaction(input: Fields): Promise<Fields> {
    if (input.source !== 'compact' || asText(input.agent_id) !== null) return {}
    const { context } = await this.listener.afterCompaction()
    return context ? { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: context } } : {}
  }
}

function callOf(input: Fields): ToolCall {
  const name = asText(input.tool_name) ?? ''
  return {
    id: asText(input.tool_use_id) ?? '',
    name,
    input: input.tool_input,
    subagent: asText(input.agent_id),
    ...(changesFiles(name, asObject(input.tool_input) ?? {}) && { edits: true }),
  }
}

function changesFiles(tool: string, input: Fields): boolean {
  const act = toolActionOf(tool, input)
  if (act.type !== 'command') return act.type === 'change'
  return filesOf(act.command, null, false, '').changed.length > 0
}
