import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { BatonError, codeOf, EXIT } from '../lib/errors.js'
import { makeApp } from './app.js'
import { type Bound, isLoopback, refuse } from './guard.js'
import type { ServerParts } from './parts.js'
import { admit, type Door } from './signal-door.js'
import { MAX_BODY, type Reply, type SignalRequest, takeSignals } from './signals.js'

export interface ListenOptions {
  host: string
  port: number
  token: string | null
  /** Where the launcher finds the port. */
  serverFile: string
}

export interface Listening {
  url: string
  close(): Promise<void>
}

/** Starts the server and tells the launcher where it is; closing takes that word back first. */
export async function listen(parts: ServerParts, options: ListenOptions): Promise<Listening> {
  if (!isLoopback(options.host) && options.token === null) {
    throw new BatonError(
      `Listening on ${options.host} would open Baton to other machines.`,
      'Give --token-file FILE with a secret of your own, or leave --host out to stay on 127.0.0.1.',
      EXIT.refused,
    )
  }
  const bound: Bound = { host: options.host, port: options.port, token: options.token }
  const take = takeSignals(parts)
  const app = makeApp(parts)
  // Beyond loopback nobody gets this far without the token.
  const routed = getRequestListener((request) => app.fetch(request, { words: options.token !== null }))
  const http = createHttpServer((request, response) => {
    const { host, origin, authorization } = request.headers
    const no = refuse({ host, origin, authorization }, bound)
    if (no) answer(response, no.status, JSON.stringify({ error: no.reason }))
    else if (request.method === 'POST' && request.url?.startsWith('/signals/')) receive(request, response, take)
    else void routed(request, response)
  })
  http.keepAliveTimeout = 2_000
  http.timeout = 60_000
  const door: Door = {
    refuse: (asking) => refuse(asking, bound),
    take,
    pass(socket, read) {
      http.emit('connection', socket)
      socket.unshift(read)
    },
  }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    admit(socket, door)
  })
  await bind(server, options)
  const port = (server.address() as AddressInfo).port
  bound.port = port
  // Hooks ask 127.0.0.1 and nothing else: where that does not lead here, they work alone.
  if (['127.0.0.1', 'localhost', '0.0.0.0', '::'].includes(options.host)) announce(options.serverFile, port, options.token)
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    close: () => close(server, sockets, options.serverFile),
  }
}

function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        codeOf(error) === 'EADDRINUSE'
          ? new BatonError(
              `Port ${port} is taken.`,
              'Another Baton may be running already (baton doctor tells); else use --port or BATON_PORT.',
              EXIT.refused,
            )
          : error,
      )
    })
    server.listen({ host, port, backlog: 4096 }, resolve)
  })
}

function announce(file: string, port: number, token: string | null): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${port} ${token ?? '-'} ${process.pid}\n`, { mode: 0o600 })
  rmSync(`${dirname(file)}/slow`, { force: true })
}

async function close(server: Server, sockets: ReadonlySet<Socket>, file: string): Promise<void> {
  if (isOwn(file)) rmSync(file, { force: true })
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    // What is being answered may finish; what merely stays open may not.
    setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, 200).unref()
  })
}

function isOwn(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').endsWith(` ${process.pid}\n`)
  } catch {
    return false
  }
}

/** The long way in: chunked, large or slow requests. */
function receive(request: IncomingMessage, response: ServerResponse, take: (request: SignalRequest, reply: Reply) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_BODY) chunks.push(chunk)
  })
  request.on('error', () => response.destroy())
  request.on('end', () => {
    const reply: Reply = (status, body) => answer(response, status, body)
    if (size > MAX_BODY) reply(413, '{"error":"too large"}')
    else take({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }, reply)
  })
}

function answer(response: ServerResponse, status: number, body: string): void {
  if (response.destroyed) return
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), Connection: 'close', 'X-Baton': '1' })
  response.end(body)
}
