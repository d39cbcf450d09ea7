/** JSON with the offsets of its parts, so that an edit changes nothing around it. */
export type JsonNode = JsonObject | JsonArray | JsonScalar

interface Place {
  start: number
  /** First offset after this part of the JSON text. */
  end: number
}
interface JsonProperty extends Place {
  key: string
  value: JsonNode
}
export interface JsonObject extends Place {
  kind: 'object'
  parts: JsonProperty[]
}
export interface JsonArray extends Place {
  kind: 'array'
  parts: JsonNode[]
}
interface JsonScalar extends Place {
  kind: 'scalar'
  value: string | number | boolean | null
}

/** A syntax error with its line number. */
export class JsonTextError extends Error {
  readonly line: number
  constructor(
    text: string,
    offset: number,
    readonly reason: string,
  ) {
    const line = text.slice(0, offset).split('\n').length
    super(`line ${line}: ${reason}`)
    this.line = line
    this.name = 'JsonTextError'
  }
}

const MAX_DEPTH = 1000

/**
 * Parses JSON with offsets. Accepts what JSON.parse accepts, and a byte order mark before it.
 * Throws JsonTextError.
 */
export function readJson(text: string): JsonNode {
  const reader = new Reader(text)
  const root = reader.value(0)
  reader.skip()
  if (reader.at < text.length) reader.fail('there is text after the end of the JSON')
  return root
}

/** Returns the property with this key; the last one if repeated, as in JSON.parse. */
export function propertyOf(node: JsonObject, key: string): JsonProperty | undefined {
  return node.parts.findLast((p) => p.key === key)
}

/** Converts a node to the value that JSON.parse would return. */
export function toValue(node: JsonNode): unknown {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'array') return node.parts.map(toValue)
  return Object.fromEntries(node.parts.map((p) => [p.key, toValue(p.value)]))
}

class Reader {
  at: number
  constructor(readonly text: string) {
    this.at = text.charCodeAt(0) === 0xfeff ? 1 : 0
  }

  value(depth: number): JsonNode {
    if (depth > MAX_DEPTH) this.fail('the JSON is nested too deeply')
    this.skip()
    const c = this.text[this.at]
    if (c === '{') return this.container('object', '}', depth)
    if (c === '[') return this.container('array', ']', depth)
    const start = this.at
    const value = c === '"' ? this.string() : this.word()
    return { kind: 'scalar', start, end: this.at, value }
  }

  skip(): void {
    while (' \t\n\r'.includes(this.text[this.at] ?? '-')) this.at++
    const two = this.text.slice(this.at, this.at + 2)
    if (two === '//' || two === '/*') this.fail('comments are not allowed in JSON')
  }

  fail(reason: string): never {
    throw new JsonTextError(this.text, this.at, this.at >= this.text.length ? 'the file ends too early' : reason)
  }

  private container(kind: 'object' | 'array', close: string, depth: number): JsonObject | JsonArray {
    const start = this.at++
    const parts: (JsonProperty | JsonNode)[] = []
    this.skip()
    while (this.text[this.at] !== close) {
      parts.push(kind === 'object' ? this.property(depth) : this.value(depth + 1))
      this.skip()
      if (this.text[this.at] === close) break
      if (this.text[this.at] !== ',') this.fail(`a comma or ${close} is missing here`)
      const comma = this.at++
      this.skip()
      if (this.text[this.at] !== close) continue
      this.at = comma
      this.fail(`a comma before ${close} is not allowed in JSON`)
    }
    return { kind, start, end: ++this.at, parts } as JsonObject | JsonArray
  }

  private property(depth: number): JsonProperty {
    const start = this.at
    if (this.text[this.at] !== '"') this.fail('a key in double quotes is missing here')
    const key = this.string()
    this.skip()
    if (this.text[this.at] !== ':') this.fail('a colon is missing here')
    this.at++
    const value = this.value(depth + 1)
    return { key, value, start, end: this.at }
  }

  private string(): string {
    const start = this.at++
    for (;;) {
      const c = this.text.charCodeAt(this.at)
      if (c === 0x22) break
      if (!(c >= 0x20)) this.fail('the string has no closing quote on its line')
      this.at += c === 0x5c ? 2 : 1
    }
    try {
      return JSON.parse(this.text.slice(start, ++this.at))
    } catch {
      this.at = start
      this.fail('the string contains an invalid escape')
    }
  }

  private word(): number | boolean | null {
    const word = /[^\s,\]}:"{[/]*/y
    word.lastIndex = this.at
    const found = word.exec(this.text)?.[0] ?? ''
    try {
      const value = JSON.parse(found)
      this.at += found.length
      return value
    } catch {
      this.fail(found ? `\`${found.slice(0, 40)}\` is not valid JSON` : 'a value is missing here')
    }
  }
}
