import type { CallEntry, CompactionEntry, Entry, ResultEntry, Todo, ToolAction } from '../../contract/conversation.js'
import {
  type BackgroundTaskEnd,
  contentText,
  parseTaskEndNotice,
  parseTaskEndOutput,
  toolOutcomeOf,
} from './conversation-results.js'
import { toolActionOf } from './conversation-tools.js'
import { parseUserText } from './conversation-user.js'
import { asList, asObject, asText, type Fields } from './fields.js'

/**
 * Number of recent lines whose ids are remembered, because a compaction can name them as kept.
 * Limits memory, and is far above the number of lines in any context window.
 */
const MOST_IDS = 50_000

const STOPPED = /^\[Request interrupted by user/
/** Text in which the client passes on what the user typed when declining a call. */
const TOLD_INSTEAD = /To tell you how to proceed, the user said:\n([\s\S]+)$/

interface Call {
  tool: string
  act: ToolAction
  input: Fields | null
}

/**
 * State after the lines read so far, without the ids of lines.
 * After a restore, a compaction can no longer name kept lines from before the restore.
 */
export interface EntryBuilderState {
  calls: Map<string, Call>
  background: Map<string, string>
  compacted: CompactionEntry | null
  queued: { text: string; line: number; at: number | null }[]
  ran: string | null
  statuses: Map<string, Todo['status']>
  branch: string | null
  untoldBranch: string | null
}

/** Errors that the client writes as a plan's result. No user typed them. */
const PLAN_ERROR = /^(?:Error: |<tool_use_error>|You are not in plan mode|Exit code )/

/**
 * Returns what the user typed when declining a call. Null when nothing was typed.
 * Claude Code 2.1.34 writes the user's text about a plan as the whole result.
 */
function textInstead(outcome: Pick<ResultEntry, 'ok' | 'refused' | 'interrupted' | 'text'>, act: ToolAction | null) {
  if (outcome.refused) return TOLD_INSTEAD.exec(outcome.text)?.[1]?.trim() ?? null
  const isPlan = act?.type === 'ask' && act.plan !== undefined
  if (!isPlan || outcome.ok !== false || outcome.interrupted || PLAN_ERROR.test(outcome.text)) return null
  return outcome.text.trim()
}

/** Turns the client's lines, in order, into entries. Remembers only what later lines refer to. */
export class EntryBuilder {
  private recent: { id: string; line: number }[] = []
  private readonly calls: Map<string, Call>
  private readonly background: Map<string, string>
  /** A compaction whose summary is not read yet. The summary follows a few lines below. */
  private compacted: CompactionEntry | null
  /** Prompts that wait for the agent. Reported at the end if the agent never received them. */
  private queued: EntryBuilderState['queued']
  private ran: string | null
  private readonly statuses: Map<string, Todo['status']>
  private branch: string | null
  private untoldBranch: string | null

  constructor(
    private readonly give: (entry: Entry) => void,
    private readonly chain: 'main' | 'subagent',
    before: EntryBuilderState = nothingYet(),
  ) {
    this.calls = before.calls
    this.background = before.background
    this.compacted = before.compacted
    this.queued = before.queued
    this.ran = before.ran
    this.statuses = before.statuses
    this.branch = before.branch
    this.untoldBranch = before.untoldBranch
  }

  /** Returns the builder's own state, not a copy: the next line changes it. */
  state(): EntryBuilderState {
    const { calls, background, compacted, queued, ran, statuses, branch, untoldBranch } = this
    return { calls, background, compacted, queued, ran, statuses, branch, untoldBranch }
  }

  take(entry: Fields, line: number): void {
    if ((entry.isSidechain === true) !== (this.chain === 'subagent') && typeof entry.uuid === 'string') return
    const at = Date.parse(asText(entry.timestamp) ?? '')
    const when = { line, at: Number.isNaN(at) ? null : at }
    this.remember(entry, line)
    if (entry.type === 'assistant') this.assistant(entry, when)
    else if (entry.type === 'user') this.user(entry, when)
    else if (entry.type === 'attachment') this.attachment(entry, when)
    else if (entry.type === 'queue-operation') this.queue(entry, when)
    else if (entry.type === 'system' && entry.subtype === 'compact_boundary') this.boundary(entry, when)
  }

  /** Reports the prompts that still wait at the end of the transcript. */
  end(): void {
    this.flush()
    for (const { text: words, line, at } of this.queued) {
      const said = parseUserText({}, words)
      if (said?.type === 'said') this.give({ kind: 'said', by: said.by, text: said.text, line, at })
    }
    this.queued = []
  }

  private out(entry: Entry): void {
    this.flush()
    if (this.untoldBranch !== null) entry.branch = this.untoldBranch
    this.untoldBranch = null
    this.give(entry)
  }

  private flush(): void {
    const held = this.compacted
    this.compacted = null
    if (held !== null) this.give(held)
  }

  private remember(entry: Fields, line: number): void {
    const branch = asText(entry.gitBranch)
    if (branch !== null && branch !== this.branch) {
      this.branch = branch
      if (branch !== 'HEAD') this.untoldBranch = branch
    }
    if (typeof entry.uuid !== 'string') return
    this.recent.push({ id: entry.uuid, line })
    if (this.recent.length > 2 * MOST_IDS) this.recent = this.recent.slice(-MOST_IDS)
  }

  private assistant(entry: Fields, when: { line: number; at: number | null }): void {
    const message = asObject(entry.message)
    // Texts that the client writes in the model's place (API errors) are not the agent's.
    const by = message?.model === '<synthetic>' || entry.isApiErrorMessage === true ? 'other' : 'agent'
    const content =
      typeof message?.content === 'string' ? [{ type: 'text', text: message.content }] : asList(message?.content)
    for (const value of content) {
      const block = asObject(value)
      const words = block?.type === 'text' ? asText(block.text) : null
      if (words !== null && words.trim() !== '') this.out({ kind: 'said', by, text: words, ...when })
      if (block?.type === 'tool_use') this.call(block, asText(entry.cwd), when)
    }
  }

  private call(block: Fields, cwd: string | null, when: { line: number; at: number | null }): void {
    const callId = asText(block.id)
    const tool = asText(block.name)
    if (callId === null || tool === null) return
    const input = asObject(block.input) ?? {}
    const act = toolActionOf(tool, input)
    if (act.type === 'todos' && !act.whole) this.keepStatus(act.todos, input)
    const refers = act.type === 'other' && /Output/.test(tool)
    this.calls.set(callId, { tool, act, input: refers ? input : null })
    const called: CallEntry = { kind: 'called', callId, tool, act, ...when }
    if (cwd !== null) called.cwd = cwd
    this.out(called)
  }

  /** Keeps the status of a todo when an update does not name one. */
  private keepStatus(todos: Todo[], input: Fields): void {
    for (const todo of todos) {
      if (todo.id === null) continue
      if (input.status === undefined) todo.status = this.statuses.get(todo.id) ?? 'open'
      else this.statuses.set(todo.id, todo.status)
    }
  }

  private user(entry: Fields, when: { line: number; at: number | null }): void {
    const content = asObject(entry.message)?.content
    if (entry.isCompactSummary === true) {
      this.compacted ??= { kind: 'compacted', trigger: null, summary: null, keptLines: [], ...when }
      this.compacted.summary = contentText(content)
      this.flush()
    } else if (typeof content === 'string') this.words(entry, content, when)
    else {
      const texts: string[] = []
      for (const value of asList(content)) {
        const block = asObject(value)
        if (block?.type === 'tool_result') this.result(entry, block, when)
        else if (block?.type === 'text' && typeof block.text === 'string') texts.push(block.text)
      }
      this.blocks(entry, texts, when)
    }
  }

  /**
   * Reports a prompt of several blocks as one entry.
   * Blocks that the client added are not the user's.
   */
  private blocks(entry: Fields, texts: string[], when: { line: number; at: number | null }): void {
    const own = texts.flatMap((words) => {
      const said = parseUserText(entry, words)
      return said?.type === 'said' && said.by === 'user' ? [said.text] : []
    })
    if (own.length > 0) {
      this.forgetQueued(own.join('\n'))
      this.out({ kind: 'said', by: 'user', text: own.join('\n'), ...when })
    } else for (const words of texts) this.words(entry, words, when)
  }

  private words(entry: Fields, words: string, when: { line: number; at: number | null }, feedback = false): void {
    const end = words.startsWith('<task-notification>') ? parseTaskEndNotice(words) : null
    if (end !== null) this.ended(end, words, when)
    const said = parseUserText(entry, words)
    if (said?.type === 'said') {
      if (said.by === 'other') this.forgetQueued(words)
      const stops = STOPPED.test(words) ? { stops: true } : {}
      if (said.by === 'user') this.forgetQueued(said.text)
      this.out({ kind: 'said', by: said.by, text: said.text, ...stops, ...(feedback ? { feedback } : {}), ...when })
    } else if (said?.type === 'ran') {
      this.ran = `user:${when.line}`
      const act: ToolAction = { type: 'command', command: said.command, background: false }
      const called: CallEntry = { kind: 'called', callId: this.ran, tool: '!', act, ...when }
      if (typeof entry.cwd === 'string') called.cwd = entry.cwd
      this.out(called)
    } else if (said?.type === 'printed' && this.ran !== null) {
      this.out({ ...plain(this.ran, said.text), ok: null, ...when })
      this.ran = null
    }
  }

  private result(entry: Fields, block: Fields, when: { line: number; at: number | null }): void {
    const callId = asText(block.tool_use_id)
    if (callId === null) return
    const call = this.calls.get(callId)
    this.calls.delete(callId)
    const outcome = toolOutcomeOf(block, entry.toolUseResult, entry, call?.act ?? null)
    const instead = textInstead(outcome, call?.act ?? null)
    const isDeclinedPlan = instead !== null && !outcome.refused
    this.out({ kind: 'returned', callId, ...outcome, ...(isDeclinedPlan ? { declined: true } : {}), ...when })
    if (instead !== null) this.words({}, instead, when, true)
    const taskId = asText(asObject(entry.toolUseResult)?.backgroundTaskId)
    if (taskId !== null) this.background.set(taskId, callId)
    const end = call?.input ? parseTaskEndOutput(call.tool, call.input, outcome.text) : null
    if (end !== null) this.ended(end, outcome.text, when)
  }

  private ended(end: BackgroundTaskEnd, words: string, when: { line: number; at: number | null }): void {
    const callId = end.callId ?? this.background.get(end.taskId)
    this.background.delete(end.taskId)
    if (callId !== undefined) this.out({ ...plain(callId, words), ok: end.ok, exitCode: end.exitCode, ...when })
  }

  private attachment(entry: Fields, when: { line: number; at: number | null }): void {
    const attachment = asObject(entry.attachment)
    if (attachment?.type === 'queued_command') {
      this.words({ ...attachment, cwd: entry.cwd }, contentText(attachment.prompt), when)
    } else if (attachment?.type === 'file' && typeof attachment.filename === 'string') {
      // The user named this file with @, so the client itself read it for the agent.
      const callId = `file:${when.line}`
      const called: CallEntry = {
        kind: 'called',
        callId,
        tool: '@',
        act: { type: 'read', path: attachment.filename },
        ...when,
      }
      if (typeof entry.cwd === 'string') called.cwd = entry.cwd
      this.out(called)
      this.out({ ...plain(callId, ''), ok: true, ...when })
    }
  }

  private queue(entry: Fields, when: { line: number; at: number | null }): void {
    const words = asText(entry.content)
    if (entry.operation === 'enqueue') {
      if (words !== null) this.queued.push({ text: words, ...when })
    } else if (entry.operation === 'dequeue') this.queued.shift()
    else if (entry.operation === 'remove') this.removeQueued(words, when)
    else this.queued = []
  }

  /**
   * Claude Code 2.0.76 to 2.1.74 gives a queued prompt to the agent in the middle of a turn.
   * Claude Code up to 2.1.74 writes only `remove` for it; no line of the file holds its text.
   * After 2.1.74, the `remove` entry contains the text, and an attachment contains the prompt.
   */
  private removeQueued(words: string | null, when: { line: number; at: number | null }): void {
    if (words === null) {
      // Notices wait in the same queue, and not every delivery of one is recorded.
      const human = this.queued.findIndex(({ text: waiting }) => isTyped(waiting))
      const [given] = this.queued.splice(Math.max(0, human), 1)
      if (given !== undefined) this.words({}, given.text, when)
      return
    }
    const found = this.queued.findIndex((waiting) => waiting.text === words)
    if (found >= 0) this.queued.splice(found, 1)
  }

  /**
   * Removes a delivered prompt from the queue.
   * The client's own records of it may be late or missing.
   */
  private forgetQueued(words: string): void {
    const found = this.queued.findIndex((waiting) => waiting.text.trim() === words.trim())
    if (found >= 0) this.queued.splice(found, 1)
  }

  private boundary(entry: Fields, when: { line: number; at: number | null }): void {
    this.flush()
    const meta = asObject(entry.compactMetadata)
    const trigger = meta?.trigger === 'auto' || meta?.trigger === 'manual' ? meta.trigger : null
    this.compacted = { kind: 'compacted', trigger, summary: null, keptLines: this.kept(meta, when.line), ...when }
  }

  private kept(meta: Fields | null, before: number): number[] {
    const lineOf = new Map(this.recent.map(({ id, line }) => [id, line]))
    const messages = asObject(meta?.preservedMessages)
    const named = asList(messages?.allUuids ?? messages?.uuids)
    const lines = named.flatMap((id) => (typeof id === 'string' ? (lineOf.get(id) ?? []) : []))
    const segment = asObject(meta?.preservedSegment)
    if (lines.length === 0 && segment !== null) {
      const head = lineOf.get(String(segment.headUuid))
      const tail = lineOf.get(String(segment.tailUuid))
      if (head !== undefined && tail !== undefined) for (let line = head; line <= tail; line++) lines.push(line)
    }
    return [...new Set(lines)].filter((line) => line < before).sort((a, b) => a - b)
  }
}

function isTyped(words: string): boolean {
  const said = parseUserText({}, words)
  return said?.type === 'ran' || (said?.type === 'said' && said.by === 'user')
}

const nothingYet = (): EntryBuilderState => ({
  calls: new Map(),
  background: new Map(),
  compacted: null,
  queued: [],
  ran: null,
  statuses: new Map(),
  branch: null,
  untoldBranch: null,
})

function plain(callId: string, words: string): Omit<ResultEntry, 'line' | 'at'> {
  return { kind: 'returned', callId, text: words, ok: null, exitCode: null, interrupted: false, answers: [] }
}
