import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { bundleSource } from '../../bench/from-source.mjs'

const { openRequest, callerOf, textsIn, blocksOf, sendMessage, sendJson, delay } = await import(
  await bundleSource(['model/request.ts', 'model/send.ts'])
)

const STEP = /(?:grep -qx (\d+) steps \|\| )?echo (\d+) >> steps/
const NAMED = /^- Bash .*?echo (\d+) >> steps.* \((toolu_\w+)\): (done|failed|outcome unknown)/gm

/**
 * A model that does what it is told: step after step, each of which writes its number into `steps`. It takes for done what its conversation
 * says is done, looks where nobody knows, and does everything else: what it is not told, it does again. Its brief lists what it knows.
 */
export async function startStepModel({ steps, grow = 30_000, wait = 0.1, delayMs = 40, briefMs = 250 }) {
  const log = []
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy())
  })
  async function take(request, response) {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString('utf8')
    const asked = openRequest(body)
    if (!asked) return sendJson(response, 404, { type: 'error', error: { type: 'not_found_error', message: 'not here' } })
    if (request.url.includes('count_tokens')) return sendJson(response, 200, { input_tokens: Math.ceil(body.length / 4) })
    const caller = callerOf(asked, request.headers)
    const told = caller.kind === 'main' ? whatIsTold(asked) : null
    const given = told === null ? { text: 'Steps.' } : nextAnswer(told, steps, wait)
    const entry = { n: log.length + 1, kind: caller.kind, session_id: caller.session, asked, body, told, given, answered: false }
    log.push(entry)
    if (!(await delay(response, given.brief ? briefMs : delayMs))) return
    const serial = randomUUID().replaceAll('-', '').slice(0, 20)
    const content = given.text ? [{ type: 'text', text: given.text }] : []
    if (given.command) {
      entry.callId = `toolu_${serial}`
      content.push({ type: 'tool_use', id: entry.callId, name: 'Bash', input: { command: given.command } })
    }
    const used = told === null ? 508 : 20_008 + grow * told.calls
    const usage = { input_tokens: 8, cache_creation_input_tokens: 0, cache_read_input_tokens: used - 8, output_tokens: 50 }
    const stop = given.command ? 'tool_use' : 'end_turn'
    entry.answered = true
    const message = { id: `msg_${serial}`, type: 'message', role: 'assistant', model: asked.model, content }
    sendMessage(response, { ...message, stop_reason: stop, stop_sequence: null, usage }, asked.stream, {})
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    log: () => log,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

/** What a conversation says of the steps. */
function whatIsTold({ messages }) {
  const [done, unknown, calls] = [new Set(), new Set(), new Map()]
  let [fromCode, newest, looked] = [false, '', false]
  const know = (step) => {
    done.add(step)
    unknown.delete(step)
  }
  for (const turn of messages) {
    const blocks = blocksOf(turn)
    for (const block of blocks) {
      if (block.type === 'tool_use') calls.set(block.id, block.input?.command ?? '')
      if (block.type !== 'tool_result') continue
      const command = calls.get(block.tool_use_id) ?? ''
      const text = textsIn(block.content).join('\n')
      const step = STEP.exec(command)?.[2]
      if (command === 'cat steps' && !block.is_error) {
        looked = true
        for (const line of text.split('\n')) if (/^\d+$/.test(line)) know(Number(line))
      } else if (step !== undefined && !block.is_error) know(Number(step))
      else if (step !== undefined) unknown.add(Number(step))
    }
    if (turn.role !== 'user') continue
    const said = textsIn(blocks.filter(({ type }) => type === 'text')).filter((text) => !text.startsWith('<system-reminder>'))
    if (said.length > 0) newest = said.join('\n')
    const text = said.join('\n')
    const listed = /Steps that are done: ([\d ]*)\./.exec(text)?.[1]
    if (listed !== undefined) for (const step of listed.split(' ').filter(Boolean)) know(Number(step))
    else if (text.includes('another session began')) fromCode = true
    for (const [, step, , how] of text.matchAll(NAMED)) {
      if (how === 'done') know(Number(step))
      else if (!done.has(Number(step))) unknown.add(Number(step))
    }
  }
  return { done, unknown, calls: calls.size, newest, looks: fromCode && !looked }
}

function nextAnswer({ done, unknown, newest, looks }, steps, wait) {
  if (/as your whole answer/.test(newest)) {
    const known = [...done].sort((a, b) => a - b).join(' ')
    const goal = 'All steps, each once, on the branch main. The requests: Words of a hook. Do all steps.'
    return {
      brief: true,
      text: `# Handoff brief\n\n## Goal and why\n\n${goal}\n\n## Next exact step\n\nSteps that are done: ${known}.\n`,
    }
  }
  if (looks) return { command: 'cat steps' }
  const [open] = unknown
  if (open !== undefined) return { step: open, command: `sleep ${wait}; grep -qx ${open} steps || echo ${open} >> steps` }
  for (let step = 1; step <= steps; step++) if (!done.has(step)) return { step, command: `sleep ${wait}; echo ${step} >> steps` }
  return { text: 'All steps are done.' }
}
