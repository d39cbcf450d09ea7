import type { Event } from '../contract/records/event.js'

/** The state of one act of the demo, folded from Baton's own events. */
export interface DemoStory {
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

export const INITIAL_STORY: DemoStory = {
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

/** Initial story of a job, before its first session. */
export const INITIAL_JOB_STORY: DemoStory = { ...INITIAL_STORY, session: 0 }

/** Applies an event to the story of an act. */
export function advanceStory(story: DemoStory, { type, data, session_id: sessionId }: Event): DemoStory {
  switch (type) {
    case 'session_started':
      if (story.session !== null) {
        const session = story.session + 1
        return { ...story, session, sessionId: story.sessionId ?? sessionId, used: null, percent: null }
      }
      if (data.source === 'clear') return { ...story, used: null, percent: null }
      return { ...story, sessionId: story.sessionId ?? sessionId }
    case 'reading':
      return {
        ...story,
        used: data.used_tokens as number,
        point: data.compaction_tokens as number | null,
        percent: data.compaction_percent as number | null,
        exact: data.exact === true,
        readings: story.readings + 1,
      }
    case 'level_crossed': {
      const level = { name: String(data.level), cycle: story.cycle, used: data.used_tokens as number }
      return { ...story, levels: [...story.levels, level] }
    }
    case 'message_queued':
      if (data.category !== 'context') return story
      return { ...story, forAgent: [...story.forAgent, String(data.message_id)] }
    case 'message_delivered':
      return isToAgent(story, data) ? { ...story, delivered: story.delivered + 1 } : story
    case 'cycle_started':
      if (data.reason !== 'compaction') return story
      return { ...story, cycle: data.cycle as number, compactions: story.compactions + 1, used: null, percent: null }
    default:
      return story
  }
}

/** True when a delivered message was one for the agent, not only for the user. */
export function isToAgent({ forAgent }: DemoStory, data: Record<string, unknown>): boolean {
  return forAgent.includes(String(data.message_id))
}
