/** An enabled session without a reading raises an alarm after this much activity. */
const SILENT_TOOL_CALLS = 20
export const SILENT_MS = 10 * 60_000

export function isSilent(silence: { toolCalls: number; since: string; alarmed: boolean }, now: Date): boolean {
  if (silence.alarmed || silence.toolCalls === 0) return false
  return silence.toolCalls >= SILENT_TOOL_CALLS || now.getTime() - Date.parse(silence.since) >= SILENT_MS
}
