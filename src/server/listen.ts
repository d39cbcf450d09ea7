import { createHash } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { readServingUrl } from '../lib/announced-server.js'
import { BatonError, EXIT, errorCodeOf } from '../lib/errors.js'
import { lockServer, type ServerLock } from '../store/server-lock.js'
import { announceServer } from './announce.js'
import type { ServerInput } from './dependencies.js'
import { type BoundServer, checkCaller } from './guard.js'
import { keepLease, type Lease, type LeaseLimits } from './keep-lease.js'
import { limitConnections } from './limit-connections.js'
import { serveHttp } from './serve-http.js'
import { type SignalReceiver, serveSignalConnection } from './signal-door.js'
import { takeSignals } from './signals.js'

interface ListenOptions {
  host: string
  port: number
  /** Secret that programs of this user send with every request. */
  token: string
  /** File in which the launcher finds the port and the token. */
  serverFile: string
  /**
   * Makes a named pipe, by which hooks see that the server is running.
   * Without a pipe, hooks do not use the server.
   */
  makePipe?: (path: string) => void
  /** Milliseconds after which an idle connection is closed. Defaults to a minute. */
  stillMs?: number
  /** Milliseconds for a request's head, or a whole signal, to arrive. Defaults to ten seconds. */
  arrivalMs?: number
  /** Limits of the lease for hooks. Defaults are in `keep-lease.ts`. */
  lease?: LeaseLimits
  /** Maximum open connections of unknown callers. The default is in `limit-connections.ts`. */
  mostUnknown?: number
}

export interface ListeningServer {
  url: string
  /** False when the lock file was removed or replaced, so that another server may use the home. */
  holdsLock(): boolean
  close(): Promise<void>
}

/** Time for a request's head, or a whole signal, to arrive. */
const ARRIVAL_MS = 10_000
/** Time for a whole request to arrive. */
const REQUEST_MS = 60_000
const STILL_MS = 60_000

/**
 * Starts the only server of a home and announces it to hooks.
 * Throws when another server holds the home's lock.
 */
export async function listen(deps: ServerInput, options: ListenOptions): Promise<ListeningServer> {
  const lock = lockServer(options.serverFile)
  if (lock === null) throw alreadyServed(options.serverFile)
  try {
    return await listenLocked(deps, options, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function listenLocked(deps: ServerInput, options: ListenOptions, lock: ServerLock): Promise<ListeningServer> {
  const { host, port: wanted, token } = options
  const bound: BoundServer = { host, port: wanted, token }
  const { take, close: closeSignals } = takeSignals(deps)
  const limit = limitConnections(options.mostUnknown)
  const routes = serveHttp(deps, bound, take, limit.recognised)
  const http = createHttpServer({ connectionsCheckingInterval: 1_000 }, routes.listener)
  // Without this listener Node would request the body before the caller was checked.
  http.on('checkContinue', routes.listener)
  // This server never listens itself. The event starts its timeouts for slow requests.
  http.emit('listening')
  const arrivalMs = options.arrivalMs ?? ARRIVAL_MS
  http.headersTimeout = arrivalMs
  http.requestTimeout = REQUEST_MS
  http.keepAliveTimeout = 2_000
  http.timeout = options.stillMs ?? STILL_MS
  const identity = { hello: randomHex(), proof: randomHex() }
  const door: SignalReceiver = {
    identity,
    arrivalMs,
    recognise(socket) {
      lease?.recognised()
      limit.recognised(socket)
    },
    judge: (asking) => checkCaller({ ...asking, path: '/signals/', method: 'POST' }, bound, deps.now),
    take,
    pass(socket, read) {
      http.emit('connection', socket)
      socket.unshift(read)
    },
  }
  const sockets = new Set<Socket>()
  let lease: Lease | null = null
  const accept = (socket: Socket): void => {
    lease?.accepted()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    limit.accepted(socket)
    serveSignalConnection(socket, door)
  }
  const server = createServer(accept)
  await bind(server, options)
  const { address, port } = server.address() as AddressInfo
  bound.port = port
  const page = address === '127.0.0.1' ? await listenForPage(accept, { token, port, log: deps.log }) : null
  bound.pageUrl = page === null ? null : `http://${pageAddress(token)}:${port}`
  const url = `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`
  const announced = announceServer(options.serverFile, {
    url,
    // Hooks connect only to 127.0.0.1, so a server with another address is not announced to them.
    hooks: REACHES_LOOPBACK.has(address) ? { port, token, pid: process.pid, ...identity } : null,
    ...(options.makePipe ? { makePipe: options.makePipe } : {}),
    log: deps.log,
  })
  lease = keepLease(announced.lease, deps.log, options.lease)
  return {
    url,
    holdsLock: lock.isCurrent,
    async close() {
      // Without the lock, the announcement may already be that of another server.
      lease?.stop()
      announced.withdraw(lock.isCurrent())
      closeSignals()
      routes.close()
      http.close()
      page?.close()
      await close(server, sockets)
      lock.release()
    },
  }
}

/**
 * Listens on the page's own address as well. Null when that fails.
 * On macOS, which has only 127.0.0.1, the page is then served there.
 */
async function listenForPage(
  accept: (socket: Socket) => void,
  { token, port, log }: { token: string; port: number; log: ServerInput['log'] },
): Promise<Server | null> {
  const server = createServer(accept)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: pageAddress(token), port, backlog: 4096 }, resolve)
    })
    return server
  } catch (error) {
    log('info', 'the page gets no separate address', { reason: String(error) })
    return null
  }
}

