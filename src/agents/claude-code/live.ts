import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reading } from '../../contract/reading.js'
import { lookAtNamedFile, readNamedText } from '../../lib/named-file.js'
import { asCount, asNumber, asObject, asText, parseObject } from './fields.js'
import type { ReportedLimits } from './limits.js'

/** The plugin module's last report about a session: the client's figures and compaction point. */
export interface LiveReport {
  reading: Reading
  told: ReportedLimits | null
  model: string | null
  costUsd: number | null
  /** The `file:` URL of the loaded plugin module's code. Null when not reported. */
  mod: string | null
  /** True when the plugin module reports which orders it has seen. */
  tellsSeen: boolean
}

/** The format of live reports that this version's plugin module writes. Others are ignored. */
export const LIVE_REPORT_FORMAT = 1
const LARGEST_REPORT = 64 * 1024
/** Tolerance between the clocks of the process table and the file system. */
const CLOCK_SLACK_MS = 2000

/**
 * Reads the plugin module's live report about a session.
 * Null when there is no report, the module was removed or abandoned, or the file is foreign.
 * Null also for a report by an earlier process of the session.
 */
export function readLiveReport(
  dir: string | null,
  sessionId: string,
  processStartedAtMs: number | null,
): LiveReport | null {
  const report = readReport(dir, sessionId, processStartedAtMs)
  return report === null || isAway(report) || isAbandoned(dir!, sessionId, report) ? null : report
}

/** Returns whether the session's plugin module was removed or abandoned. False when not known. */
export function isPluginModuleGone(dir: string, sessionId: string): boolean {
  const report = readReport(dir, sessionId, null)
  return report !== null && (isAway(report) || isAbandoned(dir, sessionId, report))
}

/**
 * Returns whether the session's plugin module reports which orders it has seen.
 * Old versions do not.
 */
export function reportsSeenOrders(dir: string, sessionId: string): boolean {
  return readReport(dir, sessionId, null)?.tellsSeen === true
}

/** Returns the name of the file that the plugin module writes about a session. */
export const liveReportFile = (sessionId: string): string => `${sessionId}.json`

/** Marks a plugin module that ignores orders (a crashed one) as gone until it reports again. */
export function markPluginModuleGone(dir: string, sessionId: string): void {
  const report = readReport(dir, sessionId, null)
  try {
    if (report !== null) writeFileSync(abandonedFile(dir, sessionId), String(report.reading.stamp), { mode: 0o600 })
  } catch {
    // Without the mark, the plugin module counts as gone when the order times out.
  }
}

function isAbandoned(dir: string, sessionId: string, { reading }: LiveReport): boolean {
  const stamp = readNamedText(abandonedFile(dir, sessionId), { owner: 'this-user', most: LARGEST_REPORT })
  return stamp !== null && Number(stamp) >= reading.stamp!
}

const abandonedFile = (dir: string, sessionId: string): string => join(dir, `${sessionId}.given-up`)

/**
 * Returns whether the file of the plugin module that wrote this report was deleted.
 * The running client unloads the module only with its next turn, and the report stays.
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
  const path = join(dir, liveReportFile(sessionId))
  const looked = lookAtNamedFile(path, 'this-user')
  if ('refused' in looked) return null
  if (processStartedAtMs !== null && looked.mtimeMs < processStartedAtMs - CLOCK_SLACK_MS) return null
  // The client does not write atomically, so an incomplete report is read a second time.
  const read = () => parseLiveReport(readNamedText(path, { owner: 'this-user', most: LARGEST_REPORT }) ?? '', sessionId)
  return read() ?? read()
}

export function parseLiveReport(json: string, sessionId: string): LiveReport | null {
  const report = parseObject(json)
  if (report === null || report.format !== LIVE_REPORT_FORMAT || report.session !== sessionId) return null
  const stamp = asNumber(report.at)
  if (stamp === null) return null
  // A module that has reported only a problem differs from a session without token figures.
  if (asText(report.problem) !== null && asCount(report.tokens) === null) return null
  const model = asText(report.model)
  const compaction = asObject(report.compaction)
  return {
    reading: {
      used: asCount(report.tokens) || null,
      usage: null,
      exact: true,
      model,
      source: 'mod',
      answerId: null,
      stamp,
    },
    told: compaction && {
      window: asCount(report.window),
      effective: asCount(compaction.effective),
      threshold: asCount(compaction.threshold),
      enabled: compaction.enabled !== false,
      by: asText(compaction.by),
    },
    model,
    costUsd: asNumber(report.cost),
    mod: asText(report.mod),
    tellsSeen: report.seen === true,
  }
}
