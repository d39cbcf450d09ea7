import type { BriefRecord } from '../../contract/records/brief.js'
import type { Event } from '../../contract/records/event.js'
import type { CheckResult } from '../../contract/records/job.js'
import { formatCount } from '../../lib/counted.js'
import { formatTokens, percentText, shortenTokens } from '../../policy/numbers.js'
import { scoreText } from './briefs.js'
import { bar } from './gauge.js'
import type { Paint } from './screen.js'
import { keptText } from './session-page.js'
import { bytesText } from './text.js'

/** The state of one act of the demo, folded from Baton's own events. */
export interface Story {
  /** The first session of the act. Null before it has started. */
  sessionId: string | null
  used: number | null
  point: number | null
  percent: number | null
  exact: boolean
  cycle: number
  /** Number of the job's current session. Null when the act is not a job. */
  session: number | null
  readings: number
  compactions: number
  levels: { name: string; cycle: number; used: number }[]
  /** Number of messages that the client confirmed. */
  delivered: number
  /** Ids of messages to the agent. All others are only for the user. */
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

/** Returns a brief by its id. */
export type Briefs = (briefId: string) => BriefRecord | null

interface StoryStep {
  story: Story
  line: string | null
}

/**
 * Applies an event to the story and returns a line if the user should see one.
 * `isInstructed` returns true once the summariser was asked to keep the facts that must survive.
 */
export function tell(
  story: Story,
  event: Event,
  paint: Paint,
  briefs: Briefs = () => null,
  isInstructed: () => boolean = () => false,
): StoryStep {
  const { data } = event
  switch (event.type) {
    case 'session_started':
      if (data.source === 'clear')
        return {
          story: { ...story, used: null, percent: null },
          line: `${paint('■', 'cyan')} the session is cleared, and a fresh one starts with the brief`,
        }
      return {
        story: { ...story, sessionId: story.sessionId ?? event.session_id },
        line: `${paint('●', 'bold')} a session of the real Claude Code starts, with Baton's hooks`,
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
      const place = `${formatTokens(level.used)} tokens, ${percentText(data.compaction_percent as number)} full`
      const line = `${paint('▲', 'yellow')} ${paint(level.name.padEnd(9), 'bold')} reached at ${place}`
      return { story: { ...story, levels: [...story.levels, level] }, line }
    }
    case 'message_queued':
      if (data.category !== 'context') return { story, line: null }
      return { story: { ...story, forAgent: [...story.forAgent, String(data.message_id)] }, line: null }
    case 'message_delivered':
      if (!story.forAgent.includes(String(data.message_id))) return { story, line: null }
      return { story: { ...story, delivered: story.delivered + 1 }, line: paint('  the agent was warned', 'dim') }
    case 'compaction_start':
      return {
        story,
        line: `${paint('■', 'cyan')} the client compacts the conversation`,
      }
    case 'archive_created':
      return {
        story,
        line: `  ${paint('archived', 'green')}: ${bytesText(data.bytes as number)} of transcript, byte for byte`,
      }
    case 'loss_report':
      return { story, line: lossLine(data, paint) }
    case 'recovery_delivered': {
      const facts = formatCount(Number(data.facts), 'fact')
      const when = data.step === 1 ? 'with the next request' : 'that the summary lacks'
      return { story, line: `  ${paint('put back', 'green')}: ${facts} ${when}` }
    }
    case 'cycle_started':
      if (data.reason !== 'compaction') return { story, line: null }
      return {
        story: { ...story, cycle: data.cycle as number, compactions: story.compactions + 1, used: null, percent: null },
        line:
          `${paint('■', 'cyan')} ` +
          `compacted${isInstructed() ? '; the summariser was told what must survive' : ''}. The levels are reset.`,
      }
    case 'handoff_requested':
      return { story, line: `${paint('◆', 'cyan')} the agent is asked for a handoff brief` }
    case 'handoff_started':
      return { story, line: briefLine(briefs(String(data.brief_id)), paint) }
    case 'handoff_completed':
      return { story, line: `${paint('●', 'bold')} the fresh session continues by itself` }
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
  return `  ${paint(figure, 'yellow')}${worst ? `; the summary lacks “${worst.text}”` : ''}`
}

function briefLine(brief: BriefRecord | null, paint: Paint): string | null {
  if (brief === null || brief.coverage === null) return null
  const { missing } = brief.coverage
  const worst = missing[0]
  const added = worst ? `; Baton adds the missing “${worst.text}”` : ''
  return `  ${paint('checked', 'green')}: the brief covers ${scoreText(brief.coverage)} of what happened${added}`
}

/** Renders the gauge in its current state. */
export function gaugeLine(story: Story, paint: Paint): string {
  const figure = story.used === null ? '– ' : `${percentText(story.percent ?? 0)} `
  const tokens =
    story.used === null
      ? ''
      : `${shortenTokens(story.used)} of ${story.exact ? '' : '~'}${shortenTokens(story.point ?? 0)}`
  const place = story.session === null ? `cycle ${story.cycle}` : `session ${Math.max(1, story.session)}`
  return `${bar(story.percent, 30, paint)} ${figure}${paint(tokens, 'dim')}${paint(`  ${place}`, 'dim')}`
}

/** Initial story of a job, before its first session. */
export const JOB_OPENING: Story = { ...OPENING, session: 0 }

/**
 * Applies an event of a job.
 * Sessions are numbered, and levels are ignored because a job hands off at its own threshold.
 */
export function tellJob(story: Story, event: Event, paint: Paint, briefs: Briefs = () => null): StoryStep {
  const { data } = event
  switch (event.type) {
    case 'session_started': {
      const number = (story.session ?? 0) + 1
      const how = number === 1 ? 'starts with the task' : 'starts with the task and the brief'
      return {
        story: { ...story, session: number, sessionId: story.sessionId ?? event.session_id, used: null, percent: null },
        line: `${paint('●', 'bold')} session ${number} ${how}`,
      }
    }
    case 'reading':
      return tell(story, event, paint)
    case 'handoff_started': {
      const line =
        `${paint('◆', 'cyan')} ${formatTokens(Number(data.inputTokens))} tokens: Baton stops the ` +
        'session between two steps and asks for its brief'
      return { story, line }
    }
    case 'handoff_completed':
      return { story, line: briefLine(briefs(String(data.brief_id)), paint) }
    case 'job_completed':
      return {
        story,
        line: `${paint('●', 'bold')} the job is ${paint('completed', 'green')}: its checks passed`,
      }
    case 'job_failed':
      return { story, line: `${paint('●', 'bold')} the job ${paint('failed', 'red')}: ${data.detail}` }
    default:
      return { story, line: null }
  }
}

/** Renders the results of a round of checks in order. */
export function checkLines(checks: readonly CheckResult[], round: number, paint: Paint): string[] {
  const these = checks.filter((one) => one.round === round)
  if (these.length === 0) return []
  const bad = these.some(({ ok }) => !ok)
  return [
    `${paint('◆', 'cyan')} the agent says it is done; Baton runs the checks${round === 1 ? '' : ' again'}`,
    ...these.map(({ name, ok, exitCode }) =>
      ok
        ? `  ${paint('✓', 'green')} ${name}`
        : `  ${paint('✗', 'red')} ${name} ${paint(`(exit ${exitCode ?? '–'})`, 'dim')}`,
    ),
    ...(bad ? [`  ${paint('continues', 'yellow')}: the agent is told what failed, in the same session`] : []),
  ]
}
