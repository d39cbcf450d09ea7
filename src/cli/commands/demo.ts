import { around } from '../../around.js'
import { loadConfig } from '../../config/load-config.js'
import { type House, openHouse } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import { type Model, startModel } from '../../model/model.js'
import type { Call, Cli, Command } from '../command.js'
import { carried } from '../demo/carried.js'
import { Display } from '../demo/display.js'
import { findClient } from '../demo/find-client.js'
import { handedOver } from '../demo/handed-over.js'
import { JOB_CONVERSATIONS, JOB_PROMPT } from '../demo/job-script.js'
import { checkLines, JOB_OPENING, tellJob } from '../demo/job-story.js'
import { lookAround } from '../demo/look-around.js'
import { type Act, play } from '../demo/play.js'
import { reportLines } from '../demo/report.js'
import { DEMO_PROMPT, DEMO_SCRIPT, LAST_WORDS, OFFERS_PROMPT } from '../demo/script.js'
import { type Stage, setStage } from '../demo/stage.js'
import { type Handoff, summarise } from '../demo/summary.js'
import { untilStopped } from '../until-stopped.js'

export const command: Command = {
  name: 'demo',
  summary: 'see it work: the real agent is warned, compacts, hands over, and carries a job to its end (no key, no account)',
  usage: ['[--exit]'],
  about:
    'Runs the real Claude Code against the scripted model on loopback, in a home of its own that is removed afterwards.\n' +
    'Nothing of yours is read or changed, and nothing leaves this machine.',
  options: { exit: { type: 'boolean', about: 'end without waiting for Enter, for scripts' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton demo', 'watch it, about 40 seconds'],
    ['baton demo --exit --json', 'the same as a check: exit 0 only if everything happened'],
  ],
  json: '{ok, missing, client, model, session_id, requests, readings, compactions, levels: [{name, cycle, used_tokens, told_in_request}], archives, losses, recovered: [{step, facts, in_request, copies}], handoff: {seat, state, way, old_session_id, new_session_id, brief_id, path, coverage, tokens_before, tokens_after, brief_in_first_request, worked_on, …} or null, skipped, job: {job_id, status, sessions: [{session_id, brief_in_first_request, …}], handoffs, steps, checks: [{name, round, ok}], failure_in_request, parts, …} or null, duration_ms}',
  run,
}

/** A job's first message names its task only, so it is looked for first. */
const SCRIPT = { ...DEMO_SCRIPT, conversations: [...JOB_CONVERSATIONS, ...(DEMO_SCRIPT.conversations ?? [])] }

async function run(call: Call, cli: Cli): Promise<number> {
  const client = findClient(cli.env, cli.program)
  const show = new Display(cli, call.json)
  show.line(
    `${cli.screen.paint('baton demo', 'bold')}: the real Claude Code, a scripted model, no key, nothing leaves this machine`,
  )
  const began = Date.now()
  const stopped = untilStopped()
  // A terminal that is closed says so twice; the folder goes all the same.
  process.on('SIGHUP', () => {})
  const stage = setStage(cli)
  const model = await startModel({ script: SCRIPT })
  const house = openHouse({ env: stage.env, loadConfig, around: () => around })
  try {
    announce(show, '1', 'compacted, and what is lost put back', DEMO_PROMPT)
    const first: Act = { child: stage.start(client, model.url), awaited: ['session_ended', 'archive_created'] }
    const story = await play(first, house, show, stopped)
    const handoff = await handOver(stage, house, model, client, show, stopped)
    await carryJob(stage, house, model, client, show, stopped)
    const summary = summarise(house, model, story, handoff, carried(house, model), Date.now() - began)
    const waits = !call.json && !call.flag('exit') && cli.screen.terminal
    if (call.json) cli.print(JSON.stringify(summary))
    else {
      for (const line of reportLines(summary, cli.screen.columns, cli.screen.paint)) show.line(line)
      if (waits) for (const line of lookAround(stage.env, summary, cli)) cli.print(line)
    }
    if (waits) await pauseForKey(cli, stopped)
    return summary.ok ? EXIT.done : EXIT.failed
  } finally {
    show.clear()
    house.close()
    await model.close()
    await stage.strike()
  }
}

function announce(show: Display, number: string, what: string, prompt: string): void {
  show.line('')
  show.line(`${show.paint(`${number}  ${what}`, 'bold')}`)
  show.line(show.paint(`its prompt: “${prompt}”`, 'dim'))
}

/** The second act: a person's session, in a terminal that nobody looks at. */
async function handOver(
  stage: Stage,
  house: House,
  model: Model,
  client: string,
  show: Display,
  stopped: Promise<void>,
): Promise<Handoff> {
  announce(show, '2', 'handed over to a fresh session before that', OFFERS_PROMPT)
  const child = stage.startInTerminal(client, model.url)
  if (child === null) {
    const skipped = 'it needs a terminal of its own, and neither script (util-linux) nor python3 is there to make one'
    show.line(`  ${show.paint('left out', 'yellow')}: ${skipped}`)
    return { handoff: null, skipped }
  }
  const isOver = (): boolean => model.log().some(({ answer, ended_at: at }) => at !== null && answer?.text === LAST_WORDS)
  await play({ child, isOver, awaited: ['handoff_completed', 'session_ended'] }, house, show, stopped)
  return { handoff: handedOver(house, model), skipped: null }
}

/** The third act: a job, started by the command a person would type. */
async function carryJob(stage: Stage, house: House, model: Model, client: string, show: Display, stopped: Promise<void>) {
  announce(show, '3', 'a job, carried through three sessions until its checks pass', JOB_PROMPT)
  let round = 0
  const looks = (): string[] => {
    const { checks } = house.store.jobs().at(-1) ?? { checks: [] }
    const newest = Math.max(0, ...checks.map((one) => one.round))
    if (newest === round) return []
    round = newest
    return checkLines(checks, newest, show.paint)
  }
  const act: Act = { child: stage.startJob(client, model.url), opening: JOB_OPENING, tell: tellJob, looks, awaited: [] }
  await play(act, house, show, stopped)
}

function pauseForKey(cli: Cli, stopped: Promise<void>): Promise<void> {
  cli.note('Enter ends the demo and removes its folder.')
  process.stdin.resume()
  const key = new Promise<void>((resolve) => process.stdin.once('data', () => resolve()).once('end', () => resolve()))
  return Promise.race([key, stopped]).finally(() => process.stdin.pause())
}
