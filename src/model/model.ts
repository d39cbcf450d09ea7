import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type PreparedScript, prepareScript } from './book.js'
import { chooseAnswer } from './decide.js'
import { type LogEntry, RequestLog } from './log.js'
import { toScript } from './parse-script.js'
import { type ApiRequest, openRequest, senderOf } from './request.js'
import type { Script, ScriptedFailure, ScriptInput } from './script.js'
import { sendFailure, sendJson, sendMessage, unlessGone, waitUnlessGone } from './send.js'
import { type ApiMessage, errorBody, toMessage } from './wire.js'

interface ModelOptions {
  script: Script | ScriptInput
  /** 0 or absent for any free port. */
  port?: number
  host?: '127.0.0.1'
  /** Total size of request bodies kept in the log; default 64 MB. */
  keepBytes?: number
  now?: () => number
}

/** A running scripted model. */
export interface Model {
  url: string
  port: number
  /** Every request so far, oldest first. */
  log(): LogEntry[]
  /** Returns the first ended request that matches, also a past one. Rejects after `ms`. */
  waitFor(fits: (entry: LogEntry) => boolean, ms?: number): Promise<LogEntry>
  /** Sends the answers of steps with this `hold`, both those waiting and all later ones. */
  release(hold: string): void
  /** Stops the server and closes open connections. */
  close(): Promise<void>
}

const LARGEST_BODY = 64 * 1024 * 1024

/**
 * Starts the model on loopback. Throws ScriptError, or the error of `listen` if the port is in use.
 */
