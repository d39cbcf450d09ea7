import { type Fields, list, object, text } from '../../agents/claude-code/fields.js'
import { measureUsage } from '../../agents/claude-code/usage.js'
import type { RunMessage, ToolCall } from './runtime.js'

type Answer = Extract<RunMessage, { kind: 'answer' }>

/** One answer while it comes in: the client sends a message for each of its blocks, and the last counts only at its end. */
export class AnswerParts {
  private readonly texts: string[] = []
  private readonly calls: ToolCall[] = []
  private usage: Fields = {}
  private uuid: string | null = null

  constructor(
    readonly id: string,
    private readonly model: string | null,
  ) {}

  add(message: Fields, uuid: string | null): void {
    this.uuid = uuid ?? this.uuid
    this.count(message.usage)
    for (const block of list(message.content).map(object)) {
      if (block?.type === 'text') this.texts.push(text(block.text) ?? '')
      if (block?.type !== 'tool_use') continue
      this.calls.push({ id: text(block.id) ?? '', name: text(block.name) ?? '', input: block.input, subagent: null })
    }
  }

  /** Later counts of the same answer are truer than earlier ones; what they leave out stands. */
  count(usage: unknown): void {
    for (const [name, value] of Object.entries(object(usage) ?? {})) if (value != null) this.usage[name] = value
  }

  tell(): Answer {
    const measured = measureUsage(this.usage)
    return {
      kind: 'answer',
      id: this.id,
      text: this.texts.join('\n'),
      model: this.model,
      usage: measured?.exact === true && measured.used !== null ? measured.usage : null,
      calls: this.calls,
      uuid: this.uuid,
    }
  }
}
