import { join } from 'node:path'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { Event } from '../../contract/records/event.js'
import type { CheckResult } from '../../contract/records/job.js'
import { DEMO_RULE } from '../../demo/demo-script.js'
import type { HandoffProof, JobProof, Summary } from '../../demo/demo-summary.js'
import { type DemoStory, isToAgent } from '../../demo/story.js'
import { findProgram } from '../../lib/find-program.js'
import { formatCount } from '../../lib/format-count.js'
import { formatTokens, percentText, shortenTokens } from '../../policy/numbers.js'
import type { Cli } from '../command.js'
import { scoreText } from './briefs.js'
import { fillBar } from './gauge.js'
import type { Paint } from './screen.js'
import { keptFactsText } from './session-page.js'
import { bytesText, wrap } from './text.js'

/** Returns a brief by its id. */
export type BriefLookup = (briefId: string) => BriefRecord | null

/**
 * Renders an event of a session. Null when the user need not see it.
 * `story` is the state before the event.
 * `isInstructed` returns true once the summariser was asked to keep the facts that must survive.
 */
export function sessionLine(
  story: DemoStory,
  { type, data }: Event,
  paint: Paint,
  briefs: BriefLookup,
  isInstructed: () => boolean,
): string | null {
  switch (type) {
    case 'session_started':
      return data.source === 'clear'
        ? `${paint('■', 'cyan')} the session is cleared, and a fresh one starts with the brief`
        : `${paint('●', 'bold')} a session of the real Claude Code starts, with Baton's hooks`
    case 'level_crossed': {
      const percent = percentText(data.compaction_percent as number)
      const place = `${formatTokens(data.used_tokens as number)} tokens, ${percent} full`
      return `${paint('▲', 'yellow')} ${paint(String(data.level).padEnd(9), 'bold')} reached at ${place}`
    }
    case 'message_delivered':
      return isToAgent(story, data) ? paint('  the agent was warned', 'dim') : null
    case 'compaction_start':
      return `${paint('■', 'cyan')} the client compacts the conversation`
    case 'archive_created':
      return `  ${paint('archived', 'green')}: ${bytesText(data.bytes as number)} of transcript, byte for byte`
    case 'loss_report':
      return lossLine(data, paint)
    case 'recovery_delivered': {
      const facts = formatCount(Number(data.facts), 'fact')
      const when = data.step === 1 ? 'with the next request' : 'that the summary lacks'
      return `  ${paint('told again', 'green')}: ${facts} ${when}`
    }
    case 'cycle_started': {
      if (data.reason !== 'compaction') return null
      const instructed = isInstructed() ? '; the summariser was told what must survive' : ''
      return `${paint('■', 'cyan')} compacted${instructed}. The levels are reset.`
    }
    case 'handoff_requested':
      return `${paint('◆', 'cyan')} the agent is asked for a handoff brief`
    case 'handoff_started':
      return briefLine(briefs(String(data.brief_id)), paint)
    case 'handoff_completed':
      return `${paint('●', 'bold')} the fresh session continues by itself`
    case 'session_ended':
      return data.reason === 'clear' ? null : `${paint('●', 'bold')} the session ends`
    default:
      return null
  }
}

/**
 * Renders an event of a job. Null when the user need not see it.
 * `story` is the state before the event.
 * Levels are left out, because a job hands off at its own threshold.
 */
export function jobLine(story: DemoStory, { type, data }: Event, paint: Paint, briefs: BriefLookup): string | null {
  switch (type) {
    case 'session_started': {
      const number = (story.session ?? 0) + 1
      const how = number === 1 ? 'starts with the task' : 'starts with the task and the brief'
      return `${paint('●', 'bold')} session ${number} ${how}`
    }
    case 'handoff_started':
      return (
        `${paint('◆', 'cyan')} ${formatTokens(Number(data.inputTokens))} tokens: Baton stops the ` +
        'session between two steps and asks for its brief'
      )
    case 'handoff_completed':
      return briefLine(briefs(String(data.brief_id)), paint)
    case 'job_completed':
      return `${paint('●', 'bold')} the job is ${paint('completed', 'green')}: its checks passed`
    case 'job_failed':
      return `${paint('●', 'bold')} the job ${paint('failed', 'red')}: ${data.detail}`
    default:
      return null
  }
}