/**
 * Bound addresses that receive what is sent to 127.0.0.1.
 * The address counts, not the name that the user gave.
 * `localhost` may be bound as ::1 alone.
 * Another user could then listen on 127.0.0.1 and relay to this server.
 */
const REACHES_LOOPBACK = new Set(['127.0.0.1', '0.0.0.0', '::'])

const randomHex = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')

function alreadyServed(serverFile: string): BatonError {
  const { url, pid } = readServingUrl(serverFile) ?? { url: null, pid: null }
  return new BatonError(
    `Baton already serves this home${url === null ? '' : ` at ${url} (process ${pid})`}.`,
    'Run baton open to use that server, stop it, or set another BATON_HOME.',
    EXIT.refused,
    pid === null ? {} : { pid },
  )
}

function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(refusal(errorCodeOf(error), host, port) ?? error))
    server.listen({ host, port, backlog: 4096 }, resolve)
  })
}

/** Returns the error for the user. Null when the user can do nothing about this code. */
function refusal(code: string | undefined, host: string, port: number): BatonError | null {
  const instead = 'choose another port with --port or BATON_PORT.'
  switch (code) {
    case 'EADDRINUSE':
      return new BatonError(
        `Cannot listen on port ${port}: another program uses it.`,
        `Run baton doctor to see whether it is another Baton, or ${instead}`,
        EXIT.refused,
      )
    case 'EACCES':
      return new BatonError(
        `Cannot listen on port ${port}: ports below 1024 need root.`,
        'Use --port 8420.',
        EXIT.refused,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new BatonError(
        `Cannot listen on ${host}: it is not an address of this machine.`,
        'Give --host an address of this machine (0.0.0.0 for all), or omit it to use 127.0.0.1.',
        EXIT.usage,
      )
    default:
      return null
  }
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    // Idle connections are closed now, and all others after 200 ms. Requests may finish until then.
    setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, 200).unref()
  })
}

/**
 * Returns the loopback address under which a server serves its page.
 * A browser stores service workers and cached scripts per address and port.
 * Another user of the machine could listen on 127.0.0.1 while no server runs.
 * That user could leave a script in the browser and read the key of the next page.
 * The address is derived from the token, which is new at each start.
 * No stored script belongs to the new address.
 * A configured token keeps the address, so that open pages reconnect.
 */
function pageAddress(token: string): string {
  const [a, b, c] = createHash('sha256').update(`page ${token}`).digest()
  return `127.${1 + (a! % 254)}.${b!}.${1 + (c! % 254)}`
}
