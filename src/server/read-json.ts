import { BatonError, EXIT } from '../lib/errors.js'

/** The JSON that a request brings; `{}` where it brings nothing. Never holds more bytes than `most`. */
export async function readJson(request: Request, most: number): Promise<unknown> {
  const text = await textOf(request, most)
  if (text === '') return {}
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw new BatonError('The body must be JSON.', 'Send Content-Type: application/json.', EXIT.usage, { status: 415 })
  try {
    return JSON.parse(text)
  } catch {
    throw new BatonError('The body is no valid JSON.', 'It is cut off, or not quoted as JSON wants it.', EXIT.usage)
  }
}

async function textOf(request: Request, most: number): Promise<string> {
  if (request.body === null) return ''
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge(most)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > most) throw tooLarge(most)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const tooLarge = (most: number): BatonError =>
  new BatonError('The body is too large.', `At most ${most / 1024 / 1024} MB are taken.`, EXIT.usage, { status: 413 })