function lossLine(data: Record<string, unknown>, paint: Paint): string {
  const lost = data.lost as { kind: string; text: string }[]
  const worst = lost.find(({ kind }) => kind === 'constraint') ?? lost[0]
  const figure = keptFactsText({ kept: data.facts_kept as number, total: data.facts as number })
  return `  ${paint(figure, 'yellow')}${worst ? `; the summary lacks “${worst.text}”` : ''}`
}

function briefLine(brief: BriefRecord | null, paint: Paint): string | null {
  if (brief === null || brief.coverage === null) return null
  const { missing } = brief.coverage
  const worst = missing[0]
  const added = worst ? `; Baton adds the missing “${worst.text}”` : ''
  return `  ${paint('checked', 'green')}: the brief covers ${scoreText(brief.coverage)} of what happened${added}`
}

/** Renders the gauge in its current state. */
export function gaugeLine(story: DemoStory, paint: Paint): string {
  const figure = story.used === null ? '– ' : `${percentText(story.percent ?? 0)} `
  const tokens =
    story.used === null
      ? ''
      : `${shortenTokens(story.used)} of ${story.exact ? '' : '~'}${shortenTokens(story.point ?? 0)}`
  const place = story.session === null ? `cycle ${story.cycle}` : `session ${Math.max(1, story.session)}`
  return `${fillBar(story.percent, 30, paint)} ${figure}${paint(tokens, 'dim')}${paint(`  ${place}`, 'dim')}`
}

/** Renders the results of a round of checks in order. */
export function checkLines(checks: readonly CheckResult[], round: number, paint: Paint): string[] {
  const these = checks.filter((one) => one.round === round)
  if (these.length === 0) return []
  const bad = these.some(({ ok }) => !ok)
  return [
    `${paint('◆', 'cyan')} the agent says it is done; Baton runs the checks${round === 1 ? '' : ' again'}`,
    ...these.map(({ name, ok, exitCode }) =>
      ok
        ? `  ${paint('✓', 'green')} ${name}`
        : `  ${paint('✗', 'red')} ${name} ${paint(`(exit ${exitCode ?? '–'})`, 'dim')}`,
    ),
    ...(bad ? [`  ${paint('continues', 'yellow')}: the agent is told what failed, in the same session`] : []),
  ]
}

/** Renders the result of the demo: each claim with the request that proves it. */
export function reportLines(summary: Summary, columns: number, paint: Paint): string[] {
  const point =
    `compaction point ${formatTokens(summary.compaction_tokens ?? 0)} ` +
    `(${summary.exact ? 'reported by the client' : 'estimated'})`
  const lines = [
    `${summary.requests} requests of Claude Code ${summary.client ?? ''}, ${summary.readings} readings, ${point}`,
    ...summary.levels
      .filter((level) => level.told_in_request !== null)
      .map(
        (level) =>
          `cycle ${level.cycle}  ${level.name.padEnd(9)} at ${formatTokens(level.used_tokens).padStart(7)} tokens; ` +
          `the agent was warned in request ${level.told_in_request}`,
      ),
    `one warning per level and cycle; ${formatCount(summary.compactions, 'compaction')}`,
    ...summary.archives
      .filter(({ status }) => status === 'kept')
      .map(
        ({ bytes, archive_id: id }) =>
          `before the compaction: archived ${bytesText(bytes)} of transcript, verified and searchable (${id})`,
      ),
    ...summary.losses.map(
      ({ facts, facts_kept: kept, lost }) =>
        `after the compaction: ${keptFactsText({ kept, total: facts })}${
          lost[0]
            ? `; lost: ${lost
                .map(({ kind }) => kind)
                .filter(first)
                .join(', ')}`
            : ''
        }`,
    ),
    ...summary.recovered.map(
      ({ facts, in_request: at, copies }) =>
        `told again: ${formatCount(facts, 'fact')} in request ${at}, ${formatCount(copies, 'copy', 'copies')}`,
    ),
    ...(summary.rule_back ? [`so every later request contains “${DEMO_RULE}” again`] : []),
  ]
  const acts: [string, string[]][] = [
    ['1', lines],
    [
      '2',
      summary.handoff === null ? [`no handoff: ${summary.skipped ?? 'none happened'}`] : handoffLines(summary.handoff),
    ],
    ['3', summary.job === null ? ['no job was started'] : jobLines(summary.job)],
  ]
  const took = `, in ${Math.round(summary.duration_ms / 1000)} s`
  const title = `${summary.ok ? 'All steps happened' : 'Some steps are missing'}${took}`
  return [
    '',
    paint(title, summary.ok ? 'green' : 'red'),
    ...acts.flatMap(([number, told]) =>
      told.flatMap((line, index) => wrap(`${index === 0 ? paint(number, 'bold') : ' '}  ${line}`, columns, 5)),
    ),
    ...summary.missing.flatMap((one) => wrap(`  ${paint('✗', 'red')} ${one}`, columns, 4)),
    '',
    ...wrap(
      summary.ok
        ? `Next: run ${paint('baton install', 'bold')}, then use Claude Code as before. ` +
            `${paint('baton status', 'bold')} shows every session.`
        : `Next: run ${paint('baton demo', 'bold')} again when the machine is less busy. If it fails again, report ` +
            `the output of ${paint('baton demo --exit --json', 'bold')}.`,
      columns,
      0,
    ),
  ]
}

