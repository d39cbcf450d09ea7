import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Usage } from '../../contract/reading.js'
import type {
  ContextUsage,
  RunningSession,
  RuntimeListener,
  RuntimeMessage,
  SessionOptions,
  ToolCall,
  ToolResult,
} from '../../contract/runtime.js'
import { UnboundedQueue } from '../../lib/unbounded-queue.js'
import { withTimeout } from '../../lib/with-timeout.js'
import type { DeathPoint, RuntimeScript, ScriptedCall, ScriptedRequest, ScriptedStep } from './scripted-steps.js'

interface ScriptedInput {
  sessionOptions: SessionOptions
  listener: RuntimeListener
  script: RuntimeScript
  steps: ScriptedStep[]
  /** Conversation so far, which later sessions may continue. */
  texts: string[]
  requests: ScriptedRequest[]
}

/** Thrown to end a turn early. */
class Cut extends Error {}

const COMPACTED = 20_000
/** Interval at which a step checks for the file it waits for. */
const GATE_MS = 10

export class ScriptedSession implements RunningSession {
  readonly process = null
  readonly messages: UnboundedQueue<RuntimeMessage> = new UnboundedQueue()
  private readonly prompts = new UnboundedQueue<string>()
  private readonly gone: Promise<void>
  private readonly takers: ((line: string) => void)[] = []
  private readonly spent: Usage = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0 }
  private costUsd: number | null = null
  private compacts: boolean
  private used = 0
  private turns = 0
  private tasks: string[] = []
  private isGone = false
  private reportedStart = false
  private cut: (why: Cut) => void = () => {}
  private leave!: () => void

  constructor(private readonly it: ScriptedInput) {
    this.compacts = it.sessionOptions.compacts
    this.gone = new Promise((resolve) => {
      this.leave = resolve
    })
    void this.play()
  }

  onRaw(take: (line: string) => void): void {
    this.takers.push(take)
  }

  async ready(): Promise<void> {}

  say(prompt: string): void {
    this.prompts.push(prompt)
  }

  async usage(): Promise<ContextUsage | null> {
    if (this.isGone) return null
    const { window = 200_000, point = 167_000, proactive = true } = this.it.script
    return {
      used: this.used,
      window,
      point,
      proactive: proactive && this.compacts,
      model: this.it.sessionOptions.model ?? 'scripted',
    }
  }

  async forbidCompaction(): Promise<void> {
    this.compacts = false
  }

  async interrupt(): Promise<void> {
    this.cut(new Cut('aborted_tools'))
  }

  async stopTask(taskId: string): Promise<void> {
    this.setTasks(this.tasks.filter((id) => id !== taskId))
  }

  async end(withinMs = 10_000): Promise<void> {
    this.prompts.close()
    await withTimeout(withinMs, this.gone)
    this.exit(143, null, null)
  }

  kill(): void {
    this.exit(null, 'SIGKILL', null)
  }

  private async play(): Promise<void> {
    for await (const prompt of this.prompts) {
      if (this.isGone) return
      await this.turn(prompt)
      this.tell({ kind: 'state', state: 'idle' })
    }
    this.exit(0, null, null)
  }

  private async turn(prompt: string): Promise<void> {
    const cut = new Promise<never>((_, reject) => {
      this.cut = reject
    })
    cut.catch(() => {})
    this.turns = 0
    this.tell({ kind: 'state', state: 'working' })
    this.begin()
    this.it.texts.push(prompt)
    const reply = this.it.script.replies?.find(({ when }) => prompt.includes(when))
    let step = reply ?? this.nextStep()
    try {
      while (await this.step(step, cut)) step = this.nextStep()
    } catch (why) {
      if (why instanceof Cut && !this.isGone) this.result(why.message, true, null, '')
    }
  }

  /** Plays one step. Returns true when the turn continues. */
  private async step(step: ScriptedStep, cut: Promise<never>): Promise<boolean> {
    await this.compactIfFull()
    this.it.requests.push({ sessionId: this.it.sessionOptions.sessionId, texts: [...this.it.texts] })
    this.dieAt('request', step)
    this.before(step)
    if (step.hangs) await cut
    if (step.delayMs) await Promise.race([new Promise((resolve) => setTimeout(resolve, step.delayMs)), cut])
    while (step.until && !existsSync(step.until) && !this.isGone) await Promise.race([pause(GATE_MS), cut])
    if (this.isGone) return false
    if (step.fails) {
      this.result(step.fails.terminal, true, step.fails.status ?? null, step.fails.text ?? step.fails.terminal)
      return false
    }
    const calls = (step.calls ?? []).map(callOf)
    this.answer(step, calls)
    this.dieAt('answer', step)
    if (calls.length > 0) return this.batch(step, calls, cut)
    this.dieAt('result', step)
    this.result('completed', false, null, step.text ?? '')
    return false
  }

  private async batch(step: ScriptedStep, calls: ToolCall[], cut: Promise<never>): Promise<boolean> {
    const { listener } = this.it
    const results: ToolResult[] = []
    for (const [index, call] of calls.entries()) {
      const given = step.calls![index]!
      const { deny } = await Promise.race([listener.beforeTool(call), cut])
      this.dieAt('tool', step)
      if (given.hangs && deny === undefined) await cut
      const isDenied = deny === undefined && given.denied === true
      if (isDenied) this.tell({ kind: 'denied', id: call.id, tool: call.name, reason: 'not granted' })
      const refusal = isDenied ? 'not granted' : deny
      const result = refusal === undefined ? resultOf(call, given) : { ...call, result: refusal, failed: true }
      if (refusal === undefined) await Promise.race([listener.afterTool(result), cut])
      this.it.texts.push(String(result.result))
      results.push(result)
      // A client also writes results, but not as messages.
      this.write({ kind: 'returned', id: result.id, result: result.result, failed: result.failed })
    }
    const { stop, context } = await Promise.race([listener.afterBatch(results), cut])
    this.dieAt('batch', step)
    if (context !== undefined) this.it.texts.push(context)
    if (stop === undefined) return !this.isGone
    this.result('hook_stopped', false, null, '')
    return false
  }

  private begin(): void {
    if (this.reportedStart) return
    this.reportedStart = true
    const { sessionId, model } = this.it.sessionOptions
    this.tell({ kind: 'started', sessionId, model: model ?? 'scripted', version: null, tools: ['Bash'] })
  }

  private before(step: ScriptedStep): void {
    for (const [index, status] of (step.retries ?? []).entries()) {
      const most = step.retries!.length
      this.tell({ kind: 'retry', attempt: index + 1, most, status, delayMs: 0, reason: 'scripted' })
    }
    if (step.limit) this.tell({ kind: 'limit', ...step.limit })
    if (step.tasks) this.setTasks(step.tasks)
  }

  private answer(step: ScriptedStep, calls: ToolCall[]): void {
    this.used = step.used ?? this.used
    this.turns++
    const usage = { input: 8, cacheCreation: 0, cacheRead: Math.max(0, this.used - 8), output: 50 }
    for (const name of ['input', 'cacheCreation', 'cacheRead', 'output'] as const) this.spent[name] += usage[name]
    this.spent.input += step.aside?.tokens ?? 0
    this.costUsd = step.aside?.costUsd ?? this.costUsd
    const uuid = randomUUID()
    this.it.texts.push(step.text ?? '', `(${uuid})`)
    const { model } = this.it.sessionOptions
    this.tell({ kind: 'answer', id: `msg_${uuid}`, text: step.text ?? '', model, usage, calls, uuid })
  }

  private async compactIfFull(): Promise<void> {
    const { point = 167_000, proactive = true, afterCompaction = COMPACTED } = this.it.script
    if (!this.compacts || !proactive || this.used < point) return
    const { block } = await this.it.listener.beforeCompaction('auto')
    if (block !== undefined) return
    this.tell({ kind: 'compacting' })
    const { context } = await this.it.listener.afterCompaction()
    this.it.texts.push('(a summary)', ...(context === undefined ? [] : [context]))
    this.tell({ kind: 'compacted', trigger: 'auto', before: this.used, after: afterCompaction, durationMs: 0 })
    this.used = afterCompaction
  }

  private result(terminal: string, isError: boolean, status: number | null, text: string): void {
    const spend = { usage: { ...this.spent }, costUsd: this.costUsd }
    this.tell({ kind: 'result', terminal, isError, status, text, turns: this.turns, spend, ofPrompt: true })
  }

  private nextStep(): ScriptedStep {
    return this.it.steps.shift() ?? this.it.script.rest ?? { text: 'Done.' }
  }

  private setTasks(running: string[]): void {
    this.tasks = running
    this.tell({ kind: 'tasks', running })
  }

  /** Ends the client at a point of the step. Throws, so that the rest of the step does not run. */
  private dieAt(point: DeathPoint, { dies }: ScriptedStep): void {
    if (dies?.at !== point) return
    const byItself = dies.code !== undefined
    this.exit(dies.code ?? null, byItself ? null : (dies.signal ?? 'SIGKILL'), dies.trouble ?? null)
    throw new Cut('dead')
  }

  private exit(code: number | null, signal: string | null, trouble: string | null): void {
    if (this.isGone) return
    this.tell({ kind: 'exit', code, signal, trouble })
    this.isGone = true
    this.messages.close()
    this.prompts.close()
    this.cut(new Cut('dead'))
    this.leave()
  }

  private tell(message: RuntimeMessage): void {
    if (this.isGone) return
    this.write(message)
    this.messages.push(message)
  }

  private write(line: object): void {
    for (const take of this.takers) take(JSON.stringify(line))
  }
}

function callOf({ name = 'Bash', input }: ScriptedCall): ToolCall {
  return { id: `toolu_${randomUUID()}`, name, input, subagent: null, ...(name === 'Edit' && { edits: true }) }
}

function resultOf(call: ToolCall, { result = '', failed = false }: ScriptedCall): ToolResult {
  return { ...call, result, failed }
}
