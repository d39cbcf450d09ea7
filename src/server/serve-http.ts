import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Caller } from './access.js'
import { type Bound, judge } from './guard.js'
import { ALWAYS, DATA } from './headers.js'
import { type Hub, makeHub } from './live/hub.js'
import { liveSource } from './live/live-source.js'
import { stream } from './live/stream.js'
import { pageFiles } from './page-files.js'
import type { ServerInput } from './parts.js'
import { makeReceiver, type Take } from './receive-signal.js'
import { SIGN_IN, SIGN_IN_HEADERS } from './sign-in.js'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])

interface Served {
  routed: RequestListener
  hub: Hub
}

/** Everything but the short way in for hooks: who asks is judged once, here, before anything is looked at. */
export function serveHttp(parts: ServerInput, bound: Bound, take: Take): { listener: RequestListener; close(): void } {
  const callers = new WeakMap<IncomingMessage, Caller>()
  const closing = new AbortController()
  let opened: Promise<Served> | null = null
  const open = async (): Promise<Served> => {
    const [{ appListener }, rooms] = await Promise.all([import('./app-listener.js'), parts.openRooms()])
    const whole = { ...parts, rooms }
    const hub = makeHub(liveSource(whole))
    closing.signal.addEventListener('abort', hub.close)
    return { routed: appListener(whole, bound, (request) => callers.get(request)!), hub }
  }
  const serve = async (response: ServerResponse, answerWith: (served: Served) => void): Promise<void> => {
    try {
      opened ??= open()
      answerWith(await opened)
    } catch (error) {
      // An upgrade may have taken the files away under a server that runs.
      opened = null
      parts.log('error', 'the routes could not be loaded', { reason: String(error) })
      answer(response, 500, { error: 'Baton was changed under the running server: start it again' })
    }
  }
  const receive = makeReceiver(take)
  const files = pageFiles(parts.web)

  const listener: RequestListener = (request, response) => {
    // Which of two would be believed depends on who reads them.
    if ((request.headersDistinct.host?.length ?? 0) > 1) {
      answer(response, 400, { error: 'two hosts are named' })
      return
    }
    const path = (request.url ?? '').split('?', 1)[0]!
    const judged = judge(askingOf(request, path), bound, parts.now)
    if (judged.status !== null) refuse(request, response, judged)
    else if (!METHODS.has(request.method ?? '')) answer(response, 405, { error: `${request.method} is not answered here` })
    else if (isLooking(request) && sendFile(request, response, files({ path, headers: request.headers }))) return
    else if (judged.caller.by === 'files') answer(response, 401, { error: 'a token is needed (Authorization: Bearer …)' })
    else if (request.method === 'POST' && path.startsWith('/signals/'))
      receive(request, judged.caller.words, (status, body) => send(response, status, body, {}))
    else if (path === '/api/live') void serve(response, ({ hub }) => stream(hub, judged.caller, request, response))
    else {
      callers.set(request, judged.caller)
      for (const name in DATA) response.setHeader(name, DATA[name]!)
      response.on('timeout', (socket: Socket) => waitOn(response, socket))
      void serve(response, ({ routed }) => void routed(request, response))
    }
  }
  return { listener, close: () => closing.abort() }
}

function askingOf({ method, headers }: IncomingMessage, path: string): Parameters<typeof judge>[0] {
  const { host, origin, authorization, cookie } = headers
  const said = (name: string): string | undefined => headers[name]?.toString()
  return { method, path, host, origin, authorization, cookie, site: said('sec-fetch-site'), mode: said('sec-fetch-mode') }
}

/** Nothing happens on the line while an answer is worked for, which may take minutes; once it is being sent, somebody has to take it. */
function waitOn({ headersSent }: ServerResponse, socket: Socket): void {
  if (headersSent) socket.destroy()
  else socket.setTimeout(socket.timeout ?? 0)
}

const isLooking = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'

/** A person in front of a browser is asked for the token; a program is told. */
function refuse(request: IncomingMessage, response: ServerResponse, no: { status: number; reason: string }): void {
  if (no.status !== 401 || !isLooking(request) || !request.headers.accept?.includes('text/html')) {
    answer(response, no.status, { error: no.reason })
    return
  }
  response.writeHead(401, { ...SIGN_IN_HEADERS, 'Content-Length': Buffer.byteLength(SIGN_IN) })
  response.end(request.method === 'HEAD' ? undefined : SIGN_IN)
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: ReturnType<ReturnType<typeof pageFiles>>): boolean {
  if (file === null) return false
  response.writeHead(file.status, file.headers)
  response.end(request.method === 'HEAD' ? undefined : file.body)
  return true
}

function answer(response: ServerResponse, status: number, body: object): void {
  send(response, status, JSON.stringify(body), { ...DATA, 'Content-Type': 'application/json' })
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string>): void {
  if (response.destroyed) return
  response.writeHead(status, { ...ALWAYS, ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' })
  response.end(body)
}
