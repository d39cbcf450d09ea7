import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ApiRequest, blocksOf, openRequest, senderOf, textsIn } from '../../src/model/request.js'
import { sendJson, sendMessage, waitUnlessGone } from '../../src/model/send.js'

const STEP = /(?:grep -qx (\d+) steps \|\| )?echo (\d+) >> steps/
/** Matches a call that Baton lists in a prompt (with the call's id) or a brief (with a count). */
const LISTED =
  /^(?:> )?- Bash .*?echo (\d+) >> steps.*?(?: \(toolu_\w+\))?: (done|failed|outcome unknown|not started)/gm

export interface StepModelOptions {
  steps: number
  /** Tokens a step adds. */
  grow?: number
  /** Seconds a step takes. */
  wait?: number
  delayMs?: number
  briefMs?: number
  /**
   * `never`: the model refuses to write briefs and trusts only the calls listed by Baton's own
   * brief.
   */
  briefs?: 'listed' | 'never'
  /** Steps that create the file `at-<step>` and wait for `go-<step>` before they finish. */
  held?: number[]
  /**
   * Resolves when the model may answer a request for a brief. Without it the model answers at once.
   */
  briefGate?(): Promise<void>
}

/** State of the steps as described by a conversation. */
interface StatedSteps {
  done: Set<number>
  unknown: Set<number>
  calls: number
  newest: string
  /** True for a brief written by Baton's code, which may not say which steps are done. */
  fromCode: boolean
  looked: boolean
}

interface Given {
  brief?: true
  text?: string
  step?: number
  command?: string
}

export interface StepModelEntry {
  n: number
  kind: string
  session_id: string | null
  asked: ApiRequest
  body: string
  told: StatedSteps | null
  given: Given
  answered: boolean
  callId?: string
}

export interface StepModel {
  url: string
  log(): StepModelEntry[]
  close(): Promise<void>
}

/**
 * Starts a model that works through numbered steps; each step writes its number into `steps`. Steps
 * that the conversation reports as done are skipped, steps of unknown outcome are checked, and all
 * others are done, so a step missing from the brief is repeated.
 */
export async function startStepModel(options: StepModelOptions): Promise<StepModel> {
  const { grow = 30_000, delayMs = 40, briefMs = 250 } = options
  const log: StepModelEntry[] = []
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy())
  })
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    const asked = openRequest(body)
    if (!asked)
      return sendJson(response, 404, { type: 'error', error: { type: 'not_found_error', message: 'not here' } })
    if (request.url?.includes('count_tokens'))
      return sendJson(response, 200, { input_tokens: Math.ceil(body.length / 4) })
    const caller = senderOf(asked, request.headers)
    const told = caller.kind === 'main' ? statedSteps(asked) : null
    const given: Given = told === null ? { text: 'Steps.' } : nextAnswer(told, options)
    const entry: StepModelEntry = {
      n: log.length + 1,
      kind: caller.kind,
      session_id: caller.session,
      asked,
      body,
      told,
      given,
      answered: false,
    }
    log.push(entry)
    if (given.brief) await options.briefGate?.()
    if (!(await waitUnlessGone(response, given.brief ? briefMs : delayMs))) return
    const serial = randomUUID().replaceAll('-', '').slice(0, 20)
    const content: Record<string, unknown>[] = given.text ? [{ type: 'text', text: given.text }] : []
    if (given.command) {
      entry.callId = `toolu_${serial}`
      content.push({ type: 'tool_use', id: entry.callId, name: 'Bash', input: { command: given.command } })
    }
    const used = told === null ? 508 : 20_008 + grow * told.calls
    const usage = {
      input_tokens: 8,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: used - 8,
      output_tokens: 50,
    }
    const message = {
      id: `msg_${serial}`,
      type: 'message',
      role: 'assistant',
      model: asked.model,
      content,
      stop_reason: given.command ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage,
    }
    entry.answered = true
    sendMessage(response, message as unknown as Parameters<typeof sendMessage>[1], asked.stream, {})
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log: () => log,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function statedSteps({ messages }: ApiRequest): StatedSteps {
  const [done, unknown, calls] = [new Set<number>(), new Set<number>(), new Map<string, string>()]
  let [fromCode, newest, looked] = [false, '', false]
  const know = (step: number): void => {
    done.add(step)
    unknown.delete(step)
  }
  for (const turn of messages) {
    const blocks = blocksOf(turn)
    for (const block of blocks) {
      if (block.type === 'tool_use') calls.set(block.id!, (block.input as { command?: string })?.command ?? '')
      if (block.type !== 'tool_result') continue
      const command = calls.get(String(block.tool_use_id)) ?? ''
      const text = textsIn(block.content).join('\n')
      const step = STEP.exec(command)?.[2]
      if (command === 'cat steps' && !block.is_error) {
        looked = true
        for (const line of text.split('\n')) if (/^\d+$/.test(line)) know(Number(line))
      } else if (step !== undefined && !block.is_error) know(Number(step))
      else if (step !== undefined) unknown.add(Number(step))
    }
    if (turn.role !== 'user') continue
    const said = textsIn(blocks.filter(({ type }) => type === 'text')).filter(
      (text) => !text.startsWith('<system-reminder>'),
    )
    if (said.length > 0) newest = said.join('\n')
    const text = said.join('\n')
    const listed = /Steps that are done: ([\d ]*)\./.exec(text)?.[1]
    if (listed !== undefined) for (const step of listed.split(' ').filter(Boolean)) know(Number(step))
    else if (text.includes('another session began')) fromCode = true
    for (const [, step, how] of text.matchAll(LISTED)) {
      if (how === 'done') know(Number(step))
      else if (how !== 'not started' && !done.has(Number(step))) unknown.add(Number(step))
    }
  }
  return { done, unknown, calls: calls.size, newest, fromCode, looked }
}

function nextAnswer(told: StatedSteps, { steps, wait = 0.1, briefs = 'listed', held = [] }: StepModelOptions): Given {
  const { done, unknown, newest, fromCode, looked } = told
  if (/as your whole answer/.test(newest)) {
    if (briefs === 'never') return { brief: true, text: 'I would rather continue with the steps.' }
    const known = [...done].sort((a, b) => a - b).join(' ')
    const goal = 'All steps, each once, on the branch main. The requests: Words of a hook. Do all steps.'
    return {
      brief: true,
      text: `# Handoff brief\n\n## Goal and why\n\n${goal}\n\n## Next exact step\n\nSteps that are done: ${known}.\n`,
    }
  }
  if (fromCode && !looked && briefs === 'listed') return { command: 'cat steps' }
  const [open] = unknown
  if (open !== undefined)
    return { step: open, command: `sleep ${wait}; grep -qx ${open} steps || echo ${open} >> steps` }
  for (let step = 1; step <= steps; step++) {
    if (done.has(step)) continue
    const gate = held.includes(step) ? `touch at-${step}; until [ -e go-${step} ]; do sleep 0.05; done; ` : ''
    return { step, command: `${gate}sleep ${wait}; echo ${step} >> steps` }
  }
  return { text: 'All steps are done.' }
}
