import type { Frame } from './live.js'
import type { SseMessage } from './parse-sse.js'

/** null: nothing this page knows, or not readable. A newer server may say more. */
export function frameOf({ event, data }: SseMessage): Frame | null {
  if (event === 'gap') return { kind: 'gap' }
  const told = parsed(data)
  if (told === null) return null
  switch (event) {
    case 'message':
      return { kind: 'event', event: told as never }
    case 'snapshot':
      return { kind: 'snapshot', snapshot: told as never }
    case 'session':
    case 'job':
    case 'brief':
      return { kind: event, row: told as never }
    case 'gone':
      return { kind: 'gone', gone: told as never }
    default:
      return null
  }
}

function parsed(data: string): object | null {
  try {
    const told: unknown = JSON.parse(data)
    return typeof told === 'object' ? told : null
  } catch {
    return null
  }
}
