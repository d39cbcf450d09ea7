import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { around } from '../../around.js'
import { loadConfig } from '../../config/load-config.js'
import type { Event } from '../../contract/event.js'
import { type House, openHouse } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { type Model, startModel } from '../../model/model.js'
import type { Call, Cli, Command } from '../command.js'
import { Display } from '../demo/display.js'
import { findClient } from '../demo/find-client.js'
import { reportLines } from '../demo/report.js'
import { DEMO_PROMPT, DEMO_SCRIPT } from '../demo/script.js'
import { type Stage, setStage } from '../demo/stage.js'
import { OPENING, type Story, tell } from '../demo/story.js'
import { summarise } from '../demo/summary.js'
import { findProgram } from '../find-program.js'
import { untilStopped } from '../until-stopped.js'

const LONGEST_MS = 180_000
const LOOK_MS = 120
const SETTLE_MS = 8_000

export const command: Command = {
  name: 'demo',
  summary: 'see it work: the real agent climbs, is warned, compacts, gets back what it lost (no key, no account)',
  usage: ['[--exit]'],
  about:
    'Runs the real Claude Code against the scripted model on loopback, in a home of its own that is removed afterwards.\n' +
    'Nothing of yours is read or changed, and nothing leaves this machine.',
  options: { exit: { type: 'boolean', about: 'end without waiting for Enter, for scripts' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton demo', 'watch it, about 15 seconds'],
    ['baton demo --exit --json', 'the same as a check: exit 0 only if everything happened'],
  ],
  json: '{ok, missing, client, model, session_id, requests, readings, compactions, levels: [{name, cycle, used_tokens, told_in_request}], archives, losses, recovered: [{step, facts, in_request, copies}], duration_ms}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const client = findClient(cli.env, cli.program)
  const show = new Display(cli, call.json)
  show.line(
    `${cli.screen.paint('baton demo', 'bold')}: the real Claude Code, a scripted model, no key, nothing leaves this machine`,
  )
  show.line(cli.screen.paint(`its prompt: “${DEMO_PROMPT}”`, 'dim'))
  const began = Date.now()
  const stopped = untilStopped()
  const stage = setStage(cli)
  const model = await startModel({ script: DEMO_SCRIPT })
  const house = openHouse({ env: stage.env, loadConfig, around: () => around })
  try {
    const story = await play(stage, house, model, client, show, stopped)
    const summary = summarise(house, model, story, Date.now() - began)
    if (call.json) cli.print(JSON.stringify(summary))
    else {
      for (const line of reportLines(summary, cli.screen.columns, cli.screen.paint)) show.line(line)
      if (cli.screen.terminal) {
        show.line(cli.screen.paint('While this waits, look around in it:', 'dim'))
        cli.print(lookAround(stage, summary.session_id, cli))
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

/** Runs the client and tells what Baton's own events say, as they come. Ctrl-C ends the client and cleans up. */
async function play(
  stage: Stage,
  house: House,
  model: Model,
  client: string,
  show: Display,
  stopped: Promise<void>,
): Promise<Story> {
  let story = OPENING
  let seen = 0
  const look = (): void => {
    for (const event of house.store.events({ afterId: seen })) {
      seen = event.id
      const told = tell(story, event, show.paint)
      story = told.story
      if (told.line !== null) show.line(told.line)
    }
    show.gauge(story)
  }
  const child = stage.start(client, model.url)
  const timer = setInterval(look, LOOK_MS)
  try {
    const end = await Promise.race([ended(child), stopped.then(() => 'stopped' as const), late()])
    if (end === 'stopped') throw new BatonError('The demo was stopped.', 'Nothing is left behind.', EXIT.failed)
    if (end === 'late') throw new BatonError('The demo took longer than three minutes.', 'Run it again on a calmer machine.')
    if (end.code !== 0)
      throw new BatonError(
        `The client ended with ${end.code}: ${end.said.trim() || 'no reason given'}`,
        'Run baton demo again; if it stays so, try another version of the client.',
      )
    await settled(house)
    look()
    return story
  } finally {
    clearInterval(timer)
    await stop(child)
  }
}

function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said }))
  })
}

const late = (): Promise<'late'> => new Promise((resolve) => setTimeout(() => resolve('late'), LONGEST_MS).unref())

/** The last hook's engine, and the process that keeps transcripts, may still be at work when the client has gone. */
async function settled(house: House): Promise<void> {
  const end = Date.now() + SETTLE_MS
  const awaited: Event['type'][] = ['session_ended', 'archive_created']
  const over = (): boolean => awaited.every((type) => house.store.events().some((event) => event.type === type))
  while (!over() && Date.now() < end) {
    house.drain()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), 2_000)
  await gone
  clearTimeout(force)
}

/** To be copied: on a line of its own, and with a name that this shell knows. */
function lookAround({ env }: Stage, session: string | null, cli: Cli): string {
  const baton = findProgram('baton', cli.env) === null ? `node ${join(cli.program, 'baton.mjs')}` : 'baton'
  return `BATON_HOME=${env.BATON_HOME} ${baton} ${session === null ? 'status' : `show ${session.slice(0, 8)}`}`
}

function pauseForKey(cli: Cli, stopped: Promise<void>): Promise<void> {
  cli.note('Enter ends the demo and removes its folder.')
  process.stdin.resume()
  const key = new Promise<void>((resolve) => process.stdin.once('data', () => resolve()).once('end', () => resolve()))
  return Promise.race([key, stopped]).finally(() => process.stdin.pause())
}
