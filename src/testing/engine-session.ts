import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { agents } from '../agents/index.js'
import { transcriptReaders } from '../agents/readers.js'
import type { TranscriptReader } from '../agents/transcript-reader.js'
import { emptyConfig } from '../config/compiled.js'
import { policyFor } from '../config/policy-for.js'
import type { ConfigProblem, Policy, ProjectFile } from '../contract/policy.js'
import type { Event, EventType } from '../contract/records/event.js'
import type { Message } from '../contract/records/message.js'
import type { SessionRecord } from '../contract/records/session.js'
import { folderOutbox } from '../delivery/outbox.js'
import type { TakeOptions } from '../engine/context.js'
import { type Engine, makeEngine } from '../engine/engine.js'
import * as rareWork from '../engine/rare-work.js'
import type { TakeResult } from '../engine/signals/take-signal.js'
import { openStore } from '../store/sqlite/sqlite.js'

/** Compaction point and levels of the model that these tests use. */
export const COMPACTION_POINT = 167_000
export const LEVEL_TOKENS = { notice: 83_500, warning: 116_900, handoff: 141_950, critical: 158_650 }
const START = Date.parse('2026-03-01T10:00:00.000Z')

let emptyStore: Map<string, Buffer> | null = null

/** Copies an empty store for a test: creating one costs more than the rest of the test. */
function newStore(path: string): void {
  if (emptyStore === null) {
    const folder = mkdtempSync(join(tmpdir(), 'baton-empty-'))
    openStore(join(folder, 'baton.db')).close()
    const parts = ['', '-wal'].filter((end) => existsSync(join(folder, `baton.db${end}`)))
    emptyStore = new Map(parts.map((end) => [end, readFileSync(join(folder, `baton.db${end}`))]))
    rmSync(folder, { recursive: true, force: true })
  }
  for (const [end, bytes] of emptyStore) writeFileSync(`${path}${end}`, bytes, { mode: 0o600 })
}

/** The real readers without their time limit, whose clock no test can control. */
const UNTIMED_READERS: Record<string, TranscriptReader> = Object.fromEntries(
  Object.entries(transcriptReaders).map(([agent, reader]) => [
    agent,
    {
      ...reader,
      conversation: (path, { withinMs: _, ...options }) => reader.conversation(path, options),
    } satisfies TranscriptReader,
  ]),
)

