import type { Policy } from '../../contract/policy.js'
import type { Limits } from '../../contract/reading.js'
import type { SessionRecord } from '../../contract/record.js'
import type { House } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import { resolveLevels } from '../../policy/levels.js'
import type { Call, Cli } from '../command.js'
import { inHouse, sessionNamed } from '../open-house.js'
import { projectOf } from '../project-of.js'
import { bytesText } from '../render/bytes.js'
import { levelTable, limitsLine } from '../render/level-table.js'
import { tilde } from '../render/paths.js'
import { harmless } from '../render/width.js'
import { wrap } from '../render/wrap.js'

const UNKNOWN: Limits = { window: null, point: null, mode: 'proactive', exact: false, reason: 'no session to measure' }

/** Which levels apply to a session, where they stand, and which line of which file says so. */
export function explain(call: Call, cli: Cli, named: string | null): Promise<number> {
  return inHouse(cli, (house) => {
    const { record, because } = subjectOf(house, cli, named)
    const project = record ? record.project : cli.cwd
    const seat = record ? (house.store.seat(record.seatId)?.name ?? record.seatId) : null
    const { policy, problems } = house.policyOf({
      agent: record?.agent ?? 'claude-code',
      project,
      model: record?.model ?? null,
      seat,
    })
    const limits = record?.track.limits ?? UNKNOWN
    const levels = resolveLevels(policy.levels, limits)
    const enabled = switchFor(house, record, record ? project : projectOf(house, cli.cwd).project, policy.enabled)
    if (call.json) {
      const shown = levels.map(({ name, atTokens, rule, from, reachable, actions, mode }) => ({
        name,
        at_tokens: atTokens,
        rule,
        from,
        reachable,
        actions,
        mode,
      }))
      cli.print(
        JSON.stringify({
          levels: shown,
          session_id: record?.sessionId ?? null,
          project,
          model: record?.model ?? null,
          window_tokens: limits.window,
          compaction_tokens: limits.point,
          compaction_mode: record ? limits.mode : null,
          exact: limits.exact,
          limits_reason: limits.reason,
          ...enabled,
          compaction: policy.compaction,
          must_survive: policy.mustSurvive,
          handoff: { mode: policy.handoff.mode, review_seconds: policy.handoff.reviewSeconds },
          archive: {
            enabled: policy.archive.enabled,
            at: policy.archive.at,
            keep_days: policy.archive.keepDays,
            keep_bytes: policy.archive.keepBytes,
          },
          errors: problems,
        }),
      )
      return EXIT.done
    }
    const { paint, columns } = cli.screen
    const off = enabled.enabled ? '' : ': it measures and says nothing'
    const lines = [
      paint(because, 'bold'),
      ...wrap(limitsLine(limits, record !== null), columns, 0),
      `Baton is ${enabled.enabled ? 'on' : 'off'} (${enabled.enabled_by})${off}.`,
      ...(problems.length > 0
        ? [paint('The files have errors, so the last good configuration is in force: baton config check.', 'red')]
        : []),
      ...wrap(compactionText(policy), columns, 0),
      ...wrap(handoffText(policy.handoff), columns, 0),
      ...wrap(archiveText(policy.archive), columns, 0),
      '',
      ...levelTable(levels, limits, cli.screen),
    ]
    cli.print(lines.join('\n'))
    return EXIT.done
  })
}

function compactionText({ compaction, mustSurvive }: Policy): string {
  const texts = mustSurvive.length === 0 ? '' : `; must survive: ${mustSurvive.map((text) => `“${harmless(text)}”`).join(', ')}`
  if (compaction === 'allow')
    return `Compactions are left alone (compaction: allow)${texts === '' ? '' : `${texts}, which nobody is told`}.`
  const told = `hat must survive is told to the summariser (compaction: ${compaction})${texts}.`
  return compaction === 'instruct'
    ? `W${told}`
    : `A compaction is kept from coming about where a handoff can follow; elsewhere w${told}`
}

const MODES = {
  auto: 'The agent is asked for its brief and a fresh session goes on from it',
  ask: 'You are told when it is time for a handoff, and /handoff begins it',
  off: 'No level begins a handoff',
}

function handoffText({ mode, reviewSeconds }: Policy['handoff']): string {
  const review =
    reviewSeconds === 0
      ? 'without a review'
      : reviewSeconds === 'approval'
        ? 'once somebody approves it'
        : `${reviewSeconds} s after it is ready unless somebody objects`
  return `${MODES[mode]} (handoff.mode: ${mode}); a brief is used ${review} (handoff.review_seconds: ${reviewSeconds}).`
}

function archiveText({ enabled, at, keepDays, keepBytes }: Policy['archive']): string {
  if (!enabled) return 'Transcripts are not kept (archive.enabled: false).'
  const least = [
    ...(keepDays === null ? [] : [`${keepDays} days`]),
    ...(keepBytes === null ? [] : [`at most ${bytesText(keepBytes)} in all`]),
  ]
  return `Transcripts are kept at ${at.join(', ')}: ${least.length === 0 ? 'until you prune or forget them' : least.join(', ')}.`
}

function subjectOf(house: House, cli: Cli, named: string | null): { record: SessionRecord | null; because: string } {
  const title = (record: SessionRecord, why: string): string =>
    `Session ${record.sessionId.slice(0, 8)}${why}: ${harmless(record.model ?? 'model not known')} in ${record.project === null ? '–' : tilde(record.project, cli.env.HOME)}`
  if (named !== null) {
    const record = sessionNamed(house, named)
    return { record, because: title(record, '') }
  }
  const own = cli.env.CLAUDE_CODE_SESSION_ID ? house.store.session(cli.env.CLAUDE_CODE_SESSION_ID) : null
  if (own) return { record: own, because: title(own, ' (this one)') }
  const { spellings } = projectOf(house, cli.cwd)
  const here = house.store.sessions().filter(({ project }) => project !== null && spellings.includes(project))
  const newest = here.find((record) => house.view(record).state !== 'ended') ?? here[0]
  if (newest) return { record: newest, because: title(newest, ' (the newest here)') }
  return { record: null, because: `A new session in ${tilde(cli.cwd, cli.env.HOME)}` }
}

/** The nearest switch decides, then the configuration. */
function switchFor(
  house: House,
  record: SessionRecord | null,
  project: string | null,
  configured: boolean,
): { enabled: boolean; enabled_by: string } {
  const command = (enabled: boolean): string => (enabled ? 'baton on' : 'baton off')
  const own = record ? house.store.switched('session', record.sessionId) : null
  if (own !== null) return { enabled: own, enabled_by: `${command(own)} for this session` }
  const here = project === null ? null : house.store.switched('project', project)
  if (here !== null) return { enabled: here, enabled_by: `${command(here)} --project` }
  const all = house.store.switched('all', '')
  if (all !== null) return { enabled: all, enabled_by: `${command(all)} --all` }
  return { enabled: configured, enabled_by: 'configuration' }
}
