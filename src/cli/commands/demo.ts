import { join } from 'node:path'
import { loadConfig } from '../../config/load-config.js'
import {
  DEMO_PROMPT,
  DEMO_RULE,
  DEMO_SCRIPT,
  JOB_CONVERSATIONS,
  JOB_PROMPT,
  LAST_WORDS,
  OFFERS_PROMPT,
} from '../../demo/demo-script.js'
import {
  type Carried,
  carried,
  type HandedOver,
  type Handoff,
  handedOver,
  isInstructed,
  type Summary,
  summarise,
} from '../../demo/demo-summary.js'
import { type Act, Display, findClient, play, type Stage, setStage } from '../../demo/stage.js'
import { type App, openApp } from '../../engine/open-engine.js'
import * as rareWork from '../../engine/rare-work.js'
import { formatCount } from '../../lib/counted.js'
import { EXIT } from '../../lib/errors.js'
import { findProgram } from '../../lib/find-program.js'
import { type Model, startModel } from '../../model/model.js'
import { formatTokens } from '../../policy/numbers.js'
import type { Call, Cli, Command } from '../command.js'
import { scoreText } from '../render/briefs.js'
import { checkLines, JOB_OPENING, tell, tellJob } from '../render/demo-lines.js'
import type { Paint } from '../render/screen.js'
import { keptText } from '../render/session-page.js'
import { bytesText, wrap } from '../render/text.js'
import { untilStopped } from '../terminal.js'

export const command: Command = {
  name: 'demo',
  summary: 'watch Baton at work with the real agent and a scripted model (needs no key)',
  usage: ['[--exit]'],
  about:
    'Runs the real Claude Code with a scripted model on loopback: it is warned, compacts, hands off, and runs a job. ' +
    'At the end, a terminal shows commands to explore the results.\n' +
    'Your files and settings are neither read nor changed, and nothing leaves this machine. ' +
    'The temporary home of the demo is deleted when it ends.',
  options: { exit: { type: 'boolean', about: 'end without waiting for Enter' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton demo', 'watch it (takes about a minute)'],
    ['baton demo --exit --json', 'in a script: exit with 0 only if all steps happened'],
  ],
  json:
    '{ok, missing, client, model, session_id, requests, readings, compactions, ' +
    'levels: [{name, cycle, used_tokens, told_in_request}], archives, losses, ' +
    'recovered: [{step, facts, in_request, copies}], ' +
    'handoff: {seat, state, way, old_session_id, new_session_id, brief_id, path, coverage, ' +
    'tokens_before, tokens_after, brief_in_first_request, worked_on, …} or null, skipped, ' +
    'job: {job_id, status, sessions: [{session_id, brief_in_first_request, …}], handoffs, steps, ' +
    'checks: [{name, round, ok}], failure_in_request, parts, …} or null, duration_ms}',
  run,
}

/**
 * The demo's script.
 * Job conversations come first, because a job's first message contains only its task.
 */
const SCRIPT = { ...DEMO_SCRIPT, conversations: [...JOB_CONVERSATIONS, ...(DEMO_SCRIPT.conversations ?? [])] }

async function run(call: Call, cli: Cli): Promise<number> {
  const client = findClient(cli.env, cli.program)
  const show = new Display(cli, call.json)
  show.line(
    `${cli.screen.paint('baton demo', 'bold')}: the real Claude Code with a scripted model. Nothing leaves this ` +
      'machine.',
  )
  const began = Date.now()
  const stopped = untilStopped()
  // Ignore the second SIGHUP of a closed terminal, so that the demo's folder is still deleted.
  process.on('SIGHUP', () => {})
  const stage = setStage(cli)
  const model = await startModel({ script: SCRIPT })
  const app = openApp({ env: stage.env, loadConfig, rareWork: () => rareWork })
  try {
    announce(show, '1', 'A session compacts, and Baton puts lost facts back', DEMO_PROMPT)
    const first: Act = {
      child: stage.start(client, model.url),
      tell: (story, event, paint, briefs) => tell(story, event, paint, briefs, () => isInstructed(model)),
      awaited: ['session_ended', 'archive_created'],
    }
    const story = await play(first, app, show, stopped)
    const handoff = await handOver(stage, app, model, client, show, stopped)
    await carryJob(stage, app, model, client, show, stopped)
    const summary = summarise(app, model, story, handoff, carried(app, model), Date.now() - began)
    const waits = !call.json && !call.flag('exit') && cli.screen.terminal
    if (call.json) cli.print(JSON.stringify(summary))
    else {
      for (const line of reportLines(summary, cli.screen.columns, cli.screen.paint)) show.line(line)
      if (waits) for (const line of nextCommands(stage.env, summary, cli)) cli.print(line)
    }
    if (waits) await pauseForKey(cli, stopped)
    return summary.ok ? EXIT.done : EXIT.failed
  } finally {
    show.clear()
    app.close()
    await model.close()
    await stage.strike()
  }
}

function announce(show: Display, number: string, what: string, prompt: string): void {
  show.line('')
  show.line(`${show.paint(`${number}  ${what}`, 'bold')}`)
  show.line(show.paint(`Prompt: “${prompt}”`, 'dim'))
}

/** Runs the second act: a user's session in a hidden terminal. */
async function handOver(
  stage: Stage,
  app: App,
  model: Model,
  client: string,
  show: Display,
  stopped: Promise<void>,
): Promise<Handoff> {
  announce(show, '2', 'A session hands off to a fresh one before it compacts', OFFERS_PROMPT)
  const child = stage.startInTerminal(client, model.url)
  if (child === null) {
    const skipped = 'it needs a hidden terminal, and neither script (util-linux) nor python3 is installed'
    show.line(`  ${show.paint('skipped', 'yellow')}: ${skipped}`)
    return { handoff: null, skipped }
  }
  const isOver = (): boolean =>
    model.log().some(({ answer, ended_at: at }) => at !== null && answer?.text === LAST_WORDS)
  await play({ child, isOver, awaited: ['handoff_completed', 'session_ended'] }, app, show, stopped)
  return { handoff: handedOver(app, model), skipped: null }
}

/** Runs the third act: a job, started by the command that a user would type. */
async function carryJob(stage: Stage, app: App, model: Model, client: string, show: Display, stopped: Promise<void>) {
  announce(show, '3', 'A job runs through three sessions until its checks pass', JOB_PROMPT)
  let round = 0
  const looks = (): string[] => {
    const { checks } = app.store.jobs().at(-1) ?? { checks: [] }
    const newest = Math.max(0, ...checks.map((one) => one.round))
    if (newest === round) return []
    round = newest
    return checkLines(checks, newest, show.paint)
  }
  const act: Act = { child: stage.startJob(client, model.url), opening: JOB_OPENING, tell: tellJob, looks, awaited: [] }
  await play(act, app, show, stopped)
}

function pauseForKey(cli: Cli, stopped: Promise<void>): Promise<void> {
  cli.note('Press Enter to end the demo and delete its folder.')
  process.stdin.resume()
  const key = new Promise<void>((resolve) => process.stdin.once('data', () => resolve()).once('end', () => resolve()))
  return Promise.race([key, stopped]).finally(() => process.stdin.pause())
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
        `after the compaction: ${keptText({ kept, total: facts })}${
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
        `put back: ${formatCount(facts, 'fact')} in request ${at}, ${formatCount(copies, 'copy', 'copies')}`,
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

function handoffLines(it: HandedOver): string[] {
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

function jobLines(it: Carried): string[] {
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
function nextCommands(env: Record<string, string>, { session_id: session, handoff, job }: Summary, cli: Cli): string[] {
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