function handoffLines(it: HandoffProof): string[] {
  const tokens = (figure: number | null): string => (figure === null ? 'an unknown number of' : formatTokens(figure))
  const added = it.coverage?.missing.map(({ text }) => `“${text}”`) ?? []
  return [
    `at ${tokens(it.tokens_before)} tokens, Baton asked the agent for its brief (request ${it.asked_in_request})`,
    `the brief covers ${scoreText(it.coverage)} of what ` +
      `happened${added.length > 0 ? `; Baton added ${added.join(', ')}` : ''}`,
    `session ${it.old_session_id.slice(0, 8)} was cleared; session ${it.new_session_id?.slice(0, 8) ?? '–'} ` +
      `started with the brief, had ${tokens(it.tokens_after)} tokens after its first answer, and continued by itself`,
  ]
}

function jobLines(it: JobProof): string[] {
  const full = it.sessions.slice(0, -1).map(({ used_tokens: used }) => (used === null ? '–' : formatTokens(used)))
  const bad = it.checks.filter(({ ok }) => !ok).map(({ name }) => `“${name}”`)
  const rounds = Math.max(0, ...it.checks.map(({ round }) => round))
  return [
    `${formatCount(it.sessions.length, 'session')}, ${formatCount(it.handoffs, 'handoff')} (at ` +
      `${full.join(' and ')} tokens), ${formatCount(it.steps, 'step')}; each part was written once, in order`,
    'the first request of each fresh session contained the task and the checked brief',
    `checks: ${bad.join(', ')} failed first; request ${it.failure_in_request} told the agent why; all passed in ` +
      `round ${rounds}`,
  ]
}

const first = (one: string, index: number, all: string[]): boolean => all.indexOf(one) === index

/**
 * Returns the commands to try next in another terminal while the demo's home exists.
 * Lines are not broken or cut, so that they can be copied.
 */
export function nextCommands(
  env: Record<string, string>,
  { session_id: session, handoff, job }: Summary,
  cli: Cli,
): string[] {
  const { paint } = cli.screen
  const known = findProgram('baton', cli.env) !== null
  const commands: [string, string][] = [
    ['status --all', 'all sessions'],
    ...(session === null
      ? []
      : ([[`show ${session.slice(0, 8)}`, 'part 1: levels, archive, lost facts']] as [string, string][])),
    ...(handoff?.brief_id ? ([[`handoffs show ${handoff.brief_id}`, 'part 2: the brief']] as [string, string][]) : []),
    ...(job
      ? ([
          [`jobs show ${job.job_id}`, 'part 3: sessions and checks of the job'],
          [`jobs logs ${job.job_id}`, 'part 3: what the agent said and did'],
        ] as [string, string][])
      : []),
    ['open --port 0', 'all of it as a live web page'],
  ]
  const width = Math.max(...commands.map(([command]) => command.length))
  return [
    '',
    paint('Explore the results in another terminal', 'bold'),
    `  export BATON_HOME=${env.BATON_HOME}`,
    ...(known ? [] : [`  alias baton="node ${join(cli.program, 'baton.mjs')}"`]),
    ...commands.map(([command, about]) => `  baton ${command.padEnd(width)}  ${paint(`# ${about}`, 'dim')}`),
    '',
  ]
}
