import { Hono } from 'hono'
import { BLANK_SIGNAL } from '../../contract/blank-signal.js'
import type { Reading } from '../../contract/reading.js'
import type { SessionRecord } from '../../contract/record.js'
import type { Signal } from '../../contract/signal.js'
import type { ServerParts } from '../parts.js'
import { sessionWithoutWords } from '../withhold.js'

/** The endpoint of older context monitors: `{session_id, used_percentage, total_input_tokens, …}` or `{session_id, event: "compaction"}`. */
export function contextUsage(parts: ServerParts): Hono {
  const app = new Hono()
  app.post('/hooks/context-usage', async (c) => {
    const data = await c.req.json<unknown>().catch(() => null)
    if (!isObject(data)) return c.body(null, 204)
    const record = typeof data.session_id === 'string' ? parts.find(data.session_id) : null
    if (!record) return c.json({ status: 'unknown_session' })
    if (data.event === 'compaction' && record.process !== null) {
      // The client's own hooks tell of this compaction too: it is counted there, and only what waits is judged anew here.
      parts.rearm(record.sessionId)
      return c.json({ status: 'compaction_logged' })
    }
    if (data.event === 'compaction') {
      parts.engine.takeSignal(signalOf(record, parts.now(), 'compact-end', null, data.trigger === 'manual' ? 'manual' : 'auto'), {
        deliver: 'keep',
      })
      return c.json({ status: 'compaction_logged' })
    }
    const reading = readingOf(data, record)
    if (reading === null) return c.json({ status: 'no_usage' })
    parts.engine.takeSignal(signalOf(record, parts.now(), 'status-line', reading, 'auto', numberOf(data.context_window_size)), {
      deliver: 'keep',
    })
    return c.json({ status: 'ok', used_percentage: numberOf(data.used_percentage) })
  })

  app.get('/sessions/:id', (c) => {
    const record = parts.find(c.req.param('id'))
    if (!record) return c.json({ error: `No session or seat ${c.req.param('id')}`, hint: 'baton status --all lists them' }, 404)
    const session = parts.view(record)
    return c.json({
      ...sessionWithoutWords(session),
      id: session.session_id,
      name: session.seat_id,
      friendly_name: parts.store.seat(session.seat_id)?.name ?? session.seat_id,
      tokens_used: session.used_tokens,
      parent_session_id: session.parent_seat_id,
      working_dir: session.cwd,
      status: session.state,
    })
  })
  return app
}

/** null: it says nothing (before the first answer the figures are null or 0). */
function readingOf(data: Record<string, unknown>, record: SessionRecord): Reading | null {
  const tokens = numberOf(data.total_input_tokens)
  const percent = numberOf(data.used_percentage)
  const window = numberOf(data.context_window_size) ?? record.track.limits.window
  const counted = tokens !== null && tokens > 0
  const used = counted ? tokens : percent !== null && percent > 0 && window !== null ? Math.round((window * percent) / 100) : null
  if (used === null) return null
  return {
    used,
    usage: null,
    exact: counted,
    model: null,
    source: 'status-line',
    answerId: null,
    stamp: record.process === null ? stampOf(data.timestamp) : null,
  }
}

function signalOf(
  record: SessionRecord,
  now: Date,
  kind: Signal['kind'],
  reading: Reading | null,
  trigger: 'auto' | 'manual',
  window: number | null = null,
): Signal {
  return {
    ...BLANK_SIGNAL,
    agent: record.agent,
    kind,
    event: 'context-usage',
    at: now.getTime(),
    sessionId: record.sessionId,
    cwd: record.cwd,
    project: record.project,
    transcriptPath: record.transcriptPath,
    model: record.model,
    pid: record.process?.pid ?? null,
    compaction: kind === 'compact-end' ? { trigger, summary: null } : null,
    reading,
    window,
  }
}

/** The producer's own clock, if it sends one: compared only with its earlier stamps, so it may be years off. */
function stampOf(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const parsed = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(parsed) ? null : parsed
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
