/**
 * The part of the mod's program that writes down a compaction's summary. The client runs PreCompact, the summariser, its
 * SubagentStop, SessionStart(compact) and PostCompact one after the other inside `next(e)`, and waits for each. So the summary can be
 * in its file when the hook of SessionStart(compact) runs, whose answer is in the very next request. Messages could also be added to
 * the compaction's result, but the client shows and keeps those as typed by the user. Every wait has a limit, every failure is caught.
 */
export const COMPACTION_SOURCE = `
// How long a compaction waits for each of these at most, should the file system hang.
const BEGIN_MS = 200
const NOTE_MS = 300
const LARGEST_NOTE = 150000

let compaction = null

async function compact($, e, next) {
  if (e.agentId !== undefined || e.trigger === 'precompute') return next(e)
  const mine = { trigger: e.trigger, session: null, summary: null, early: null }
  await within($, BEGIN_MS, begin($, mine))
  compaction = mine
  let result
  try {
    result = await next(e)
  } finally {
    compaction = null
  }
  if (result.skip !== undefined) return result
  epoch++
  await within($, NOTE_MS, finish($, mine, result))
  report($, { reset: true })
  return result
}

// A compaction's summariser has no type. Any other subagent may end meanwhile, so its text must look like a summary.
async function summarised($, e, next) {
  const mine = compaction
  const said = e.last_assistant_message
  if (mine === null || e.agent_type !== '' || typeof said !== 'string' || !said.includes('<summary>')) return next(e)
  mine.summary = said
  mine.early = note($, mine, null)
  const result = await next(e)
  await within($, NOTE_MS, mine.early)
  return result
}

function compacted($, e, next) {
  if (compaction !== null && e.agent_id === undefined && typeof e.compact_summary === 'string') compaction.summary = e.compact_summary
  return next(e)
}

async function begin($, mine) {
  try {
    mine.session = await $.session.id()
  } catch (error) {
    trouble = String(error)
  }
}

// A first note that hangs must not come after the last one.
async function finish($, mine, result) {
  await mine.early
  await note($, mine, result)
}

async function note($, mine, result) {
  if (mine.session === null) return
  const [first, ...rest] = result?.messages ?? []
  try {
    await $.fs.write(LIVE + '/' + mine.session + '.summary.json', JSON.stringify({
      format: 1,
      session: mine.session,
      at: await $.clock.now(),
      trigger: mine.trigger,
      tokensBefore: result?.tokensBefore ?? null,
      tokensAfter: result?.tokensAfter ?? null,
      summary: (mine.summary ?? first?.text ?? '').slice(0, LARGEST_NOTE),
      kept: result === null ? null : kept(rest),
    }))
  } catch (error) {
    trouble = String(error)
  }
}

function kept(messages) {
  const text = messages.map((message) => [
    message.text,
    ...message.toolUses.map((use) => use.tool + ' ' + JSON.stringify(use.input)),
    ...(message.toolResults ?? []).map((result) => result.text),
  ].filter((part) => part).join('\\n')).join('\\n\\n')
  return { messages: messages.length, text: text.slice(-LARGEST_NOTE), whole: text.length <= LARGEST_NOTE }
}

async function within($, ms, work) {
  await Promise.race([work, $.clock.sleep(ms)]).catch((error) => {
    trouble = String(error)
  })
}
`
