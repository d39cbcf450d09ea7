import type { ArchiveTrigger } from '../contract/records/archive.js'

const TEXTS: Record<ArchiveTrigger, string> = {
  auto: 'before a compaction',
  manual: 'before /compact',
  idle: 'before an idle compaction',
  handoff: 'at a handoff',
  'session-end': 'at the end of the session',
  sweep: 'after the session ended',
  import: 'by import',
  request: 'on request',
}

/**
 * Returns when a transcript was archived, in words; a trigger of a newer Baton as it is written.
 */
export function archiveTriggerText(trigger: string): string {
  return Object.hasOwn(TEXTS, trigger) ? TEXTS[trigger as ArchiveTrigger] : trigger
}
