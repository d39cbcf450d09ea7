import type { ServerResponse } from 'node:http'
import type { ScriptedFailure } from './script.js'
import { type ApiMessage, errorBody, sseEvent, toError, toEvents } from './wire.js'

/** Resolves to true after `ms`, or to false as soon as the client disconnects. */
export function waitUnlessGone(response: ServerResponse, ms: number): Promise<boolean> {
  if (ms <= 0) return Promise.resolve(!response.destroyed)
  let timer: NodeJS.Timeout | undefined
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  return unlessGone(response, elapsed).finally(() => clearTimeout(timer))
}

/** Resolves to true once `event` resolves, or to false as soon as the client disconnects. */
export function unlessGone(response: ServerResponse, event: Promise<unknown>): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false)
    response.once('close', onClose)
    void event.then(() => {
      response.off('close', onClose)
      resolve(true)
    })
  })
}

const SSE = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
const JSON_TYPE = { 'content-type': 'application/json' }

export function sendMessage(
  response: ServerResponse,
  message: ApiMessage,
  stream: boolean,
  headers: Record<string, string>,
): void {
  response.writeHead(200, { ...(stream ? SSE : JSON_TYPE), 'request-id': `req_${message.id.slice(4)}`, ...headers })
  response.end(stream ? toEvents(message).join('') : JSON.stringify(message))
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { ...JSON_TYPE, ...headers })
  response.end(JSON.stringify(body))
}

/**
 * Sends a scripted failure and returns its HTTP status, or null when none was sent.
 * A hang ends when the client disconnects.
 */
export async function sendFailure(
  response: ServerResponse,
  fail: ScriptedFailure,
  message: ApiMessage,
  stream: boolean,
): Promise<number | null> {
  const error = toError(fail)
  if (error) {
    const retry: Record<string, string> =
      fail.retry_after === undefined ? {} : { 'retry-after': String(fail.retry_after) }
    sendJson(response, error.status, error.body, { ...retry, ...limitHeaders(fail), ...fail.headers })
    return error.status
  }
  switch (fail.kind) {
    case 'stream-error':
      return sendStreamError(response, fail, message, stream)
    case 'drop-midstream':
      await half(response, message, stream)
      response.socket?.destroy()
      return 200
    case 'stall':
      await half(response, message, stream)
      await gone(response)
      return 200
    case 'hang':
      await gone(response)
      return null
    default:
      response.socket?.destroy()
      return null
  }
}

function limitHeaders({ resets_in }: ScriptedFailure): Record<string, string> {
  if (resets_in === undefined) return {}
  const reset = String(Math.ceil(Date.now() / 1_000 + resets_in))
  return {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': reset,
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-5h-status': 'rejected',
    'anthropic-ratelimit-unified-5h-reset': reset,
    'anthropic-ratelimit-unified-5h-utilization': '1',
  }
}

function sendStreamError(
  response: ServerResponse,
  fail: ScriptedFailure,
  message: ApiMessage,
  stream: boolean,
): number {
  const body = errorBody('overloaded_error', fail.message ?? 'scripted stream error')
  if (!stream) {
    sendJson(response, 529, body)
    return 529
  }
  response.writeHead(200, SSE)
  response.end(toEvents(message)[0]! + sseEvent('error', { error: body.error }))
  return 200
}

/** Sends the first half of the answer and waits until it is written to the socket. */
function half(response: ServerResponse, message: ApiMessage, stream: boolean): Promise<void> {
  const events = toEvents(message)
  const text = stream
    ? events.slice(0, Math.max(1, Math.floor(events.length / 2))).join('')
    : JSON.stringify(message).slice(0, 20)
  response.writeHead(200, stream ? SSE : JSON_TYPE)
  return new Promise((resolve) => response.write(text, () => resolve()))
}

function gone(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve()
  return new Promise((resolve) => response.once('close', () => resolve()))
}
