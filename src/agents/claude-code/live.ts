import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reading } from '../../contract/reading.js'
import { lookAtNamedFile, readNamedText } from '../../lib/named-file.js'
import { count, number, object, parseObject, text } from './fields.js'
import type { ToldLimits } from './limits.js'

/** What the mod last wrote about a session: the client's own figures, window and compaction point. */
export interface LiveReport {
  reading: Reading
  told: ToldLimits | null
  model: string | null
  costUsd: number | null
  /** The mod's program, an address; null: not told. */
  mod: string | null
  /** It tells which orders it has seen. */
  tellsSeen: boolean
}

/** The one format the mod of this version writes; another is left alone. */
export const LIVE_FORMAT = 1
const LARGEST_REPORT = 64 * 1024
/** Slack between the clock of the process table and that of the file system. */
const CLOCK_SLACK_MS = 2000

/** null: no mod, one that was taken away or given up, a foreign file, or a report left by an earlier process of the same session. */
export function readLive(dir: string | null, sessionId: string, processStartedAtMs: number | null): LiveReport | null {
  const report = readReport(dir, sessionId, processStartedAtMs)
  return report === null || isAway(report) || isGivenUp(dir!, sessionId, report) ? null : report
}

/** The mod that reported on this session lies there no more, or was given up. False also where nothing can be read. */
export function isModAway(dir: string, sessionId: string): boolean {
  const report = readReport(dir, sessionId, null)
  return report !== null && (isAway(report) || isGivenUp(dir, sessionId, report))
}

/** Whether the mod of this session tells which orders it has seen; one of an earlier version does not. */
export function tellsSeen(dir: string, sessionId: string): boolean {
  return readReport(dir, sessionId, null)?.tellsSeen === true
}

/** It overlooks what it is told, such as one that crashed while its files stay: it counts as gone until it reports again. */
export function giveUpMod(dir: string, sessionId: string): void {
  const report = readReport(dir, sessionId, null)
  try {
    if (report !== null) writeFileSync(givenUpFile(dir, sessionId), String(report.reading.stamp), { mode: 0o600 })
  } catch {
    // then it counts as gone when the order's own time is over
  }
}

function isGivenUp(dir: string, sessionId: string, { reading }: LiveReport): boolean {
  const stamp = readNamedText(givenUpFile(dir, sessionId), { owner: 'this-user', most: LARGEST_REPORT })
  return stamp !== null && Number(stamp) >= reading.stamp!
}

const givenUpFile = (dir: string, sessionId: string): string => join(dir, `${sessionId}.given-up`)

/** A client unloads a mod whose files are gone, now or with its next turn; what it reported before stays behind. */
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
  // The client writes in place: a report read while it is written is torn, and whole a moment
  // later.
  const read = () => parseLive(readNamedText(path, { owner: 'this-user', most: LARGEST_REPORT }) ?? '', sessionId)
  return read() ?? read()
}

export function parseLive(json: string, sessionId: string): LiveReport | null {
  const report = parseObject(json)
  if (report === null || report.format !== LIVE_FORMAT || report.session !== sessionId) return null
  const stamp = number(report.at)
  if (stamp === null) return null
  // A mod that only failed so far knows nothing, which is not the same as a session without a figure.
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
