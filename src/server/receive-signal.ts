import type { IncomingMessage } from 'node:http'
import { MAX_BODY, type Reply, type SignalRequest } from './signals.js'

export type Take = (request: SignalRequest, reply: Reply) => void

/** Of all that arrives at once: nobody needs a token here, so many large requests must not fill the memory. */
const MOST_AT_ONCE = 2 * MAX_BODY

/** The long way in for signals: chunked, large or slow requests. What finds no room is answered 503, and its hook keeps it. */
export function makeReceiver(take: Take, most = MOST_AT_ONCE): (request: IncomingMessage, words: boolean, reply: Reply) => void {
  let held = 0
  return (request, words, reply) => {
    const chunks: Buffer[] = []
    let size = 0
    let refused = false
    const letGo = (): void => {
      held -= size
      size = 0
      chunks.length = 0
    }
    const refuse = (status: number, body: string): void => {
      refused = true
      letGo()
      reply(status, body)
      // Whoever goes on sending is not listened to.
      request.pause()
      setTimeout(() => request.destroy(), 100).unref()
    }
    request.on('data', (chunk: Buffer) => {
      if (refused) return
      size += chunk.length
      held += chunk.length
      chunks.push(chunk)
      if (size > MAX_BODY) refuse(413, '{"error":"too large"}')
      else if (held > most) refuse(503, '{"error":"not taken: too much arrives at once"}')
    })
    request.on('error', () => request.destroy())
    request.once('close', letGo)
    request.on('end', () => {
      if (refused) return
      const body = Buffer.concat(chunks)
      letGo()
      take({ path: request.url ?? '', headers: request.headers, body, words }, reply)
    })
  }
}
