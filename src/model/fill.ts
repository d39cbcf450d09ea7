import path from 'node:path'
import type { Step } from './script.js'
import type { Answer } from './unroll.js'

export interface Place {
  cycle: number
  step: number
  /** The client's folder; null: not known. */
  cwd: string | null
}

export interface ToolCall {
  name: string
  input: Record<string, unknown>
}

/** What an answer says and does, with every `{{name}}` filled in. */
export interface Filled {
  text?: string
  thinking?: string
  tools: ToolCall[]
}

export function fill(answer: Answer, place: Place): Filled {
  const values: Record<string, string> = {
    n: String(answer.n),
    step: String(place.step + 1),
    cycle: String(place.cycle + 1),
    used: String(answer.used),
    cwd: place.cwd ?? '.',
  }
  const put = (text: string): string => text.replace(/\{\{(n|step|cycle|used|cwd)\}\}/g, (_, name: string) => values[name]!)
  const { text, thinking } = answer.step
  return {
    text: text === undefined ? silent(answer.step) : put(text),
    thinking: thinking === undefined ? undefined : put(thinking),
    tools: toolsOf(answer.step, place.cwd).map((tool) => ({
      name: tool.name,
      input: deep(tool.input, put) as Record<string, unknown>,
    })),
  }
}

/** The API has no answer without content. */
function silent(step: Step): string | undefined {
  return step.thinking === undefined && !step.blocks?.length && toolsOf(step, null).length === 0 ? 'Done.' : undefined
}

function toolsOf(step: Step, cwd: string | null): ToolCall[] {
  return [
    ...(step.tools ?? []).map((tool) => ({ name: tool.name, input: tool.input ?? {} })),
    ...[step.bash ?? []].flat().map((command) => ({ name: 'Bash', input: { command } })),
    ...[step.read ?? []].flat().map((file) => ({ name: 'Read', input: { file_path: cwd ? path.resolve(cwd, file) : file } })),
    ...(step.agent ?? []).map((agent) => ({
      name: 'Agent',
      input: {
        description: agent.description ?? 'scripted subagent',
        prompt: agent.prompt,
        subagent_type: agent.type ?? 'general-purpose',
        run_in_background: agent.background ?? false,
        ...(agent.model ? { model: agent.model } : {}),
      },
    })),
  ]
}

function deep(value: unknown, put: (text: string) => string): unknown {
  if (typeof value === 'string') return put(value)
  if (Array.isArray(value)) return value.map((one) => deep(one, put))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner, put)]))
  }
  return value
}
