import { Hono } from 'hono'
import type { Reading } from '../contract/reading.js'
import type { SessionRecord } from '../contract/records/session.js'
import { BLANK_SIGNAL } from '../contract/signal.js'
import type { ServerDependencies } from './dependencies.js'

/** Larger token counts are refused, because no context window is larger. */
const MAX_TOKENS = 10_000_000

/**
 * Builds the two endpoints of older context monitors: one reads a session, one posts reports.
 * A report is `{session_id, used_percentage, total_input_tokens, …}`.
 * The report of a compaction is `{session_id, event: "compaction"}`.
 * The monitors' scripts know no token, so any process of the user may call both endpoints.
 * A report counts as an estimate and changes neither window nor compaction point.
 * A report never leads to a handoff.
 */
export function contextUsageRoutes(deps: ServerDependencies): Hono {
  const app = new Hono()
  app.post('/hooks/context-usage', async (c) => {
    const data = await c.req.json<unknown>().catch(() => null)
    if (!isObject(data)) return c.body(null, 204)
    const record = typeof data.session_id === 'string' && data.session_id !== '' ? deps.find(data.session_id) : null
    if (!record) return c.json({ status: 'unknown_session' })
    if (data.event === 'compaction') {
      deps.engine.reportCompaction(record.sessionId)
      return c.json({ status: 'compaction_logged' })
    }
    const reading = readReport(data, record)
    if (reading === null) return c.json({ status: 'no_usage' })
    // The sessions of a job are measured by the process that runs it.
    if (record.jobId === null) recordReport(deps, record, reading)
    return c.json({ status: 'ok', used_percentage: percentIn(data.used_percentage) })
  })

  app.get('/sessions', (c) => c.json({ sessions: deps.recent({}) }))

  app.get('/sessions/:id', (c) => {
    const record = deps.find(c.req.param('id'))
    if (!record)
      return c.json(
        { error: `There is no session or seat ${c.req.param('id')}.`, hint: 'Run baton status --all to list them.' },
        404,
      )
    const session = deps.view(record)
    return c.json({
      ...session,
      id: session.session_id,
      name: session.seat_id,
      friendly_name: deps.store.seat(session.seat_id)?.name ?? session.seat_id,
      tokens_used: session.used_tokens,
      parent_session_id: session.parent_seat_id,
      working_dir: session.cwd,
      status: session.state,
    })
  })
  return app
}

function recordReport(deps: ServerDependencies, record: SessionRecord, reading: Reading): void {
  const { limits } = record.track
  deps.engine.takeSignal(
    {
      ...BLANK_SIGNAL,
      agent: record.agent,
      kind: 'status-line',
      event: 'context-usage',
      at: deps.now().getTime(),
      sessionId: record.sessionId,
      cwd: record.cwd,
      project: record.project,
      transcriptPath: record.transcriptPath,
      model: record.model,
      reading,
      // A report must not move the levels, so the stored limits are passed on.
      limits: limits.window === null ? null : limits,
    },
    { deliver: 'keep' },
  )
}

/** Null when the report has no usable count: before the model's first answer it is null or 0. */
function readReport(data: Record<string, unknown>, record: SessionRecord): Reading | null {
  const tokens = tokensIn(data.total_input_tokens)
  const percent = percentIn(data.used_percentage)
  const window = record.track.limits.window ?? tokensIn(data.context_window_size)
  const used = tokens ?? (percent === null || window === null ? null : Math.round((window * percent) / 100))
  if (used === null || used === 0) return null
  return {
    used,
    usage: null,
    exact: false,
    model: null,
    source: 'monitor',
    answerId: null,
    stamp: stampIn(data.timestamp),
  }
}

/**
 * The producer's own clock, if it sends one.
 * Each stamp is compared only with its earlier stamps, so the clock may be years off.
 */
function stampIn(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const parsed = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(parsed) ? null : parsed
}

const tokensIn = (value: unknown): number | null =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_TOKENS ? (value as number) : null

const percentIn = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= 100 ? value : null

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
