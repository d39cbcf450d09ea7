/** A piece of a made-up conversation, in the order in which the client writes it. */
export type Piece =
  | { user: string }
  | { agent: string }
  | { bash: string; prints: string }
  | { read: string; prints: string }
  | { edit: string; writes: string }
  | { summary: string | null }

const CWD = '/home/me/shop'

/** Returns the transcript of a conversation as Claude Code writes it, one line per message. */
export function transcriptOf(pieces: readonly Piece[], at = '2026-11-10T08:00:00.000Z'): string {
  let id = 0
  const base = { cwd: CWD, sessionId: 's1', isSidechain: false, timestamp: at, version: '2.1.325' }
  const user = (content: unknown, more: object = {}) => ({
    type: 'user',
    uuid: `u${++id}`,
    message: { role: 'user', content },
    ...base,
    ...more,
  })
  const call = (name: string, input: object, prints: string) => {
    const toolId = `toolu_${++id}`
    const content = [{ type: 'tool_use', id: toolId, name, input }]
    return [
      { type: 'assistant', uuid: `a${id}`, message: { role: 'assistant', model: 'claude-opus-4-6', content }, ...base },
      user([{ type: 'tool_result', tool_use_id: toolId, content: prints }]),
    ]
  }
  const lines = pieces.flatMap((piece): object[] => {
    if ('user' in piece) return [user(piece.user)]
    if ('bash' in piece) return call('Bash', { command: piece.bash }, piece.prints)
    if ('read' in piece) return call('Read', { file_path: `${CWD}/${piece.read}` }, piece.prints)
    if ('edit' in piece)
      return call('Edit', { file_path: `${CWD}/${piece.edit}`, old_string: '', new_string: piece.writes }, 'edited')
    if ('agent' in piece) {
      const content = [{ type: 'text', text: piece.agent }]
      return [{ type: 'assistant', uuid: `a${++id}`, message: { role: 'assistant', content }, ...base }]
    }
    const boundary = { type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' } }
    return [
      { ...boundary, uuid: `b${++id}`, ...base },
      ...(piece.summary === null ? [] : [user(piece.summary, { isCompactSummary: true })]),
    ]
  })
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