export async function startModel(options: ModelOptions): Promise<Model> {
  const handler = new RequestHandler(
    prepareScript(toScript(options.script)),
    options.keepBytes ?? LARGEST_BODY,
    options.now ?? Date.now,
  )
  const server = createServer((request, response) => {
    handler.take(request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    log: () => handler.log.all(),
    waitFor: (fits, ms = 120_000) => handler.waitFor(fits, ms),
    release: (hold) => handler.gate(hold).open(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Gate {
  opened: Promise<void>
  open(): void
}

/** Receives requests, answers them by the script, and writes the log. */
class RequestHandler {
  readonly log: RequestLog
  private readonly failures = new Failures()
  private readonly gates = new Map<string, Gate>()
  private readonly run = randomBytes(4).toString('hex')

  constructor(
    private readonly book: PreparedScript,
    keepBytes: number,
    private readonly now: () => number,
  ) {
    this.log = new RequestLog(keepBytes)
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const route = `${request.method} ${url.pathname}`
    if (route === 'GET /log') return this.showLog(url, response)
    if (route === 'POST /release') {
      request.resume()
      this.gate(url.searchParams.get('hold') ?? '').open()
      return sendJson(response, 200, {})
    }
    if (route !== 'POST /v1/messages' && route !== 'POST /v1/messages/count_tokens') {
      request.resume()
      return sendJson(response, 404, errorBody('not_found_error', `${route} is not scripted`))
    }
    const body = await readBody(request)
    if (body === null) return sendJson(response, 413, errorBody('request_too_large', 'the request is too large'))
    const asked = openRequest(body)
    if (!asked) return sendJson(response, 400, errorBody('invalid_request_error', 'not a request of the Messages API'))
    if (route.endsWith('count_tokens')) return sendJson(response, 200, { input_tokens: Math.ceil(body.length / 4) })
    return this.answer(asked, body, request, response)
  }

  private async answer(
    asked: ApiRequest,
    body: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const caller = senderOf(asked, request.headers)
    const decision = chooseAnswer(asked, caller, this.book)
    const { conversation, cycle, step, reply, answer } = decision
    const entry = this.log.add({
      at: this.time(),
      kind: caller.kind,
      session_id: caller.session,
      agent_id: caller.agent,
      model: asked.model,
      conversation,
      cycle,
      step,
      reply,
      messages: asked.messages.length,
      stream: asked.stream,
      body,
    })
    const message = toMessage(decision, asked.model, `${this.run}${entry.n.toString(36)}`)
    const { hold } = answer.step
    const isThere =
      (await waitUnlessGone(response, decision.delayMs)) &&
      (hold === undefined || (await unlessGone(response, this.gate(hold).opened)))
    if (!isThere) return this.log.end(entry, 'client-left', this.time())
    const fail = this.failures.next(decision.key, decision.fails)
    if (fail) {
      entry.answer = {
        status: null,
        fail: String(fail.kind),
        used: null,
        usage: null,
        text: '',
        tools: [],
        stop_reason: null,
      }
      entry.answer.status = await sendFailure(response, fail, message, asked.stream)
      return this.log.end(entry, 'failed', this.time())
    }
    entry.answer = { status: 200, fail: null, used: answer.used, ...given(message) }
    sendMessage(response, message, asked.stream, answer.step.headers ?? {})
    this.log.end(entry, 'answered', this.time())
  }

  gate(hold: string): Gate {
    const known = this.gates.get(hold)
    if (known) return known
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    this.gates.set(hold, { opened, open })
    return this.gate(hold)
  }

  waitFor(fits: (entry: LogEntry) => boolean, ms: number): Promise<LogEntry> {
    const past = this.log.all().find((entry) => entry.outcome !== 'open' && fits(entry))
    if (past) return Promise.resolve(past)
    return new Promise((resolve, reject) => {
      const stop = this.log.onEnd((entry) => {
        if (!fits(entry)) return
        clearTimeout(timer)
        stop()
        resolve(entry)
      })
      const timer = setTimeout(() => {
        stop()
        reject(new Error(`no matching request within ${ms} ms; ${this.log.all().length} other requests arrived`))
      }, ms)
    })
  }

  private showLog(url: URL, response: ServerResponse): void {
    const bodies = url.searchParams.get('bodies') === '1'
    const session = url.searchParams.get('session')
    const entries = this.log.all().filter((entry) => session === null || entry.session_id === session)
    const lines = entries.map(({ body, ...entry }) =>
      JSON.stringify(bodies ? { ...entry, body: body && JSON.parse(body) } : entry),
    )
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.end(lines.map((line) => `${line}\n`).join(''))
  }

  private time(): string {
    return new Date(this.now()).toISOString()
  }
}

function given(message: ApiMessage): Pick<NonNullable<LogEntry['answer']>, 'usage' | 'text' | 'tools' | 'stop_reason'> {
  const texts = message.content.filter((block) => block.type === 'text').map((block) => String(block.text))
  const tools = message.content
    .filter((block) => block.type === 'tool_use')
    .map((block) => ({ id: String(block.id), name: String(block.name), input: block.input }))
  return { usage: message.usage as never, text: texts.join('\n'), tools, stop_reason: message.stop_reason }
}

/** Reads the body of a request. Null when it exceeds the size limit. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_BODY) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const KEPT = 10_000

/** Counts how often each answer of each conversation has failed. Drops the oldest counts first. */
export class Failures {
  private readonly counts = new Map<string, number>()

  /** Returns the failure to send this time. Null when the answer itself is due. */
  next(key: string, fails: readonly ScriptedFailure[]): ScriptedFailure | null {
    if (fails.length === 0) return null
    let left = this.counts.get(key) ?? 0
    for (const fail of fails) {
      const times = fail.times ?? (fail.kind === 'too-long' ? 'always' : 1)
      if (times === 'always') return fail
      if (left < times) {
        this.count(key)
        return fail
      }
      left -= times
    }
    return null
  }

  private count(key: string): void {
    const count = (this.counts.get(key) ?? 0) + 1
    this.counts.delete(key)
    this.counts.set(key, count)
    if (this.counts.size > KEPT) this.counts.delete(this.counts.keys().next().value!)
  }
}
