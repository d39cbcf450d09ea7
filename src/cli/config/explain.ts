import type { ResolvedLevel } from '../../contract/level.js'
import type { Limits } from '../../contract/reading.js'
import type { SessionRecord } from '../../contract/record.js'
import type { House } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import { resolveLevels } from '../../policy/levels.js'
import { grouped } from '../../policy/numbers.js'
import type { Call, Cli } from '../command.js'
import { inHouse, sessionNamed } from '../open-house.js'
import { projectOf } from '../project-of.js'
import { tilde } from '../render/paths.js'
import { type Column, table } from '../render/table.js'
import { harmless } from '../render/width.js'

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
          errors: problems,
        }),
      )
      return EXIT.done
    }
    const { paint, columns } = cli.screen
    cli.print(
      [
        `${paint(because, 'bold')}`,
        limitsLine(limits, record),
        enabled.enabled
          ? `Baton is on (${enabled.enabled_by}).`
          : `Baton is off (${enabled.enabled_by}): it measures and says nothing.`,
        ...(problems.length > 0
          ? [paint('The files have errors, so the last good configuration is in force: baton config check.', 'red')]
          : []),
        '',
        ...(levels.length > 0 ? table(levels, levelColumns(cli), columns, paint) : ['There are no levels.']),
        ...unplaced(levels, limits),
      ].join('\n'),
    )
    return EXIT.done
  })
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

function limitsLine(limits: Limits, record: SessionRecord | null): string {
  if (limits.point === null) {
    return record
      ? 'Its window is not known yet: levels in percent cannot be placed.'
      : 'No session was seen here: levels in percent get their place when one is measured.'
  }
  const end = limits.mode === 'off' ? 'Refusal point' : 'Compaction point'
  const window = limits.window === null ? '' : `, window ${grouped(limits.window)}`
  return `${end} ${limits.exact ? '' : 'about '}${grouped(limits.point)}${window} (${harmless(limits.reason)}${limits.mode === 'reactive' ? '; compacts only when the API refuses' : ''}).`
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

function levelColumns(cli: Cli): Column<ResolvedLevel>[] {
  return [
    { title: 'LEVEL', dropAt: 0, cell: (level) => harmless(level.name) },
    { title: 'AT', dropAt: 0, align: 'right', cell: (level) => (level.atTokens === null ? '–' : grouped(level.atTokens)) },
    { title: 'RULE', dropAt: 0, cell: (level) => harmless(level.rule) },
    {
      title: 'DOES',
      dropAt: 2,
      shrinkTo: 12,
      cell: (level) => harmless(level.actions.length === 0 ? 'timeline only' : level.actions.join(', ')),
    },
    { title: 'TELLS', dropAt: 3, cell: (level) => (level.actions.length === 0 ? '' : level.mode) },
    { title: 'WRITTEN IN', dropAt: 1, shrinkTo: 16, cutFrom: 'start', cell: (level) => harmless(level.from) },
    {
      title: '',
      dropAt: 4,
      cell: (level) => (level.reachable || level.atTokens === null ? '' : cli.screen.paint('unreachable', 'yellow')),
    },
  ]
}

function unplaced(levels: readonly ResolvedLevel[], limits: Limits): string[] {
  const beyond = levels.filter((level) => level.atTokens !== null && !level.reachable).map((level) => level.name)
  if (beyond.length === 0) return []
  const end = limits.mode === 'off' ? 'refuses' : 'compacts'
  return ['', `Unreachable, because the agent ${end} first (at ${grouped(limits.point ?? 0)}): ${harmless(beyond.join(', '))}.`]
}
