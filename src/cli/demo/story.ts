import type { BriefRecord } from '../../contract/brief.js'
import type { Event } from '../../contract/event.js'
import { grouped, percentText, short } from '../../policy/numbers.js'
import { scoreText } from '../render/brief-lines.js'
import { bytesText } from '../render/bytes.js'
import { keptText } from '../render/compaction-lines.js'
import { bar } from '../render/gauge.js'
import type { Paint } from '../render/screen.js'

/** What the demo has seen so far of one act, folded from Baton's own events. */
export interface Story {
  /** The session it began with; null: none has begun. */
  sessionId: string | null
  used: number | null
  point: number | null
  percent: number | null
  exact: boolean
  cycle: number
  /** Which session of a job works; null: this is no job. */
  session: number | null
  readings: number
  compactions: number
  levels: { name: string; cycle: number; used: number }[]
  /** Messages the client confirmed. */
  delivered: number
  /** Messages that speak to the agent; the others are for the person only. */
  forAgent: readonly string[]
}

export const OPENING: Story = {
  sessionId: null,
  used: null,
  point: null,
  percent: null,
  exact: false,
  cycle: 1,
  session: null,
  readings: 0,
  compactions: 0,
  levels: [],
  delivered: 0,
  forAgent: [],
}

/** A brief by its id. */
export type Briefs = (briefId: string) => BriefRecord | null

export interface Told {
  story: Story
  line: string | null
}

/** One event: the story goes on, and a line is said where a person should see it. */
export function tell(story: Story, event: Event, paint: Paint, briefs: Briefs = () => null): Told {
  const { data } = event
  switch (event.type) {
    case 'session_started':
      if (data.source === 'clear')
        return {
          story: { ...story, used: null, percent: null },
          line: `${paint('■', 'cyan')} the session is cleared where it stands; a fresh one begins with the brief`,
        }
      return {
        story: { ...story, sessionId: story.sessionId ?? event.session_id },
        line: `${paint('●', 'bold')} a session of the real Claude Code starts; its hooks are Baton's`,
      }
    case 'reading':
      return {
        line: null,
        story: {
          ...story,
          used: data.used_tokens as number,
          point: data.compaction_tokens as number | null,
          percent: data.compaction_percent as number | null,
          exact: data.exact === true,
          readings: story.readings + 1,
        },
      }
    case 'level_crossed': {
      const level = { name: String(data.level), cycle: story.cycle, used: data.used_tokens as number }
      const place = `${grouped(level.used)} tokens, ${percentText(data.compaction_percent as number)} of the compaction point`
      const line = `${paint('▲', 'yellow')} ${paint(level.name.padEnd(9), 'bold')} reached: ${place}`
      return { story: { ...story, levels: [...story.levels, level] }, line }
    }
    case 'message_queued':
      if (data.category !== 'context') return { story, line: null }
      return { story: { ...story, forAgent: [...story.forAgent, String(data.message_id)] }, line: null }
    case 'message_delivered':
      if (!story.forAgent.includes(String(data.message_id))) return { story, line: null }
      return { story: { ...story, delivered: story.delivered + 1 }, line: paint('  the agent was told, once', 'dim') }
    case 'compaction_start':
      return { story, line: `${paint('■', 'cyan')} the client compacts the conversation; its summariser hears what must survive` }
    case 'archive_created':
      return { story, line: `  ${paint('archived', 'green')}: the transcript as it was, ${bytesText(data.bytes as number)}` }
    case 'loss_report':
      return { story, line: lossLine(data, paint) }
    case 'recovery_delivered': {
      const facts = `${data.facts} fact${data.facts === 1 ? '' : 's'}`
      const when = data.step === 1 ? 'with the very next request' : 'which the summary lacks'
      return { story, line: `  ${paint('put back', 'green')}: ${facts}, ${when}` }
    }
    case 'cycle_started':
      if (data.reason !== 'compaction') return { story, line: null }
      return {
        story: { ...story, cycle: data.cycle as number, compactions: story.compactions + 1, used: null, percent: null },
        line: `${paint('■', 'cyan')} compacted: the figure is unknown until the next answer; the levels are open again`,
      }
    case 'handoff_requested':
      return { story, line: `${paint('◆', 'cyan')} the agent is asked for a handoff brief` }
    case 'handoff_started':
      return { story, line: briefLine(briefs(String(data.brief_id)), paint) }
    case 'handoff_completed':
      return { story, line: `${paint('●', 'bold')} the fresh session goes on by itself: nobody typed, nobody clicked` }
    case 'session_ended':
      if (data.reason === 'clear') return { story, line: null }
      return { story, line: `${paint('●', 'bold')} the session ends` }
    default:
      return { story, line: null }
  }
}

function lossLine(data: Record<string, unknown>, paint: Paint): string {
  const lost = data.lost as { kind: string; text: string }[]
  const worst = lost.find(({ kind }) => kind === 'constraint') ?? lost[0]
  const figure = keptText({ kept: data.facts_kept as number, total: data.facts as number })
  return `  ${paint(figure, 'yellow')}${worst ? `; the summary drops “${worst.text}”` : ''}`
}

export function briefLine(brief: BriefRecord | null, paint: Paint): string | null {
  if (brief === null || brief.coverage === null) return null
  const { missing } = brief.coverage
  const worst = missing[0]
  const added = worst ? `; Baton adds what it leaves out: “${worst.text}”` : ''
  return `  ${paint('checked', 'green')}: the brief carries ${scoreText(brief.coverage)} of what happened${added}`
}

/** The gauge in its present state. */
export function gaugeLine(story: Story, paint: Paint): string {
  const figure = story.used === null ? '– ' : `${percentText(story.percent ?? 0)} `
  const tokens = story.used === null ? '' : `${short(story.used)} of ${story.exact ? '' : '~'}${short(story.point ?? 0)}`
  const place = story.session === null ? `cycle ${story.cycle}` : `session ${Math.max(1, story.session)}`
  return `${bar(story.percent, 30, paint)} ${figure}${paint(tokens, 'dim')}${paint(`  ${place}`, 'dim')}`
}
