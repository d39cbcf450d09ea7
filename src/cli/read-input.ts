import type { Readable } from 'node:stream'

/**
 * What a stream gives until it ends, but no longer than `wholeMs`, and nothing if not a byte comes within `firstMs`: whoever
 * started us may never close it.
 */
export function readInput(stream: Readable, firstMs: number, wholeMs: number): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const done = (): void => {
      clearTimeout(first)
      clearTimeout(whole)
      stream.removeAllListeners('data').destroy()
      resolve(Buffer.concat(chunks).toString('utf8'))
    }
    const first = setTimeout(done, firstMs)
    const whole = setTimeout(done, wholeMs)
    stream.on('data', (chunk: Buffer) => {
      clearTimeout(first)
      chunks.push(chunk)
    })
    stream.on('end', done)
    stream.on('error', done)
  })
}