/** Creates an engine with a real store, the real agent adapter and a clock that tests advance. */
export function testApp() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-engine-'))
  newStore(join(folder, 'baton.db'))
  const store = openStore(join(folder, 'baton.db'))
  const liveDir = join(folder, 'live')
  mkdirSync(liveDir)
  const configured: { policy: Policy; project: ProjectFile | null } = {
    policy: policyFor(emptyConfig(), { agent: 'claude-code', project: null, model: null, seat: null }),
    project: null,
  }
  let problems: ConfigProblem[] = []
  let now = START
  let ids = 0
  let waited = 0
  const logged: string[] = []
  const briefs = { folder: join(folder, 'briefs'), keyFile: join(folder, 'key') }
  // A slow machine must not use up the time that a compaction waits for git and for a transcript.
  const sources = { ...rareWork.openBriefSources(briefs), readers: UNTIMED_READERS, elapsed: () => 0 }
  const secondEngine = (): Engine =>
    makeEngine({
      store,
      agents,
      policyOf: () => ({ policy: configured.policy, problems, project: configured.project }),
      now: () => new Date(now),
      newId: () => String(++ids).padStart(16, '0'),
      log: (_level, text) => logged.push(text),
      // Launchers leave files with the true time on them; `outwait` makes them look old.
      outbox: folderOutbox(join(folder, 'outbox'), () => new Date(Date.now() + waited)),
      liveDir,
      briefs,
      factsDir: join(folder, 'facts'),
      planArchive: () => null,
      lookForArchive: () => ['', null],
      leaveWork: () => {},
      loadRareWork: () => rareWork,
      sources: () => sources,
    })

  return {
    folder,
    store,
    engine: secondEngine(),
    secondEngine,
    logged,
    liveDir,
    outbox: join(folder, 'outbox'),
    now: () => new Date(now),
    wait: (seconds: number) => {
      now += seconds * 1000
    },
    outwait: (ms: number) => {
      waited += ms
    },
    configure: (change: (policy: Policy) => Policy) => {
      configured.policy = change(configured.policy)
    },
    breakConfig: (reasons: string[]) => {
      problems = reasons.map((reason) => ({ key: 'levels[0].at', file: 'config.yaml', reason, hint: '' }))
    },
    remove: () => {
      store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type TestApp = ReturnType<typeof testApp>

/**
 * Records every transcript that the engine reads from now on, by the first letters of its session:
 * `aaaa ahead` before the store is locked, `aaaa inside` when a transaction had to stop for it.
 * Reads of git are recorded only when a transaction had to stop for them.
 */
export function watchReads(app: TestApp): string[] {
  const { deps } = app.engine
  const { store } = app
  const reads: string[] = []
  let isInside = false
  deps.store = {
    ...store,
    readUnlocked: (key, read) =>
      store.readUnlocked(key, () => {
        isInside = true
        try {
          return read()
        } finally {
          isInside = false
        }
      }),
  }
  const sources = deps.sources()
  const reader = sources.readers['claude-code']!
  const watched: typeof reader = {
    ...reader,
    conversation(path, options) {
      reads.push(`${basename(path).slice(0, 4)} ${isInside ? 'inside' : 'ahead'}`)
      return reader.conversation(path, options)
    },
  }
  const repository: typeof sources.repository = (...asked) => {
    if (isInside) reads.push('git inside')
    return sources.repository(...asked)
  }
  deps.sources = () => ({ ...sources, repository, readers: { 'claude-code': watched } })
  return reads
}

export interface SendSignalOptions {
  deliver?: TakeOptions['deliver']
  signalId?: string
  again?: boolean
  /** Seconds that the signal waited in the spool. */
  spooled?: number
  engine?: Engine
  env?: Record<string, string>
}

/**
 * Simulates a session of the client by its hooks, status line and transcript.
 * Every signal comes a second after the last.
 */
export function testSession(app: TestApp, sessionId = 'aaaaaaaa-0001', env: Record<string, string> = {}) {
  const transcript = join(app.folder, `${sessionId}.jsonl`)
  const project = join(app.folder, 'shop')
  let answers = 0
  let clientMs = 0
  const write = (entry: object): void =>
    appendFileSync(transcript, `${JSON.stringify({ sessionId, isSidechain: false, version: '2.1.325', ...entry })}\n`)
  const record = (): SessionRecord => app.store.session(sessionId)!

  const take = (kind: string, body: object, sending: SendSignalOptions): TakeResult => {
    app.wait(1)
    const raw = {
      agent: 'claude-code',
      kind,
      body: JSON.stringify({ session_id: sessionId, transcript_path: transcript, cwd: project, ...body }),
      env: { HOME: app.folder, CLAUDE_PROJECT_DIR: project, ...env, ...sending.env },
      at: app.now().getTime() - (sending.spooled ?? 0) * 1000,
    }
    const { deliver = 'answer', signalId, again } = sending
    return (sending.engine ?? app.engine).take(raw, {
      deliver,
      unserved: deliver === 'outbox',
      ...(signalId === undefined ? {} : { signalId }),
      ...(again === undefined ? {} : { again }),
    })
  }
  const hook = (event: string, body: object = {}, sending: SendSignalOptions = {}): TakeResult =>
    take(event, { hook_event_name: event, ...body }, sending)

  const session = {
    id: sessionId,
    transcript,
    project,
    env,
    record,
    write,
    hook,
    /** Writes an answer of the model that asks for one tool. Returns the tool's id. */
    answers(used: number, changes: { model?: string; id?: string } = {}): string {
      const id = changes.id ?? `msg_${sessionId}_${++answers}`
      write({
        type: 'assistant',
        uuid: `uuid_${id}`,
        message: {
          id,
          type: 'message',
          role: 'assistant',
          model: changes.model ?? 'claude-opus-4-6',
          content: [{ type: 'tool_use', id: `toolu_${id}`, name: 'Bash', input: { command: 'true' } }],
          usage: {
            input_tokens: 8,
            cache_creation_input_tokens: 1000,
            cache_read_input_tokens: used - 1008,
            output_tokens: 50,
          },
        },
      })
      return `toolu_${id}`
    },
    /** Writes the line that a compaction leaves in the transcript. */
    boundary(trigger: 'auto' | 'manual' = 'auto', figures = { preTokens: 165_000, postTokens: 3000, durationMs: 700 }) {
      write({
        type: 'system',
        subtype: 'compact_boundary',
        content: 'Conversation compacted',
        compactMetadata: { trigger, ...figures },
      })
    },
    /** Writes a text that a hook gave into the transcript. */
    holds(text: string) {
      write({ type: 'attachment', attachment: { type: 'hook_additional_context', content: [text] } })
    },
    start: (source = 'startup', sending: SendSignalOptions = {}) =>
      hook('SessionStart', { source, ...(source === 'resume' ? {} : { model: 'claude-opus-4-6' }) }, sending),
    prompt: (sending: SendSignalOptions = {}) => hook('UserPromptSubmit', { prompt: 'go on' }, sending),
    /** Types a prompt as the user and writes it into the transcript. */
    asks(text: string, sending: SendSignalOptions = {}) {
      write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content: text } })
      return session.prompt(sending)
    },
    batch: (toolIds: string[] = [], sending: SendSignalOptions = {}) =>
      hook(
        'PostToolBatch',
        { tool_calls: toolIds.map((tool_use_id) => ({ tool_name: 'Bash', tool_use_id })) },
        sending,
      ),
    stop: (sending: SendSignalOptions = {}) => hook('Stop', { stop_hook_active: false }, sending),
    /** Ends the turn with this answer. */
    endsTurn: (answer: string, sending: SendSignalOptions = {}) =>
      hook('Stop', { stop_hook_active: false, last_assistant_message: answer }, sending),
    end: (reason = 'other', sending: SendSignalOptions = {}) => hook('SessionEnd', { reason }, sending),
    preCompact: (trigger: 'auto' | 'manual' = 'auto', sending: SendSignalOptions = {}) =>
      hook('PreCompact', { trigger, custom_instructions: null }, sending),
    postCompact: (trigger: 'auto' | 'manual' = 'auto', sending: SendSignalOptions = {}) =>
      hook('PostCompact', { trigger, compact_summary: `the summary (${trigger})` }, sending),
    /** Writes an answer and sends the batch that follows it. */
    step: (used: number, sending: SendSignalOptions & { model?: string } = {}) =>
      session.batch([session.answers(used, sending)], sending),
    statusLine(
      used: number | null,
      changes: { model?: string; window?: number; clientMs?: number } & SendSignalOptions = {},
    ): TakeResult {
      clientMs = changes.clientMs ?? clientMs + 1000
      const usage = {
        input_tokens: used ?? 0,
        output_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      }
      const context = {
        total_input_tokens: used ?? 0,
        context_window_size: changes.window ?? 200_000,
        current_usage: used === null ? null : usage,
      }
      const model = { id: changes.model ?? 'claude-opus-4-6' }
      const body = {
        model,
        version: '2.1.325',
        cost: { total_cost_usd: 0.5, total_duration_ms: clientMs },
        context_window: context,
      }
      return take('status-line', body, { deliver: 'keep', ...changes })
    },
    /**
     * Writes a report of the mod.
     * `used` is null when it knows no figure;
     * `seen`: it reports which orders it has noticed.
     */
    reports(used: number | null, at: number, mod?: string, seen = false) {
      const compaction = { threshold: COMPACTION_POINT, effective: 200_000, enabled: true, by: 'model-default' }
      const report = {
        format: 1,
        session: sessionId,
        ...(mod === undefined ? {} : { mod }),
        ...(seen ? { seen } : {}),
        at,
        tokens: used ?? 0,
        window: 200_000,
        model: 'claude-opus-4-6',
        compaction,
      }
      writeFileSync(join(app.liveDir, `${sessionId}.json`), JSON.stringify(report))
    },
    events: (...types: EventType[]): Event[] =>
      app.store.events({ sessionId }).filter((event) => types.length === 0 || types.includes(event.type)),
    types: () => app.store.events({ sessionId }).map((event) => event.type),
    messages: (category?: string): Message[] =>
      app.store
        .messages()
        .filter((m) => m.session_id === sessionId && (category === undefined || m.category === category)),
  }
  return session
}

export type TestSession = ReturnType<typeof testSession>

/** Returns what an answer says to the agent and to the user. */
export function textsOfAnswer(answer: string): { agent: string | null; user: string | null } {
  if (answer === '') return { agent: null, user: null }
  const parsed = JSON.parse(answer) as Record<string, unknown>
  const output = Object.values(parsed).find((value) => typeof value === 'object') as Record<string, string> | undefined
  const texts = output ? Object.values(output).filter((value) => value.startsWith('[baton]')) : []
  return {
    agent: texts[0] ?? null,
    user: Object.values(parsed).find((value): value is string => typeof value === 'string') ?? null,
  }
}
