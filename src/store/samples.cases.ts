import type { BriefRecord } from '../contract/records/brief.js'
import type { NewEvent } from '../contract/records/event.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import type { Message } from '../contract/records/message.js'
import type { NoticeRecord } from '../contract/records/notice.js'
import type { SeatRecord, SessionRecord, StoredReading, SubagentRecord } from '../contract/records/session.js'

/**
 * Complete records for the cases. Every record contains values that a careless store would lose:
 * nulls, nested objects and non-ASCII letters.
 */
export const AT = '2026-03-01T10:00:00.000Z'
/** Returns the ISO time that many milliseconds after `AT`. */
export const later = (ms: number): string => new Date(Date.parse(AT) + ms).toISOString()

const spend = { input: 1, cacheCreation: 2, cacheRead: 3, output: 4, answers: 5 }
const limits = {
  window: 200_000,
  point: 167_000,
  mode: 'proactive',
  exact: true,
  reason: 'told by the client',
} as const

export function sampleSession(sessionId: string, changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    sessionId,
    agent: 'claude-code',
    seatId: 'seat_1',
    agentVersion: '2.1.325',
    project: '/home/ü/shöp',
    cwd: '/home/ü/shöp/src',
    branch: null,
    model: 'claude-opus-4-6',
    state: 'working',
    attended: true,
    jobId: null,
    process: { pid: 4711, startedAt: '12345' },
    transcriptPath: null,
    cursor: { path: '/t.jsonl', offset: 12, answerId: 'msg_1' },
    startedAt: AT,
    seenAt: AT,
    endedAt: null,
    track: {
      cycle: 2,
      cycleStartedAt: AT,
      cycleReason: 'compaction',
      used: 118_600,
      usage: { input: 8, cacheCreation: 600, cacheRead: 117_992, output: 50 },
      exact: true,
      source: 'transcript',
      model: 'claude-opus-4-6',
      answerId: 'msg_1',
      readAt: AT,
      base: 30_000,
      limits,
      latched: [{ name: 'notice', atTokens: 83_500, crossedAt: AT }],
      seen: [30_000, 118_600],
      reached: { transcript: 1, 'status-line': 0 },
      before: { seen: [], reached: {} },
      stamps: { transcript: 99 },
      fresh: false,
    },
    compaction: null,
    compactions: 1,
    handoffs: 0,
    lastHandoffPath: null,
    spend,
    costUsd: 0.123456789,
    planLimits: [{ name: 'five_hour', usedPercent: 12.5, resetsAt: null }],
    silence: { toolCalls: 3, since: AT, alarmed: false },
    unsettled: ['toolu_1'],
    levelsKey: 'notice@50%',
    configTrouble: null,
    ...changes,
  }
}

export function sampleSeat(seatId: string, changes: Partial<SeatRecord> = {}): SeatRecord {
  return { seatId, name: null, parentSeatId: null, process: null, createdAt: AT, ...changes }
}

export function sampleSubagent(sessionId: string, subagentId: string, used: number | null): SubagentRecord {
  return {
    sessionId,
    subagentId,
    type: 'Explore',
    description: 'look “around”',
    model: null,
    used,
    limits,
    exact: false,
    cursor: { path: '/a.jsonl', offset: 0 },
    spend,
    updatedAt: AT,
  }
}

export function sampleReading(sessionId: string, used: number, changes: Partial<StoredReading> = {}): StoredReading {
  return {
    sessionId,
    cycle: 1,
    at: AT,
    used,
    window: null,
    point: null,
    model: null,
    source: 'status-line',
    exact: false,
    ...changes,
  }
}

/** Returns the event that stores a reading. */
export function readingEvent(reading: StoredReading): NewEvent {
  const { sessionId, at, used, window, point, ...rest } = reading
  const data = { used_tokens: used, window_tokens: window, compaction_tokens: point, ...rest }
  return sampleEvent('reading', { at, session_id: sessionId, data })
}

export function sampleEvent(type: NewEvent['type'], changes: Partial<NewEvent> = {}): NewEvent {
  return { type, at: AT, session_id: 's1', seat_id: 'seat_1', job_id: null, data: { deep: [{ ö: null }] }, ...changes }
}

export function sampleMessage(messageId: string, changes: Partial<Message> = {}): Message {
  return {
    message_id: messageId,
    seat_id: 'seat_1',
    session_id: null,
    sender: 'baton',
    category: 'context',
    mode: 'important',
    agent_text: '[baton] “half”\nfull',
    user_text: null,
    user_told_at: null,
    status: 'queued',
    queued_at: AT,
    sent_at: null,
    delivered_at: null,
    via: null,
    repeated: false,
    ...changes,
  }
}

export function sampleBrief(briefId: string, sequence: number, changes: Partial<BriefRecord> = {}): BriefRecord {
  return {
    briefId,
    seatId: 'seat_1',
    sessionId: 's1',
    parentBriefId: null,
    sequence,
    author: 'agent',
    agent: 'claude-code',
    model: null,
    project: '/home/ü/shöp',
    branch: 'main',
    commit: null,
    usedTokens: 142_000,
    compactionTokens: null,
    takenAt: AT,
    status: 'written',
    reason: 'the “level”',
    path: `/briefs/seat_1/${briefId}.md`,
    sha256: 'ab'.repeat(32),
    coverage: {
      score: 0.75,
      missing: [{ kind: 'constraint', text: 'never touch ö' }],
      unsupported: ['71 %'],
      byKind: {},
    },
    usedAt: null,
    usedBySessionId: null,
    addenda: [{ at: AT, path: '/briefs/seat_1/late.md', sha256: 'cd'.repeat(32) }],
    ...changes,
  }
}

export function sampleHandoff(handoffId: string, changes: Partial<HandoffRecord> = {}): HandoffRecord {
  return {
    handoffId,
    seatId: 'seat_1',
    sessionId: 's1',
    state: 'requested',
    cause: 'level',
    level: 'handoff',
    reason: null,
    unattended: true,
    requestedAt: AT,
    stateAt: AT,
    dueAt: null,
    draft: null,
    asked: 1,
    briefId: null,
    way: null,
    failedWays: ['mod'],
    orderId: null,
    newSessionId: null,
    number: 1,
    usedTokens: 142_000,
    windowTokens: 200_000,
    pointTokens: null,
    trouble: null,
    ...changes,
  }
}

export function sampleNotice(noticeId: string, changes: Partial<NoticeRecord> = {}): NoticeRecord {
  return {
    noticeId,
    kind: 'permission',
    state: 'waiting',
    target: { via: 'webhook', on: ['permission'], command: null, url: 'https://ü.example/x', everyMs: 30_000 },
    text: 'waits for your permission',
    name: 'shöp 4711',
    at: AT,
    dueAt: AT,
    claimedAt: null,
    tries: 0,
    crashed: false,
    trouble: null,
    subject: { agent: 'claude-code', project: '/home/ü/shöp', model: null, seat: null },
    sessionId: 's1',
    seatId: 'seat_1',
    jobId: null,
    terminal: null,
    data: { subagent: false, resets_at: null },
    ...changes,
  }
}
