/** One message of a stream of server-sent events, as the standard reads it. Comments are told as `comment`: they show that somebody is there. */
export interface SseMessage {
  event: string
  data: string
  /** null: this message had none. */
  id: string | null
}

/** Takes pieces of text as they come and gives the messages they complete. */
export function sseParser(): (piece: string) => SseMessage[] {
  let rest = ''
  let event = ''
  let data: string[] = []
  let id: string | null = null

  return (piece) => {
    const found: SseMessage[] = []
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) found.push({ event: event || 'message', data: data.join('\n'), id })
        event = ''
        data = []
        id = null
        continue
      }
      const colon = line.indexOf(':')
      const name = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (name === 'data') data.push(value)
      else if (name === 'event') event = value
      else if (name === 'id') id = value
    }
    return found
  }
}
