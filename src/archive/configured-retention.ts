import type { ArchiveRecord } from '../contract/archive.js'
import type { Policy } from '../contract/policy.js'
import type { Retention } from './choose-to-drop.js'

type Rules = Pick<Policy['archive'], 'keepDays' | 'keepBytes'>

export interface Round {
  among(record: ArchiveRecord): boolean
  retention: Retention
}

const DAY_MS = 24 * 3_600_000

/**
 * What the configuration drops by itself, round by round: for each project what is too old, and what is too much where its own file says so;
 * then what is too much in all. [] : it keeps everything.
 */
export function configuredRounds(
  records: readonly ArchiveRecord[],
  rulesOf: (project: string | null) => Rules,
  now: Date,
): Round[] {
  const everywhere = rulesOf(null)
  const projects = [...new Set(records.map(({ project }) => project))]
  const rounds = projects.flatMap((project): Round[] => {
    const { keepDays, keepBytes } = project === null ? everywhere : rulesOf(project)
    const retention = {
      olderThan: keepDays === null ? null : new Date(now.getTime() - keepDays * DAY_MS).toISOString(),
      mostBytes: keepBytes === everywhere.keepBytes ? null : keepBytes,
    }
    const says = retention.olderThan !== null || retention.mostBytes !== null
    return says ? [{ among: (record) => record.project === project, retention }] : []
  })
  const most = everywhere.keepBytes
  return most === null ? rounds : [...rounds, { among: () => true, retention: { olderThan: null, mostBytes: most } }]
}
