/**
 * Stores a compaction's summary.
 * The client runs PreCompact, the summariser, its SubagentStop, SessionStart(compact) and
 * PostCompact one after the other inside `next(e)`, and waits for each.
 * The summary's file is thus complete for SessionStart(compact), which answers the next request.
 * Messages in the compaction's result are no alternative: the client shows them as the user's.
 * Every wait has a limit, every failure is caught.
 */
import { report, state } from './report.js'
import { LIVE } from './settings.js'

// Maximum wait of a compaction for its start and for its note, in case the file system hangs.
const BEGIN_MS = 200
const NOTE_MS = 300
const LARGEST_NOTE = 150_000

let current = null

export async function compact($, e, next) {
  if (e.agentId !== undefined || e.trigger === 'precompute') return next(e)
  const compaction = { trigger: e.trigger, session: null, summary: null, early: null }
  await within($, BEGIN_MS, begin($, compaction))
  current = compaction
  let result
  try {
    result = await next(e)
  } finally {
    current = null
  }
  if (result.skip !== undefined) return result
  state.epoch++
  await within($, NOTE_MS, finish($, compaction, result))
  report($, { reset: true })
  return result
}

/**
 * Stores the summariser's text.
 * A summariser has no agent type.
 * Other subagents may end at the same time, so the text must also look like a summary.
 */
export async function onSubagentStop($, e, next) {
  const compaction = current
  const text = e.last_assistant_message
  if (compaction === null || e.agent_type !== '' || typeof text !== 'string' || !text.includes('<summary>'))
    return next(e)
  compaction.summary = text
  compaction.early = note($, compaction, null)
  const result = await next(e)
  await within($, NOTE_MS, compaction.early)
  return result
}

export function onPostCompact(_$, e, next) {
  if (current !== null && e.agent_id === undefined && typeof e.compact_summary === 'string')
    current.summary = e.compact_summary
  return next(e)
}

async function begin($, compaction) {
  try {
    compaction.session = await $.session.id()
  } catch (error) {
    state.problem = String(error)
  }
}

/** Writes the last note after the first one, which may hang and must not overwrite it. */
async function finish($, compaction, result) {
  await compaction.early
  await note($, compaction, result)
}

/** Writes the note. `result` is null while the compaction still runs. */
async function note($, compaction, result) {
  const { session, trigger, summary } = compaction
  if (session === null) return
  const [first, ...rest] = result?.messages ?? []
  try {
    const noted = {
      format: 1,
      session,
      at: await $.clock.now(),
      trigger,
      tokensBefore: result?.tokensBefore ?? null,
      tokensAfter: result?.tokensAfter ?? null,
      summary: (summary ?? first?.text ?? '').slice(0, LARGEST_NOTE),
      kept: result === null ? null : keptTail(rest),
    }
    await $.fs.write(`${LIVE}/${session}.summary.json`, JSON.stringify(noted))
  } catch (error) {
    state.problem = String(error)
  }
}

function keptTail(messages) {
  const text = messages.map(textOf).join('\n\n')
  return { messages: messages.length, text: text.slice(-LARGEST_NOTE), whole: text.length <= LARGEST_NOTE }
}

function textOf(message) {
  const uses = message.toolUses.map((use) => `${use.tool} ${JSON.stringify(use.input)}`)
  const results = (message.toolResults ?? []).map((result) => result.text)
  return [message.text, ...uses, ...results].filter((part) => part).join('\n')
}

async function within($, ms, work) {
  await Promise.race([work, $.clock.sleep(ms)]).catch((error) => {
    state.problem = String(error)
  })
}
