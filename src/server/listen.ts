import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { BatonError, codeOf, EXIT } from '../lib/errors.js'
import { makeApp } from './app.js'
import { type Bound, isLoopback, refuse } from './guard.js'
import type { ServerParts } from './parts.js'
import { signalRoute } from './signals.js'

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
  const signals = signalRoute(parts)
  const routed = getRequestListener(makeApp(parts).fetch)
  const server = createServer((request, response) => {
    const { host, origin, authorization } = request.headers
    const no = refuse({ host, origin, authorization }, bound)
    if (no) {
      response.writeHead(no.status, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify({ error: no.reason }))
    } else if (request.method === 'POST' && request.url?.startsWith('/signals/')) signals(request, response)
    else void routed(request, response)
  })
  server.keepAliveTimeout = 2_000
  await bind(server, options)
  const port = (server.address() as AddressInfo).port
  bound.port = port
  announce(options.serverFile, port, options.token)
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    close: () => close(server, options.serverFile, port),
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

async function close(server: Server, file: string, port: number): Promise<void> {
  if (isOwn(file, port)) rmSync(file, { force: true })
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), 1_000).unref()
  })
}

function isOwn(file: string, port: number): boolean {
  try {
    return readFileSync(file, 'utf8') === `${port} - ${process.pid}\n` || readFileSync(file, 'utf8').endsWith(` ${process.pid}\n`)
  } catch {
    return false
  }
}
