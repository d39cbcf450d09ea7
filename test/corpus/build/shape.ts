/** Required and optional keys of each type of line, learned from recordings of the client. */
export interface Shape {
  always: string[]
  maybe: string[]
}

export type Shapes = Record<string, Shape>

type Json = Record<string, unknown>

/** Returns the shapes of a line and its nested parts. Tool results need the tool's name. */
export function shapesOf(line: Json, toolOf: (id: string) => string | undefined): [string, string[]][] {
  const found: [string, string[]][] = [[tagOf(line), Object.keys(line)]]
  const put = (tag: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) found.push([tag, Object.keys(value)])
    else found.push([`${tag} (${Array.isArray(value) ? 'list' : typeof value})`, []])
  }
  const message = line.message as { content?: unknown } | undefined
  if (line.type === 'assistant') put('assistant message', message)
  if (line.type === 'attachment') put(`attachment ${(line.attachment as Json).type} inside`, line.attachment)
  if (line.type === 'system' && line.compactMetadata) put('compactMetadata', line.compactMetadata)
  const block = Array.isArray(message?.content) ? (message.content[0] as Json) : null
  if (line.type === 'assistant' && block) put(`block ${block.type}`, block)
  if (line.toolUseResult !== undefined && block) {
    const tool = toolOf(String(block.tool_use_id)) ?? 'unknown'
    const name = tool.startsWith('mcp__') ? 'mcp' : tool
    const refused = block.is_error === true
    put(refused ? 'tool_result refused' : `tool_result of ${name}`, block)
    if (refused) put('toolUseResult refused', line.toolUseResult)
    else put(`toolUseResult of ${variant(name, line.toolUseResult)}`, line.toolUseResult)
  }
  return found
}

function variant(tool: string, result: unknown): string {
  const type = (result as Json).type
  return typeof type === 'string' ? `${tool} ${type}` : tool
}

function tagOf(line: Json): string {
  if (line.type === 'attachment') return `attachment ${(line.attachment as Json).type}`
  if (line.type === 'system') return `system ${line.subtype}`
  if (line.type === 'queue-operation') return `queue-operation ${line.operation}`
  if (line.type !== 'user') return String(line.type)
  if (line.toolUseResult !== undefined) return 'user result'
  if (line.isCompactSummary) return 'user summary'
  const content = (line.message as { content: unknown }).content
  const text = typeof content === 'string' ? content : String((content as Json[])[0]?.text ?? '')
  if (line.promptSource !== undefined) return `user prompt ${line.promptSource}`
  if (text.startsWith('<bash-input>')) return 'user bash-input'
  if (text.startsWith('<bash-stdout>')) return 'user bash-stdout'
  if (text.startsWith('<command-message>')) return 'user command'
  if (text.startsWith('[Request interrupted by user]')) return 'user interrupted'
  if (text.startsWith('[Request interrupted')) return 'user interrupted tool'
  return line.isMeta ? 'user meta' : 'user local'
}

/** Keys that any line may have after certain events in the session. */
const AT_TIMES = ['slug', 'session_id', 'imagePasteIds']

/** Adds the shapes of one transcript to the known ones. */
export function gather(jsonl: string, shapes: Shapes): void {
  each(jsonl, (tag, keys) => {
    const known = shapes[tag]
    if (known === undefined) shapes[tag] = { always: keys.filter((key) => !AT_TIMES.includes(key)), maybe: [] }
    else {
      const all = new Set([...known.always, ...known.maybe, ...keys])
      known.always = known.always.filter((key) => keys.includes(key))
      known.maybe = [...all].filter((key) => !known.always.includes(key)).sort()
    }
  })
}

/** Returns the differences between a transcript and the recorded shapes. */
export function strange(jsonl: string, shapes: Shapes): string[] {
  const problems: string[] = []
  each(jsonl, (tag, keys, number) => {
    const known = shapes[tag]
    if (known === undefined) return void problems.push(`line ${number}: never recorded: ${tag}`)
    for (const key of known.always) if (!keys.includes(key)) problems.push(`line ${number}: ${tag} without ${key}`)
    for (const key of keys) {
      if (![...known.always, ...known.maybe, ...AT_TIMES].includes(key))
        problems.push(`line ${number}: ${tag} with ${key}`)
    }
  })
  return problems
}

function each(jsonl: string, look: (tag: string, keys: string[], number: number) => void): void {
  const tools = new Map<string, string>()
  for (const [index, text] of jsonl.split('\n').entries()) {
    if (text === '') continue
    const line = JSON.parse(text) as Json
    if (line.type === 'assistant') {
      for (const block of (line.message as { content: Json[] }).content)
        if (block.type === 'tool_use') tools.set(String(block.id), String(block.name))
    }
    for (const [tag, keys] of shapesOf(line, (id) => tools.get(id))) look(tag, keys, index + 1)
  }
}
