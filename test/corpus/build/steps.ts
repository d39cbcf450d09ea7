import type { Call } from './call.js'
import { Marks } from './marks.js'

/** Content that precedes the calls in the same answer. */
export interface Aside {
  say?: string
  think?: string
}

/** Builds the agent's steps: its text, its calls and their results. */
export class Steps extends Marks {
  protected tools: string[] = []
  /** Content that the next request repeats. */
  protected fresh: unknown = ''
  private messages = 0
  private batch: { call: Call; aside: Aside }[] | null = null

  /** Adds the agent's text at the end of its turn. */
  say(text: string, think?: string): this {
    const request = this.tape.ask(this.fresh)
    const blocks = [...(think ? [this.thinking(think)] : []), { type: 'text', text }]
    const lines = this.tape.answer(blocks, 'end_turn', request)
    this.spoke(text, lines.at(-1)!.line)
    this.messages += 2
    if (this.tape.entry === 'cli') {
      this.tape.system(
        'turn_duration',
        { durationMs: 4000 + this.messages * 37, messageCount: this.messages },
        { isMeta: false },
      )
    }
    return this
  }

  /** Adds text of the agent that the user interrupts. */
  cutOff(text: string): this {
    const request = this.tape.ask(this.fresh)
    const [line] = this.tape.answer([{ type: 'text', text }], 'end_turn', request, true)
    this.spoke(text, line!.line)
    const message = { role: 'user', content: [{ type: 'text', text: '[Request interrupted by user]' }] }
    this.tape.user(message, {}, { interruptedMessageId: `msg_${this.tape.ids.word(9)}` }, true)
    return this
  }

  private spoke(text: string, line: number): void {
    this.lastSaid = text
    this.saidLine = line
  }

  /** Adds several calls in one answer. */
  together(make: () => void, aside: Aside = {}): this {
    this.batch = []
    make()
    const calls = this.batch
    this.batch = null
    this.run(
      calls.map(({ call }) => call),
      Object.assign({}, ...calls.map((one) => one.aside), aside),
    )
    return this
  }

  protected call(call: Call, aside: Aside): this {
    if (this.batch !== null) this.batch.push({ call, aside })
    else this.run([call], aside)
    return this
  }

  private run(calls: Call[], aside: Aside): void {
    const { tape } = this
    const request = tape.ask(this.fresh)
    const news = calls.map((call) => call.name).filter((name) => !this.tools.includes(name))
    if (news.length > 0) {
      this.tools = [...this.tools, ...new Set(news)]
      tape.loose({ type: 'tools-used', tools: this.tools, sessionId: tape.sessionId })
    }
    const words = [
      ...(aside.think ? [this.thinking(aside.think)] : []),
      ...(aside.say ? [{ type: 'text', text: aside.say }] : []),
    ]
    const uses = calls.map((call) => ({
      type: 'tool_use',
      id: `toolu_${tape.ids.word(22)}`,
      name: call.name,
      input: call.input,
    }))
    const lines = tape.answer([...words, ...uses], 'tool_use', request)
    if (aside.say) this.spoke(aside.say, lines[words.length - 1]!.line)
    const results = calls.map((call, i) => {
      const { uuid, line } = lines[words.length + i]!
      const result = this.result(call, uses[i]!.id, uuid)
      call.learn?.(line, tape.line, uses[i]!.id)
      return result
    })
    this.messages += 2
    this.fresh = results
    tape.ids.tick(200)
    tape.attachment(
      {
        type: 'total_tokens_reminder',
        text: `<total_tokens>${15_000_000 - tape.line * 900} tokens left</total_tokens>`,
      },
      '(left out)',
      'system',
      true,
    )
  }

  private result(call: Call, id: string, source: string): unknown {
    const block = call.error
      ? { type: 'tool_result', content: call.content, is_error: true, tool_use_id: id }
      : {
          tool_use_id: id,
          type: 'tool_result',
          content: call.content,
          ...(call.error === false ? { is_error: false } : {}),
        }
    const after = {
      toolUseResult: call.result,
      ...call.more,
      ...(call.sandboxed === undefined ? {} : { sandboxed: call.sandboxed }),
      sourceToolAssistantUUID: source,
      ...(call.undecided ? {} : { permissionDecision: { decision: 'accept', source: 'config', reasonType: 'mode' } }),
    }
    this.tape.user({ role: 'user', content: [block] }, {}, after, true)
    return block
  }

  /** Adds a running tool that the user interrupts. */
  protected stopped(): void {
    const message = { role: 'user', content: [{ type: 'text', text: '[Request interrupted by user for tool use]' }] }
    this.tape.user(message, {}, {}, true)
  }

  private thinking(text: string): Record<string, unknown> {
    return { type: 'thinking', thinking: text, signature: this.tape.ids.word(24) }
  }
}
