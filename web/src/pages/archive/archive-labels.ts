import type { ArchiveView, HitView } from '../../../../src/contract/api/archives.js'

/** Why a transcript was archived. A test compares these texts with those of the command line. */
export const TRIGGER_TEXTS: Record<ArchiveView['trigger'], string> = {
  auto: 'before a compaction',
  manual: 'before /compact',
  idle: 'before an idle compaction',
  handoff: 'at a handoff',
  'session-end': 'at the end of the session',
  sweep: 'after the session ended',
  import: 'by import',
  request: 'on request',
}

export const HIT_KIND_TEXTS: Record<HitView['kind'], string> = {
  prompt: 'Prompt',
  answer: 'Answer',
  command: 'Command',
  call: 'Call',
  result: 'Result',
  summary: 'Summary',
  other: 'Other',
}

/** Quotes an argument for a shell, if necessary. */
export const quoteForShell = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Short form of an archive id that `baton` accepts. Ids of another shape are not shortened. */
export const shortArchiveId = (id: string): string => (/^arc_[0-9a-f]{12,}$/.test(id) ? id.slice(0, 12) : id)

export function transcriptHref(id: string, at: { line?: number; subagent?: string | null; q?: string }): string {
  const parameters = new URLSearchParams()
  if (at.line !== undefined) parameters.set('line', String(at.line))
  if (at.subagent) parameters.set('subagent', at.subagent)
  if (at.q) parameters.set('q', at.q)
  const rest = parameters.toString()
  return `/archive/${encodeURIComponent(id)}${rest === '' ? '' : `?${rest}`}`
}
