import { grouped } from '../../policy/numbers.js'
import { scoreText } from '../render/brief-lines.js'
import { bytesText } from '../render/bytes.js'
import { keptText } from '../render/compaction-lines.js'
import type { Paint } from '../render/screen.js'
import { wrap } from '../render/wrap.js'
import type { Carried } from './carried.js'
import type { HandedOver } from './handed-over.js'
import { DEMO_RULE } from './script.js'
import type { Summary } from './summary.js'

/** The end of the demo, for a person: each claim with the request that proves it. */
export function reportLines(summary: Summary, columns: number, paint: Paint): string[] {
  const point = `compaction point ${grouped(summary.compaction_tokens ?? 0)} (${summary.exact ? 'told by the client itself' : 'derived'})`
  const lines = [
    `${summary.requests} requests of Claude Code ${summary.client ?? ''}, ${summary.readings} readings, ${point}`,
    ...summary.levels
      .filter((level) => level.told_in_request !== null)
      .map(
        (level) =>
          `cycle ${level.cycle}  ${level.name.padEnd(9)} at ${grouped(level.used_tokens).padStart(7)} tokens; the agent read it in request ${level.told_in_request}`,
      ),
    `every level spoke once a cycle; ${summary.compactions} compaction`,
    ...summary.archives
      .filter(({ status }) => status === 'kept')
      .map(
        ({ bytes, archive_id: id }) =>
          `before it, kept: the transcript, ${bytesText(bytes)}, proven byte by byte, searchable (${id})`,
      ),
    ...summary.losses.map(
      ({ facts, facts_kept: kept, lost }) =>
        `after it: ${keptText({ kept, total: facts })}${
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
        `put back: ${facts} fact${facts === 1 ? '' : 's'}; the agent read ${facts === 1 ? 'it' : 'them'} in request ${at}, ${copies === 1 ? 'one copy' : `${copies} copies`}`,
    ),
    ...(summary.rule_back ? [`so “${DEMO_RULE}” stands before the agent again`] : []),
  ]
  const acts: [string, string[]][] = [
    ['1', lines],
    [
      '2',
      summary.handoff === null
        ? [`no handoff was shown: ${summary.skipped ?? 'none came about'}`]
        : handoffLines(summary.handoff),
    ],
    ['3', summary.job === null ? ['no job was begun'] : jobLines(summary.job)],
  ]
  const took = `, in ${Math.round(summary.duration_ms / 1000)} s`
  const title = `${summary.ok ? 'What happened' : 'Not everything happened that should have'}${took}`
  return [
    '',
    paint(title, summary.ok ? 'green' : 'red'),
    ...acts.flatMap(([number, told]) =>
      told.flatMap((line, index) => wrap(`${index === 0 ? paint(number, 'bold') : ' '}  ${line}`, columns, 5)),
    ),
    ...summary.missing.flatMap((one) => wrap(`  ${paint('✗', 'red')} ${one}`, columns, 4)),
    '',
    ...wrap(
      `Next: ${paint('baton install', 'bold')}, then work in Claude Code as before. ${paint('baton status', 'bold')} shows every session.`,
      columns,
      0,
    ),
  ]
}

function handoffLines(it: HandedOver): string[] {
  const tokens = (figure: number | null): string => (figure === null ? 'not known' : grouped(figure))
  const added = it.coverage?.missing.map(({ text }) => `“${text}”`) ?? []
  return [
    `at ${tokens(it.tokens_before)} tokens the agent of seat ${it.seat} was asked for its brief (request ${it.asked_in_request})`,
    `checked: the brief carries ${scoreText(it.coverage)} of what happened${added.length > 0 ? `; added by Baton: ${added.join(', ')}` : ''}`,
    `fresh: session ${it.old_session_id.slice(0, 8)} was cleared in place, ${it.new_session_id?.slice(0, 8) ?? 'none'} began with the brief, at ${tokens(it.tokens_after)} tokens after its first answer, and worked on by itself`,
  ]
}

function jobLines(it: Carried): string[] {
  const full = it.sessions.slice(0, -1).map(({ used_tokens: used }) => (used === null ? 'not known' : grouped(used)))
  const bad = it.checks.filter(({ ok }) => !ok).map(({ name }) => `“${name}”`)
  const rounds = Math.max(0, ...it.checks.map(({ round }) => round))
  return [
    `${it.sessions.length} sessions, ${it.handoffs} handoffs (at ${full.join(' and ')} tokens), ${it.steps} steps; each part written once, in order`,
    'each fresh session of it began with the task and the checked brief in its first request',
    `checks: ${bad.join(', ')} failed first; the agent read why in request ${it.failure_in_request} of that session; all passed in round ${rounds}`,
  ]
}

const first = (one: string, index: number, all: string[]): boolean => all.indexOf(one) === index
