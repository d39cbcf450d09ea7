import { Ids } from './ids.js'

export interface Setting {
  name: string
  about: string
  language?: string
  cwd: string
  branch: string
  /** `cli` for a terminal session, `sdk-cli` for print mode. */
  entry?: 'cli' | 'sdk-cli'
  model?: string
  start: string
}

type Json = Record<string, unknown>

/** Writes transcript lines as Claude Code 2.1.325 does, with the same keys in the same order. */
export class Tape {
  readonly ids: Ids
  readonly sessionId: string
  readonly lines: string[] = []
  readonly entry: 'cli' | 'sdk-cli'
  readonly model: string
  /** Working folder of the shell. */
  cwd: string
  /** Branch that the client reads once, at its start. */
  gitBranch: string
  slug: string | null = null
  promptId = ''
  private parent: string | null = null
  private request: string | null = null
  private used = 18_008

  constructor(readonly setting: Setting) {
    this.ids = new Ids(setting.name, setting.start)
    this.sessionId = this.ids.uuid()
    this.entry = setting.entry ?? 'cli'
    this.model = setting.model ?? 'claude-opus-4-6'
    this.cwd = setting.cwd
    this.gitBranch = setting.branch
  }

  /** Number of the newest line. */
  get line(): number {
    return this.lines.length
  }

  get leaf(): string | null {
    return this.parent
  }

  /** Adds a line without a parent, outside the message tree. */
  loose(entry: Json): void {
    this.lines.push(JSON.stringify(entry))
  }

  private tail(mine: boolean): Json {
    return {
      ...(mine && this.entry === 'cli' ? { session_id: this.sessionId } : {}),
      userType: 'external',
      entrypoint: this.entry,
      cwd: this.cwd,
      sessionId: this.sessionId,
      version: '2.1.325',
      gitBranch: this.gitBranch,
      ...(this.slug === null ? {} : { slug: this.slug }),
    }
  }

  user(message: Json, before: Json = {}, after: Json = {}, mine = false): string {
    const uuid = this.ids.uuid()
    this.put({
      parentUuid: this.parent,
      isSidechain: false,
      promptId: this.promptId,
      type: 'user',
      message,
      ...before,
      uuid,
      timestamp: this.ids.tick(),
      ...after,
      ...this.tail(mine),
    })
    this.parent = uuid
    return uuid
  }

  attachment(attachment: Json, rendered?: unknown, role = 'system', mine = false, more: Json = {}): string {
    const uuid = this.ids.uuid()
    this.put({
      parentUuid: this.parent,
      isSidechain: false,
      attachment,
      type: 'attachment',
      uuid,
      timestamp: this.ids.tick(2),
      ...more,
      ...(rendered === undefined ? {} : { rendered, renderedRole: role }),
      ...this.tail(mine),
    })
    this.parent = uuid
    return uuid
  }

  system(subtype: string, more: Json, meta: Json = {}): string {
    const uuid = this.ids.uuid()
    this.put({
      parentUuid: this.parent,
      isSidechain: false,
      type: 'system',
      subtype,
      ...more,
      timestamp: this.ids.tick(3),
      uuid,
      ...meta,
      ...this.tail(false),
    })
    this.parent = uuid
    return uuid
  }

  /** Adds the boundary line of a compaction, which begins a new message tree. */
  boundary(metadata: Json): string {
    const uuid = this.ids.uuid()
    this.put({
      parentUuid: null,
      logicalParentUuid: this.parent,
      isSidechain: false,
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      level: 'info',
      compactMetadata: metadata,
      uuid,
      timestamp: this.ids.tick(900),
      ...this.tail(false),
    })
    this.parent = uuid
    this.request = null
    this.used = 24_008
    return uuid
  }

  /**
   * Adds the client's record of a request: the newest user message again, and a reference to the
   * previous one.
   */
  ask(content: unknown): string {
    const hash = this.ids.digest()
    this.loose({ type: 'api-request-blob', sessionId: this.sessionId, hash, message: { role: 'user', content } })
    const id = this.ids.uuid()
    this.loose({
      type: 'api-request',
      sessionId: this.sessionId,
      id,
      timestamp: this.ids.tick(5),
      version: '2.1.325',
      querySource: this.entry === 'cli' ? 'repl_main_thread' : 'sdk',
      shapeHash: 'f2f19ca2cea18e64355f59dea9445dc1f82f27b19e9f4e2eae6da3a54bdf7e4b',
      params: '(left out)',
      ...(this.request === null ? {} : { base: this.request }),
      keep: this.request === null ? 0 : 1,
      tail: [hash],
      cacheControl: [{ path: ['system', 0], value: { type: 'ephemeral' } }],
      requestDigest: this.ids.digest(),
    })
    this.request = id
    return id
  }

  /**
   * Adds one answer of the model, with a line per block and one message id. Returns each line's
   * uuid and number.
   */
  answer(
    blocks: Json[],
    stop: 'tool_use' | 'end_turn',
    requestRef: string,
    aborted = false,
  ): { uuid: string; line: number }[] {
    const word = this.ids.word(9)
    const created = 400 + (this.used % 900)
    const usage = {
      input_tokens: 8,
      cache_creation_input_tokens: created,
      cache_read_input_tokens: this.used,
      output_tokens: 120 + (this.used % 300),
      output_tokens_details: { thinking_tokens: 0 },
      server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
      service_tier: 'standard',
      cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: created },
      inference_geo: '',
      iterations: [],
      speed: 'standard',
      fallback_credit: null,
    }
    this.used += created
    return blocks.map((block, index) => {
      const uuid = this.ids.uuid()
      this.put({
        parentUuid: this.parent,
        isSidechain: false,
        message: {
          id: `msg_${word}`,
          type: 'message',
          role: 'assistant',
          model: this.model,
          content: [block],
          stop_reason: aborted ? null : stop,
          stop_sequence: null,
          usage,
          stop_details: null,
        },
        ...(block.type === 'thinking' ? { thinkingDurationMs: 900, thinkingDisplay: 'updates' } : {}),
        ...(block.type === 'tool_use' ? { toolInputStreamMs: 80 } : {}),
        apiBlockIndex: index,
        ...(aborted ? {} : { requestId: `req_${word}` }),
        requestRef,
        requestedModel: this.model,
        promptCacheRequested: '5m',
        type: 'assistant',
        uuid,
        timestamp: this.ids.tick(1800),
        ...(aborted ? { isAbortedMidStream: true } : {}),
        effort: 'high',
        perTurnEffort: null,
        madeBy: 'model',
        ...this.tail(true),
      })
      this.parent = uuid
      return { uuid, line: this.line }
    })
  }

  private put(entry: Json): void {
    this.lines.push(JSON.stringify(entry))
  }
}
