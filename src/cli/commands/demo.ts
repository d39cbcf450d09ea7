import { join } from 'node:path'
import { around } from '../../around.js'
import { loadConfig } from '../../config/load-config.js'
import { type House, openHouse } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import { type Model, startModel } from '../../model/model.js'
import type { Call, Cli, Command } from '../command.js'
import { Display } from '../demo/display.js'
import { findClient } from '../demo/find-client.js'
import { handedOver } from '../demo/handed-over.js'
import { type Act, play } from '../demo/play.js'
import { reportLines } from '../demo/report.js'
import { DEMO_PROMPT, DEMO_SCRIPT, LAST_WORDS, OFFERS_PROMPT } from '../demo/script.js'
import { type Stage, setStage } from '../demo/stage.js'
import { type Handoff, type Summary, summarise } from '../demo/summary.js'
import { findProgram } from '../find-program.js'
import { untilStopped } from '../until-stopped.js'

export const command: Command = {
  name: 'demo',
  summary: 'see it work: the real agent is warned, compacts, gets back what it lost; then hands over (no key, no account)',
  usage: ['[--exit]'],
  about:
    'Runs the real Claude Code against the scripted model on loopback, in a home of its own that is removed afterwards.\n' +
    'Nothing of yours is read or changed, and nothing leaves this machine.',
  options: { exit: { type: 'boolean', about: 'end without waiting for Enter, for scripts' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton demo', 'watch it, about half a minute'],
    ['baton demo --exit --json', 'the same as a check: exit 0 only if everything happened'],
  ],
  json: '{ok, missing, client, model, session_id, requests, readings, compactions, levels: [{name, cycle, used_tokens, told_in_request}], archives, losses, recovered: [{step, facts, in_request, copies}], handoff: {seat, state, way, old_session_id, new_session_id, brief_id, path, coverage, tokens_before, tokens_after, brief_in_first_request, worked_on, …} or null, skipped, duration_ms}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const client = findClient(cli.env, cli.program)
  const show = new Display(cli, call.json)
  show.line(
    `${cli.screen.paint('baton demo', 'bold')}: the real Claude Code, a scripted model, no key, nothing leaves this machine`,
  )
  const began = Date.now()
  const stopped = untilStopped()
  const stage = setStage(cli)
  const model = await startModel({ script: DEMO_SCRIPT })
  const house = openHouse({ env: stage.env, loadConfig, around: () => around })
  try {
    announce(show, '1', 'compacted, and what is lost put back', DEMO_PROMPT)
    const first: Act = { child: stage.start(client, model.url), awaited: ['session_ended', 'archive_created'] }
    const story = await play(first, house, show, stopped)
    const handoff = await handOver(stage, house, model, client, show, stopped)
    const summary = summarise(house, model, story, handoff, Date.now() - began)
    if (call.json) cli.print(JSON.stringify(summary))
    else {
      for (const line of reportLines(summary, cli.screen.columns, cli.screen.paint)) show.line(line)
      if (cli.screen.terminal) {
        show.line(cli.screen.paint('While this waits, look around in it:', 'dim'))
        for (const line of lookAround(stage, summary, cli)) cli.print(line)
      }
    }
    if (!call.json && !call.flag('exit') && cli.screen.terminal) await pauseForKey(cli, stopped)
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

/** To be copied: each on a line of its own, and with a name that this shell knows. */
function lookAround({ env }: Stage, { session_id: session, handoff }: Summary, cli: Cli): string[] {
  const baton = findProgram('baton', cli.env) === null ? `node ${join(cli.program, 'baton.mjs')}` : 'baton'
  const commands = [
    session === null ? 'status' : `show ${session.slice(0, 8)}`,
    ...(handoff?.brief_id ? [`show ${handoff.seat}`, `handoffs show ${handoff.brief_id}`] : []),
  ]
  return commands.map((command) => `BATON_HOME=${env.BATON_HOME} ${baton} ${command}`)
}

function pauseForKey(cli: Cli, stopped: Promise<void>): Promise<void> {
  cli.note('Enter ends the demo and removes its folder.')
  process.stdin.resume()
  const key = new Promise<void>((resolve) => process.stdin.once('data', () => resolve()).once('end', () => resolve()))
  return Promise.race([key, stopped]).finally(() => process.stdin.pause())
}
