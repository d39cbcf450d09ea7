import type { Gone } from '../../contract/api/live.js'
import type { Event } from '../../contract/records/event.js'

/** Returns the stream message of an event. JSON has no line ends, so one `data:` line holds it. */
export const eventFrame = (event: Event, withId: boolean): string =>
  `${withId ? `id: ${event.id}\n` : ''}data: ${JSON.stringify(event)}\n\n`

export type RowKind = Gone['kind']

export const rowFrame = (kind: RowKind, json: string): string => `event: ${kind}\ndata: ${json}\n\n`

export const goneFrame = (kind: RowKind, id: string): string =>
  `event: gone\ndata: ${JSON.stringify({ kind, id } satisfies Gone)}\n\n`

/**
 * Returns the stream message that events were skipped.
 * Its id makes the client resume after the newest event.
 */
export const gapFrame = (lastEventId: number): string =>
  `id: ${lastEventId}\nevent: gap\ndata: ${JSON.stringify({ last_event_id: lastEventId })}\n\n`

export const HEARTBEAT_FRAME = ': \n\n'
export const RETRY_FRAME = 'retry: 1000\n\n'
