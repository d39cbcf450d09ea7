import type { Policy } from '../../contract/policy.js'
import type { SessionRecord } from '../../contract/record.js'
import { explainSettings, NO_SESSION } from '../../engine/explain-settings.js'
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

/** Which levels apply to a session, where they stand, and which line of which file says so. */
export function explain(call: Call, cli: Cli, named: string | null): Promise<number> {
  return inHouse(cli, (house) => {
    const { record, because: subject } = subjectOf(house, cli, named)
    const project = record ? record.project : cli.cwd
    const switchedAs = record ? project : projectOf(house, cli.cwd).project
    const settings = explainSettings(house.engine.parts, { record, project, switchedAs })
    if (call.json) {
      cli.print(JSON.stringify(settings))
      return EXIT.done
    }
    const seat = record ? (house.store.seat(record.seatId)?.name ?? record.seatId) : null
    const { policy } = house.policyOf({ agent: record?.agent ?? 'claude-code', project, model: record?.model ?? null, seat })
    const limits = record?.track.limits ?? NO_SESSION
    const { paint, columns } = cli.screen
    const off = settings.enabled ? '' : ': it measures and says nothing'
    const lines = [
      paint(subject, 'bold'),
      ...wrap(limitsLine(limits, record !== null), columns, 0),
      `Baton is ${settings.enabled ? 'on' : 'off'} (${because(settings)})${off}.`,
      ...(settings.errors.length > 0
        ? [paint('The files have errors, so the last good configuration is in force: baton config check.', 'red')]
        : []),
      ...wrap(compactionText(policy), columns, 0),
      ...wrap(handoffText(policy.handoff), columns, 0),
      ...wrap(archiveText(policy.archive), columns, 0),
      '',
      ...levelTable(resolveLevels(policy.levels, limits), limits, cli.screen),
    ]
    cli.print(lines.join('\n'))
    return EXIT.done
  })
}

const because = ({ enabled, enabled_by: by }: { enabled: boolean; enabled_by: string }): string =>
  by !== 'configuration' ? by : enabled ? 'nothing turns it off' : 'enabled: false in the configuration'

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
