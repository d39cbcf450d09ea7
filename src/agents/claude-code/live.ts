import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reading } from '../../contract/reading.js'
import { lookAtNamedFile, readNamedText } from '../../lib/named-file.js'
import { count, number, object, parseObject, text } from './fields.js'
import type { ReportedLimits } from './limits.js'

/** The plugin module's last report about a session: the client's figures and compaction point. */
export interface LiveReport {
  reading: Reading
  told: ReportedLimits | null
  model: string | null
  costUsd: number | null
  /** URL of the module's program. Null when not reported. */
  mod: string | null
  /** True when the module reports which orders it has seen. */
  tellsSeen: boolean
}

/** The format that this version's module writes. Other formats are ignored. */
export const LIVE_FORMAT = 1
const LARGEST_REPORT = 64 * 1024
/** Tolerance between the clocks of the process table and the file system. */
const CLOCK_SLACK_MS = 2000

/**
 * Reads the live report.
 * Null without a module, when it was removed or abandoned, for a foreign file, and for a report by
 * an earlier process of the session.
 */
export function readLive(dir: string | null, sessionId: string, processStartedAtMs: number | null): LiveReport | null {
  const report = readReport(dir, sessionId, processStartedAtMs)
  return report === null || isAway(report) || isAbandoned(dir!, sessionId, report) ? null : report
}

/**
 * Returns whether the session's module was removed or abandoned. False when nothing can be read.
 */
export function isModGone(dir: string, sessionId: string): boolean {
  const report = readReport(dir, sessionId, null)
  return report !== null && (isAway(report) || isAbandoned(dir, sessionId, report))
}

/**
 * Returns whether the session's module reports which orders it has seen. Earlier versions do not.
 */
export function tellsSeen(dir: string, sessionId: string): boolean {
  return readReport(dir, sessionId, null)?.tellsSeen === true
}

/** Marks a module that ignores orders as gone until it reports again, such as a crashed one. */
export function abandonMod(dir: string, sessionId: string): void {
  const report = readReport(dir, sessionId, null)
  try {
    if (report !== null) writeFileSync(abandonedFile(dir, sessionId), String(report.reading.stamp), { mode: 0o600 })
  } catch {
    // Without the mark, the module counts as gone when the order times out.
  }
}

function isAbandoned(dir: string, sessionId: string, { reading }: LiveReport): boolean {
  const stamp = readNamedText(abandonedFile(dir, sessionId), { owner: 'this-user', most: LARGEST_REPORT })
  return stamp !== null && Number(stamp) >= reading.stamp!
}

const abandonedFile = (dir: string, sessionId: string): string => join(dir, `${sessionId}.given-up`)

/**
 * Returns whether the module's files are gone.
 * The client then unloads it, at the latest with its next turn, but its last report stays.
 */
function isAway({ mod }: LiveReport): boolean {
  try {
    return mod !== null && !existsSync(fileURLToPath(mod))
  } catch {
    return false
  }
}

function readReport(dir: string | null, sessionId: string, processStartedAtMs: number | null): LiveReport | null {
  if (dir === null || dir === '' || !/^[\w-]+$/.test(sessionId)) return null
  const path = join(dir, `${sessionId}.json`)
  const looked = lookAtNamedFile(path, 'this-user')
  if ('refused' in looked) return null
  if (processStartedAtMs !== null && looked.mtimeMs < processStartedAtMs - CLOCK_SLACK_MS) return null
  // The client writes in place, so a report that is incomplete is read a second time.
  const read = () => parseLive(readNamedText(path, { owner: 'this-user', most: LARGEST_REPORT }) ?? '', sessionId)
  return read() ?? read()
}

export function parseLive(json: string, sessionId: string): LiveReport | null {
  const report = parseObject(json)
  if (report === null || report.format !== LIVE_FORMAT || report.session !== sessionId) return null
  const stamp = number(report.at)
  if (stamp === null) return null
  // A module that has only failed knows nothing, which differs from a session without a figure.
  if (text(report.problem) !== null && count(report.tokens) === null) return null
  const model = text(report.model)
  const compaction = object(report.compaction)
  return {
    reading: {
      used: count(report.tokens) || null,
      usage: null,
      exact: true,
      model,
      source: 'mod',
      answerId: null,
      stamp,
    },
    told: compaction && {
      window: count(report.window),
      effective: count(compaction.effective),
      threshold: count(compaction.threshold),
      enabled: compaction.enabled !== false,
      by: text(compaction.by),
    },
    model,
    costUsd: number(report.cost),
    mod: text(report.mod),
    tellsSeen: report.seen === true,
  }
}
