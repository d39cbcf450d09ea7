import { errorCodeOf, reasonOf } from './errors.js'

const MOST_REPLY = 1024 * 1024
/** Longest delay of a timer in Node. A longer timer fires at once. */
const LONGEST_MS = 2 ** 31 - 1

interface Post {
  url: string
  method: string
  headers: Record<string, string>
  body: string
  timeoutMs: number
  signal?: AbortSignal
}

export interface HttpReply {
  status: number
  /** Text of the reply, cut at 1 MB. */
  body: string
}

/**
 * Sends a request and reads its reply, all within the timeout.
 * Throws an error whose message is a sentence for the user.
 */
export async function httpPost({ url, method, headers, body, timeoutMs, signal }: Post): Promise<HttpReply> {
  const late = AbortSignal.timeout(Math.min(timeoutMs, LONGEST_MS))
  try {
    // Redirects are not followed: the headers may contain a secret for this address alone.
    const response = await fetch(url, {
      method,
      body,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...headers },
      signal: signal ? AbortSignal.any([late, signal]) : late,
    })
    return { status: response.status, body: await bodyOf(response) }
  } catch (error) {
    if (late.aborted) throw new Error(`no answer within ${timeoutMs} ms`)
    if (signal?.aborted) throw new Error('was stopped')
    const cause = error instanceof Error ? error.cause : undefined
    throw new Error(`is not reachable: ${errorCodeOf(cause) ?? (cause ? reasonOf(cause) : reasonOf(error))}`)
  }
}

async function bodyOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MOST_REPLY) break
  }
  return Buffer.concat(chunks).subarray(0, MOST_REPLY).toString('utf8')
}

/** Returns why a reply is a refusal. Null when its status is 2xx. */
export function refusalReason({ status }: HttpReply): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400)
    return `answered ${status}, a redirect, which Baton does not follow; use the address it redirects to`
  return `answered ${status}`
}
