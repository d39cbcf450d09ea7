import type { Event } from '../../contract/event.js'
import type { House } from '../../house.js'
import { copies, type LogEntry } from '../../model/log.js'
import type { Model } from '../../model/model.js'
import { shownBy } from '../../shown.js'
import { type Carried, missingInJob } from './carried.js'
import { type HandedOver, missingIn } from './handed-over.js'
import { DEMO_MODEL, DEMO_RULE } from './script.js'
import type { Story } from './story.js'

export interface Handoff {
  handoff: HandedOver | null
  /** Why no handoff was shown; null: one was. */
  skipped: string | null
}

/** What came of it, with the model's own log as the witness of what the agent was given. */
export function summarise(house: House, model: Model, story: Story, handoff: Handoff, job: Carried | null, durationMs: number) {
  const session =
    shownBy(house)
      .recent({ all: true })
      .find(({ session_id: id }) => id === story.sessionId) ?? null
  const record = session && house.find(session.session_id)
  const detail = record ? shownBy(house).detail(record) : null
  const requests = model.log().filter((entry) => entry.kind === 'main' && entry.session_id === story.sessionId)
  const levels = story.levels.map((level) => ({
    name: level.name,
    cycle: level.cycle,
    used_tokens: level.used,
    told_in_request: toldIn(requests, level),
  }))
  const archives = detail?.archives ?? []
  const losses = detail?.losses ?? []
  const recovered = recoveries(house.store.events(), requests)
  const told = (cycle: number): number => levels.filter((level) => level.cycle === cycle && level.told_in_request !== null).length
  const after = requests.findIndex((entry) => entry.cycle === 1) + 1
  const instructed = model.log().some((entry) => entry.kind === 'compaction' && copies(entry, MUST_SURVIVE) === 1)
  const missing = [
    told(1) === 4 ? null : 'a level of the first cycle was not told',
    told(2) > 0 ? null : 'no level of the second cycle was told',
    story.compactions === 1 ? null : 'there was not exactly one compaction',
    instructed ? null : 'the summariser was not told what must survive',
    archives.some(({ status }) => status === 'kept') ? null : 'the transcript was not kept',
    losses.some(({ lost }) => lost.some(({ text }) => text.includes(DEMO_RULE))) ? null : 'the loss of the rule was not reported',
    recovered.some(({ step, in_request: at, copies: n }) => step === 1 && at === after && n === 1)
      ? null
      : 'nothing was put back in the request after the compaction',
    backAgain(requests) ? null : 'the rule is not before the agent again',
    ...(handoff.skipped === null ? missingIn(handoff.handoff) : []),
    ...missingInJob(job),
  ].filter((one) => one !== null)
  return {
    ok: missing.length === 0,
    missing,
    client: session?.agent_version ?? null,
    model: DEMO_MODEL,
    session_id: session?.session_id ?? null,
    compaction_tokens: session?.compaction_tokens ?? null,
    exact: session?.exact ?? false,
    requests: requests.length,
    readings: story.readings,
    compactions: story.compactions,
    levels,
    archives,
    losses,
    recovered,
    /** Every request after the compaction held what the person forbade, although the summary does not. */
    rule_back: backAgain(requests),
    ...handoff,
    job,
    duration_ms: durationMs,
  }
}

export type Summary = ReturnType<typeof summarise>

/** The first request that held the text, counted from 1: proof that the model was given it. */
function toldIn(requests: readonly LogEntry[], level: Story['levels'][number]): number | null {
  const index = requests.findIndex(
    (entry) => entry.cycle === level.cycle - 1 && copies(entry, `[baton] Context level "${level.name}"`) > 0,
  )
  return index < 0 ? null : index + 1
}

const MUST_SURVIVE = '[baton] The summary must carry'
const OPENINGS = { 1: '[baton] This conversation was just compacted', 2: '[baton] The summary of the last compaction leaves out' }

/** What was put back, the request that first held it, and how often it stands in the last one. */
function recoveries(events: readonly Event[], requests: readonly LogEntry[]) {
  return events.flatMap(({ type, data }) => {
    if (type !== 'recovery_delivered') return []
    const step = data.step === 2 ? 2 : 1
    const index = requests.findIndex((entry) => copies(entry, OPENINGS[step]) > 0)
    const most = Math.max(0, ...requests.map((entry) => copies(entry, OPENINGS[step])))
    return [{ step, facts: Number(data.facts), in_request: index < 0 ? null : index + 1, copies: most }]
  })
}

/** The summary does not hold the rule: whoever reads it after the compaction reads it from Baton. */
function backAgain(requests: readonly LogEntry[]): boolean {
  const after = requests.filter((entry) => entry.cycle === 1)
  return after.length > 0 && after.every((entry) => copies(entry, DEMO_RULE) > 0)
}
