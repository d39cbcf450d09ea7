import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Caller } from './access.js'
import type { ServerInput } from './dependencies.js'
import { type BoundServer, checkCaller, needsToken, TOKEN_NEEDED_REPLY } from './guard.js'
import { COMMON_HEADERS, DATA_HEADERS } from './headers.js'
import { type Hub, makeHub, serveStream } from './live/hub.js'
import { liveSource } from './live/source.js'
import { pageFiles } from './page-files.js'
import { makePeerCheck, type PeerCheck, type SocketEnd } from './peer-user.js'
import { makeSignalReceiver, type TakeSignalRequest } from './signals.js'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])

type Refusal = { status: number; reason: string; hint?: string }

interface Served {
  routed: RequestListener
  hub: Hub
}

/**
 * Handles all requests except those of hooks, which `signal-door.ts` reads.
 * The caller is checked once, before a byte of the body is read.
 * `recognise` receives connections whose caller gave the token or a key.
 */
export function serveHttp(
  deps: ServerInput,
  bound: BoundServer,
  take: TakeSignalRequest,
  recognise: (socket: Socket) => void,
  isSameUser: PeerCheck = makePeerCheck(),
): { listener: RequestListener; close(): void } {
  const callers = new WeakMap<IncomingMessage, Caller>()
  const closing = new AbortController()
  let opened: Promise<Served> | null = null
  const open = async (): Promise<Served> => {
    const [{ appListener }, useCases] = await Promise.all([import('./app.js'), deps.openUseCases()])
    const whole = { ...deps, useCases }
    const hub = makeHub(liveSource(whole))
    closing.signal.addEventListener('abort', hub.close)
    return { routed: appListener(whole, bound, (request) => callers.get(request)!), hub }
  }
  const serve = async (response: ServerResponse, answerWith: (served: Served) => void): Promise<void> => {
    try {
      opened ??= open()
      answerWith(await opened)
    } catch (error) {
      // An upgrade of Baton may have removed the files of the running server.
      opened = null
      deps.log('error', 'the routes could not be loaded', { reason: String(error) })
      answer(response, 500, { error: 'Baton was updated while the server runs. Restart the server.' })
    }
  }
  const receive = makeSignalReceiver(take)
  const files = pageFiles(deps.web)

  const listener: RequestListener = (request, response) => {
    // Refuse two Host headers, because programs differ in which one they use.
    if ((request.headersDistinct.host?.length ?? 0) > 1) {
      answer(response, 400, { error: 'the request names two hosts' })
      return
    }
    const path = (request.url ?? '').split('?', 1)[0]!
    const judged = checkCaller(requestHead(request, path), bound, deps.now)
    if (judged.status === null && judged.caller.by !== 'nobody') recognise(request.socket)
    if (judged.status !== null) refuse(response, judged)
    else if (isReadRequest(request) && sendFile(request, response, files({ path, headers: request.headers }))) return
    else if (judged.caller.by !== 'nobody' || !needsToken({ method: request.method, path }))
      route(request, response, path, judged.caller)
    else if (!isMonitorRoute(request, path)) refuse(response, TOKEN_NEEDED_REPLY)
    else
      void isSameUser(...endsOf(request.socket)).then((same) =>
        same ? route(request, response, path, judged.caller) : refuse(response, TOKEN_NEEDED_REPLY),
      )
  }

  const route = (request: IncomingMessage, response: ServerResponse, path: string, caller: Caller): void => {
    // The client waits with its body until the server asks for it.
    if (request.headers.expect !== undefined) response.writeContinue()
    if (!METHODS.has(request.method ?? ''))
      answer(response, 405, { error: `the method ${request.method} is not supported` })
    else if (path === '/health' && isReadRequest(request)) answer(response, 200, { ok: true })
    else if (request.method === 'POST' && path.startsWith('/signals/'))
      receive(request, (status, body) => send(response, status, body, {}))
    else if (path === '/api/live') void serve(response, ({ hub }) => serveStream(hub, caller, request, response))
    else {
      callers.set(request, caller)
      for (const name in DATA_HEADERS) response.setHeader(name, DATA_HEADERS[name]!)
      response.on('timeout', (socket: Socket) => onIdle(response, socket))
      void serve(response, ({ routed }) => void routed(request, response))
    }
  }
  return { listener, close: () => closing.abort() }
}

function requestHead({ method, headers }: IncomingMessage, path: string): Parameters<typeof checkCaller>[0] {
  const { host, origin, authorization } = headers
  const header = (name: string): string | undefined => headers[name]?.toString()
  return {
    method,
    path,
    host,
    origin,
    authorization,
    site: header('sec-fetch-site'),
    mode: header('sec-fetch-mode'),
  }
}

/**
 * Handles an idle connection.
 * The connection stays open while the response is prepared, which may take minutes.
 * It is closed when the client does not read a response that is being sent.
 */
function onIdle({ headersSent }: ServerResponse, socket: Socket): void {
  if (headersSent) socket.destroy()
  else socket.setTimeout(socket.timeout ?? 0)
}

const isReadRequest = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'

/**
 * True for the two endpoints of older context monitors, whose scripts know no token.
 * A process of the same user may call them without a token.
 * `context-usage.ts` limits what such a call can do.
 */
const isMonitorRoute = ({ method }: IncomingMessage, path: string): boolean =>
  method === 'POST' ? path === '/hooks/context-usage' : method === 'GET' && ONE_SESSION.test(path)

/** Path of one session, without parts that a URL parser rewrites, such as `..` or a backslash. */
const ONE_SESSION = /^\/sessions\/[A-Za-z0-9][\w.%~-]*$/

const endsOf = ({
  remoteAddress,
  remotePort,
  localAddress,
  localPort,
}: Socket): [peer: SocketEnd, local: SocketEnd] => [
  { address: remoteAddress ?? '', port: remotePort ?? 0 },
  { address: localAddress ?? '', port: localPort ?? 0 },
]

function refuse(response: ServerResponse, { status, reason, hint }: Refusal): void {
  answer(response, status, hint === undefined ? { error: reason } : { error: reason, hint })
}

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: ReturnType<ReturnType<typeof pageFiles>>,
): boolean {
  if (file === null) return false
  response.writeHead(file.status, file.headers)
  response.end(request.method === 'HEAD' ? undefined : file.body)
  return true
}

function answer(response: ServerResponse, status: number, body: object): void {
  send(response, status, JSON.stringify(body), { ...DATA_HEADERS, 'Content-Type': 'application/json' })
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string>): void {
  if (response.destroyed) return
  response.writeHead(status, {
    ...COMMON_HEADERS,
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  })
  response.end(body)
}
