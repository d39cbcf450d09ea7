import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { BatonError, codeOf, EXIT } from '../lib/errors.js'
import { type Bound, isLoopback, judge } from './guard.js'
import type { ServerInput } from './parts.js'
import { serveHttp } from './serve-http.js'
import { admit, type Door } from './signal-door.js'
import { takeSignals } from './signals.js'

export interface ListenOptions {
  host: string
  port: number
  token: string
  /** Everybody has to give the token, for everything. */
  locked: boolean
  /** Where the launcher finds the port and the token: only who gives it hears words of a conversation in the answer to a signal. */
  serverFile: string
  /** How long nothing may happen on a connection that nobody works for; left out: a minute. */
  stillMs?: number
}

export interface Listening {
  url: string
  close(): Promise<void>
}

/** How long a request may take to arrive, its head and all of it. */
const HEAD_MS = 10_000
const REQUEST_MS = 60_000
const STILL_MS = 60_000

/** Starts the server and tells the launcher where it is; closing takes that word back first. */
export async function listen(parts: ServerInput, options: ListenOptions): Promise<Listening> {
  if (!isLoopback(options.host) && !options.locked) {
    throw new BatonError(
      `Listening on ${options.host} would open Baton to other machines.`,
      'Give --token-file FILE with a secret of your own, or leave --host out to stay on 127.0.0.1.',
      EXIT.refused,
    )
  }
  const { host, port: wanted, token, locked } = options
  const bound: Bound = { host, port: wanted, token, locked }
  const take = takeSignals(parts)
  const routes = serveHttp(parts, bound, take)
  const http = createHttpServer({ connectionsCheckingInterval: 1_000 }, routes.listener)
  // It never listens itself, and would otherwise not begin to watch over requests that take for ever to arrive.
  http.emit('listening')
  http.headersTimeout = HEAD_MS
  http.requestTimeout = REQUEST_MS
  http.keepAliveTimeout = 2_000
  http.timeout = options.stillMs ?? STILL_MS
  const door: Door = {
    judge: (asking) => judge({ ...asking, path: '/signals/', method: 'POST' }, bound, parts.now),
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
  if (['127.0.0.1', 'localhost', '0.0.0.0', '::'].includes(options.host)) announce(options.serverFile, port, token)
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    close() {
      routes.close()
      http.close()
      return close(server, sockets, options.serverFile)
    },
  }
}

function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(refusal(codeOf(error), host, port) ?? error))
    server.listen({ host, port, backlog: 4096 }, resolve)
  })
}

/** null: not one that a person can mend. */
function refusal(code: string | undefined, host: string, port: number): BatonError | null {
  const instead = 'use --port or BATON_PORT.'
  switch (code) {
    case 'EADDRINUSE':
      return new BatonError(
        `Port ${port} is taken.`,
        `Another Baton may be running already (baton doctor tells); else ${instead}`,
        EXIT.refused,
      )
    case 'EACCES':
      return new BatonError(
        `Port ${port} may not be listened on by you.`,
        `Those below 1024 often may not: ${instead}`,
        EXIT.refused,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new BatonError(
        `${host} is no address of this machine.`,
        'Give --host one that it has (0.0.0.0: all of them), or leave it out to stay on 127.0.0.1.',
        EXIT.usage,
      )
    default:
      return null
  }
}

function announce(file: string, port: number, token: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${port} ${token} ${process.pid}\n`, { mode: 0o600 })
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
