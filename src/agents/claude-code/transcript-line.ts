import type { FailedCompaction } from '../../contract/signal.js'
import { asCount, asList, asObject, asText, type Fields, parseObject } from './fields.js'
import { modelFamilyOf, requestsLargeWindow } from './models.js'
import { type MeasuredUsage, measureUsage } from './usage.js'

/** The measurable content of one line of a transcript. */
export type TranscriptLine =
  | {
      type: 'answer'
      id: string | null
      model: string | null
      measured: MeasuredUsage
      branch: string | null
      at: number | null
      /** Ids of the tools that this line calls. */
      calls: string[]
      /** The session from which this line was copied when the conversation was branched. */
      copiedFrom: string | null
    }
  | {
      type: 'compaction'
      trigger: 'auto' | 'manual'
      before: number | null
      after: number | null
      durationMs: number | null
      branch: string | null
    }
  /** The turn ended because the API or the client refused the prompt as too long. */
  | { type: 'refusal' }
  | { type: 'gave-up'; how: FailedCompaction }
  /**
   * The conversation's title, by the user (`named`) or the client.
   * The client writes the title several times, and the last one counts.
   */
  | { type: 'title'; text: string; by: 'client' | 'named' }

const USAGE = Buffer.from('"usage":')
const BOUNDARY = Buffer.from('"compact_boundary"')
const COMMAND = Buffer.from('"commandOutcome":')
const INTERRUPTED = Buffer.from('"interruptedMessageId":')
const NAMED = Buffer.from('"custom-title"')
const TITLED = Buffer.from('"ai-title"')
/**
 * Maximum length of a line that is searched for a title, because such a line holds nothing else.
 */
const LONGEST_TITLE = 2_000

/**
 * Returns whether a line may contain a measurement, so that it is worth parsing.
 * Quotes inside strings are escaped, so text that mentions the searched keys does not match.
 */
export function mayHoldMeasurement(buffer: Buffer, start: number, end: number): boolean {
  if (end - start <= LONGEST_TITLE && (holds(buffer, NAMED, start, end) || holds(buffer, TITLED, start, end)))
    return true
  return [USAGE, BOUNDARY, COMMAND, INTERRUPTED].some((marker) => holds(buffer, marker, start, end))
}

function holds(buffer: Buffer, marker: Buffer, start: number, end: number): boolean {
  return buffer.subarray(start, end).includes(marker)
}

/**
 * Parses a line of a transcript.
 * Null for other line types, API errors, synthetic answers, the other chain and invalid JSON.
 */
export function readTranscriptLine(json: string, chain: 'main' | 'subagent'): TranscriptLine | null {
  const entry = parseObject(json)
  if (entry === null) return null
  if (chain === 'main' && entry.isSidechain === true) return null
  if (entry.type === 'system' && entry.subtype === 'compact_boundary') return compaction(entry)
  if (entry.type === 'system' && entry.subtype === 'local_command') return command(entry)
  if (entry.type === 'user' && asText(entry.interruptedMessageId) !== null) return { type: 'gave-up', how: 'failed' }
  if (entry.type === 'custom-title') return title(entry.customTitle, 'named')
  if (entry.type === 'ai-title') return title(entry.aiTitle, 'client')
  if (entry.type !== 'assistant') return null
  const message = asObject(entry.message)
  if (entry.apiError === 'autocompact_thrashing') return { type: 'gave-up', how: 'thrashing' }
  if (entry.isApiErrorMessage === true) return isTooLong(entry, message) ? { type: 'refusal' } : null
  if (message === null || message.model === '<synthetic>') return null
  const measured = measureUsage(message.usage)
  if (measured === null || measured.used === null) return null
  return {
    type: 'answer',
    id: asText(message.id) ?? asText(entry.requestId) ?? asText(entry.uuid),
    model: modelOf(entry, message),
    measured,
    branch: branchOf(entry),
    at: moment(entry.timestamp),
    calls: callsOf(message),
    copiedFrom: asText(asObject(entry.forkedFrom)?.sessionId),
  }
}

function title(value: unknown, by: 'client' | 'named'): TranscriptLine | null {
  const named = asText(value)
  return named === null ? null : { type: 'title', text: named, by }
}

function callsOf(message: Fields): string[] {
  return asList(message.content).flatMap((block) => {
    const fields = asObject(block)
    return fields?.type === 'tool_use' ? (asText(fields.id) ?? []) : []
  })
}

/** Returns the model's name with `[1m]`. Only the requested name has it, not the API's. */
function modelOf(entry: Fields, message: Fields): string | null {
  const answered = asText(message.model)
  const asked = asText(entry.requestedModel)
  if (answered === null || asked === null) return answered
  return requestsLargeWindow(asked) &&
    !requestsLargeWindow(answered) &&
    modelFamilyOf(asked) === modelFamilyOf(answered)
    ? `${answered}[1m]`
    : answered
}

function compaction(entry: Fields): TranscriptLine {
  const meta = asObject(entry.compactMetadata)
  return {
    type: 'compaction',
    trigger: meta?.trigger === 'manual' ? 'manual' : 'auto',
    before: asCount(meta?.preTokens),
    after: asCount(meta?.postTokens),
    durationMs: asCount(meta?.durationMs),
    branch: branchOf(entry),
  }
}

/** Returns a failed /compact. Only a manual compaction that fails is written to the transcript. */
function command(entry: Fields): TranscriptLine | null {
  const failed = asObject(entry.commandOutcome)?.kind === 'failed'
  if (!failed || asObject(entry.commandRun)?.command !== 'compact') return null
  return {
    type: 'gave-up',
    how: /blocked by PreCompact hook/i.test(asText(entry.content) ?? '') ? 'blocked' : 'failed',
  }
}

function isTooLong(entry: Fields, message: Fields | null): boolean {
  const said = asList(message?.content).map((block) => asText(asObject(block)?.text) ?? '')
  return [asText(entry.errorDetails) ?? '', ...said].some((words) => /prompt is too long/i.test(words))
}

function branchOf(entry: Fields): string | null {
  const branch = asText(entry.gitBranch)
  return branch === 'HEAD' ? null : branch
}

function moment(value: unknown): number | null {
  const at = Date.parse(asText(value) ?? '')
  return Number.isNaN(at) ? null : at
}
