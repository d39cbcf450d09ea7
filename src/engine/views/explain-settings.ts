import { DEFAULT_AGENT } from '../../contract/agent-ids.js'
import type { Settings } from '../../contract/api/settings.js'
import type { Limits } from '../../contract/reading.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { resolveLevels } from '../../policy/levels.js'
import type { Store } from '../../store/store.js'
import type { EngineDependencies } from '../context.js'

export const NO_SESSION: Limits = {
  window: null,
  point: null,
  mode: 'proactive',
  exact: false,
  reason: 'no session to measure',
}

interface Subject {
  /** The session to explain. Null to explain the settings of a new session in the project. */
  record: SessionRecord | null
  project: string | null
  /** The project's path as `baton off --project` stored it with its switch. */
  switchedAs: string | null
}

/**
 * Returns the settings of a session, or of a new one in a project, with the source of each level.
 */
export function explainSettings(
  { store, policyOf }: Pick<EngineDependencies, 'store' | 'policyOf'>,
  subject: Subject,
): Omit<Settings, 'files'> {
  const { record, project } = subject
  const seat = record ? (store.seat(record.seatId)?.name ?? record.seatId) : null
  const {
    policy,
    problems,
    project: file,
  } = policyOf({
    agent: record?.agent ?? DEFAULT_AGENT,
    project,
    model: record?.model ?? null,
    seat,
  })
  const limits = record?.track.limits ?? NO_SESSION
  const { handoff, guards, archive } = policy
  return {
    levels: resolveLevels(policy.levels, limits).map(({ name, atTokens, rule, from, reachable, actions, mode }) => ({
      name,
      at_tokens: atTokens,
      rule,
      from,
      reachable,
      actions: [...actions],
      mode,
    })),
    session_id: record?.sessionId ?? null,
    project,
    model: record?.model ?? null,
    window_tokens: limits.window,
    compaction_tokens: limits.point,
    compaction_mode: record ? limits.mode : null,
    exact: limits.exact,
    limits_reason: limits.reason,
    ...switchFor(store, subject, policy.enabled),
    compaction: policy.compaction,
    must_survive: [...policy.mustSurvive],
    handoff: {
      mode: handoff.mode,
      large_window: handoff.largeWindow,
      review_seconds: handoff.reviewSeconds,
      bar: handoff.bar,
      fork: handoff.fork,
    },
    guards: {
      min_new_tokens: guards.minNewTokens,
      max_unattended_per_hour: guards.maxUnattendedPerHour,
      cooldown_seconds: guards.cooldownSeconds,
      breaker_after: guards.breakerAfter,
    },
    archive: {
      enabled: archive.enabled,
      at: [...archive.at],
      keep_days: archive.keepDays,
      keep_bytes: archive.keepBytes,
    },
    project_file: file,
    errors: problems,
  }
}

/** Returns the switch that decides: the narrowest one, then the configuration. */
function switchFor(
  store: Store,
  { record, switchedAs }: Subject,
  configured: boolean,
): { enabled: boolean; enabled_by: string } {
  const command = (enabled: boolean): string => (enabled ? 'baton on' : 'baton off')
  const own = record ? store.switchState('session', record.sessionId) : null
  if (own !== null) return { enabled: own, enabled_by: `${command(own)} for this session` }
  const here = switchedAs === null ? null : store.switchState('project', switchedAs)
  if (here !== null) return { enabled: here, enabled_by: `${command(here)} --project` }
  const all = store.switchState('all', '')
  if (all !== null) return { enabled: all, enabled_by: `${command(all)} --all` }
  return { enabled: configured, enabled_by: 'configuration' }
}
