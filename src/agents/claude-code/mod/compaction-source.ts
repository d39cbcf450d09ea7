/**
 * The part of the mod's program that stands beside a compaction. The client runs PreCompact, the summariser, its SubagentStop,
 * SessionStart(compact) and PostCompact inside `next(e)` and waits for the hook that called it before it sends the next request. So
 * the summary is written down as soon as the summariser ends, which is before SessionStart(compact), and what Baton has to add can
 * still be put into the very next request afterwards. Everything here has a time limit and catches what it throws.
 */
export const COMPACTION_SOURCE = `
// All that may be added to a compaction: before it, beside its hooks, after it.
const BEGIN_MS = 200
const EARLY_MS = 300
const AFTER_MS = 1500
const TICK_MS = 25
// The time a file system puts on a file may lag behind the clock.
const FILE_CLOCK_MS = 50
const LARGEST_NOTE = 150000
const LARGEST_ADDED = 100000

let compaction = null
let lastAdded = 0

async function compact($, e, next) {
  if (e.agentId !== undefined || e.trigger === 'precompute') return next(e)
  const mine = { trigger: e.trigger, session: null, began: 0, summary: null, early: null, over: false, adding: null }
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
  await within($, AFTER_MS, follow($, mine, result))
  mine.over = true
  report($, { reset: true })
  if (mine.adding === null) return result
  lastAdded = mine.adding.at
  return { ...result, messages: [...result.messages, { role: 'user', text: mine.adding.text, toolUses: [] }] }
}

// A compaction's summariser has no type. Any other subagent may end meanwhile, so its text must look like a summary.
async function summarised($, e, next) {
  const mine = compaction
  const said = e.last_assistant_message
  if (mine === null || e.agent_type !== '' || typeof said !== 'string' || !said.includes('<summary>')) return next(e)
  mine.summary = said
  mine.early = note($, mine, null, null)
  const result = await next(e)
  await within($, EARLY_MS, mine.early)
  return result
}

function compacted($, e, next) {
  if (compaction !== null && e.agent_id === undefined && typeof e.compact_summary === 'string') compaction.summary = e.compact_summary
  return next(e)
}

async function begin($, mine) {
  try {
    mine.began = await $.clock.now()
    mine.session = await $.session.id()
  } catch (error) {
    trouble = String(error)
  }
}

async function follow($, mine, result) {
  await mine.early
  if (!(await note($, mine, result, null))) return
  while (!mine.over && (await isExpected($, mine))) {
    const added = await readAdded($, mine)
    if (added !== null && added.text === '') return
    if (added === null) await $.clock.sleep(TICK_MS)
    else if (!mine.over) {
      // What is not written down as added is told another way later: so it is written down first.
      mine.adding = added
      if (!(await note($, mine, result, added.at))) mine.adding = null
      return
    }
  }
}

// False: it could not be written.
async function note($, mine, result, added) {
  if (mine.session === null) return false
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
      added,
    }))
    return true
  } catch (error) {
    trouble = String(error)
    return false
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

// A wish left by an earlier compaction is none.
async function isExpected($, mine) {
  try {
    return (await $.fs.stat(LIVE + '/' + mine.session + '.expect')).mtimeMs >= mine.began - FILE_CLOCK_MS
  } catch {
    return false
  }
}

// Null: not there yet, half written, or of another compaction.
async function readAdded($, mine) {
  try {
    const { format, session, at, text } = JSON.parse(await $.fs.read(LIVE + '/' + mine.session + '.after.json'))
    const fits = format === 1 && session === mine.session && at >= mine.began && at > lastAdded
    return fits && typeof text === 'string' && text.length <= LARGEST_ADDED ? { at, text } : null
  } catch {
    return null
  }
}

async function within($, ms, work) {
  const expired = $.clock.sleep(ms).catch(() => {})
  await Promise.race([work, expired]).catch((error) => {
    trouble = String(error)
  })
}
`
