import type { ChildProcess } from 'node:child_process'
import { around } from '../../around.js'
import { loadConfig } from '../../config/load-config.js'
import type { Event } from '../../contract/event.js'
import { type House, openHouse } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { copies } from '../../model/log.js'
import { type Model, startModel } from '../../model/model.js'
import { grouped } from '../../policy/numbers.js'
import type { Call, Cli, Command } from '../command.js'
import { findClient } from '../demo/find-client.js'
import { DEMO_MODEL, DEMO_SCRIPT } from '../demo/script.js'
import { type Stage, setStage } from '../demo/stage.js'
import { gaugeLine, OPENING, type Story, tell } from '../demo/story.js'
import { untilStopped } from '../until-stopped.js'

const LONGEST_MS = 180_000
const LOOK_MS = 120
const SETTLE_MS = 3_000

export const command: Command = {
  name: 'demo',
  summary: 'see it work: the real agent climbs, is warned, compacts, climbs again (no key, no account)',
  usage: ['[--exit]'],
  about:
    'Runs the real Claude Code against the scripted model on loopback, in a home of its own that is removed afterwards.\n' +
    'Nothing of yours is read or changed, and nothing leaves this machine.',
  options: { exit: { type: 'boolean', about: 'end without waiting for a key, for scripts' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton demo', 'watch it, about 15 seconds'],
    ['baton demo --exit --json', 'the same as a check: exit 0 only if everything happened'],
  ],
  json: '{ok, client, model, session_id, requests, readings, compactions, levels: [{name, cycle, used_tokens, told_in_request}], duration_ms}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const client = findClient(cli.env, cli.program)
  const show = new Display(cli, call.json)
  show.line(
    `${cli.screen.paint('baton demo', 'bold')}: the real Claude Code, a scripted model, no key, nothing leaves this machine`,
  )
  const began = Date.now()
  const stage = setStage(cli)
  const model = await startModel({ script: DEMO_SCRIPT })
  const house = openHouse({ env: stage.env, loadConfig, around: () => around })
  try {
    const story = await play(stage, house, model, client, show)
    const summary = summarise(house, model, story, Date.now() - began)
    if (call.json) cli.print(JSON.stringify(summary))
    else report(summary, stage, cli, show)
    if (!call.json && !call.flag('exit') && cli.screen.terminal) await pauseForKey(cli)
    return summary.ok ? EXIT.done : EXIT.failed
  } finally {
    show.clear()
    house.close()
    await model.close()
    stage.strike()
  }
}

/** Runs the client and tells what Baton's own events say, as they come. Ctrl-C ends the client and cleans up. */
async function play(stage: Stage, house: House, model: Model, client: string, show: Display): Promise<Story> {
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
    const end = await Promise.race([ended(child), untilStopped().then(() => 'stopped' as const), late()])
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

/** The last hook's engine may still be at work when the client has gone. */
async function settled(house: House): Promise<void> {
  const end = Date.now() + SETTLE_MS
  const over = (): boolean => house.store.events().some((event: Event) => event.type === 'session_ended')
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

function summarise(house: House, model: Model, story: Story, durationMs: number) {
  const session = house.recent({ all: true })[0] ?? null
  const requests = model.log().filter((entry) => entry.kind === 'main')
  const levels = story.levels.map((level) => ({
    name: level.name,
    cycle: level.cycle,
    used_tokens: level.used,
    told_in_request: toldIn(requests, level),
  }))
  const first = levels.filter((level) => level.cycle === 1 && level.told_in_request !== null)
  const again = levels.some((level) => level.cycle === 2 && level.told_in_request !== null)
  return {
    ok: first.length === 4 && again && story.compactions === 1,
    client: session?.agent_version ?? null,
    model: DEMO_MODEL,
    session_id: session?.session_id ?? null,
    compaction_tokens: session?.compaction_tokens ?? null,
    exact: session?.exact ?? false,
    requests: requests.length,
    readings: story.readings,
    compactions: story.compactions,
    levels,
    duration_ms: durationMs,
  }
}

/** The first request that held the text, counted from 1: proof that the model was given it. */
function toldIn(requests: ReturnType<Model['log']>, level: Story['levels'][number]): number | null {
  const index = requests.findIndex(
    (entry) => entry.cycle === level.cycle - 1 && copies(entry, `[baton] Context level "${level.name}"`) > 0,
  )
  return index < 0 ? null : index + 1
}

function report(summary: ReturnType<typeof summarise>, stage: Stage, cli: Cli, show: Display): void {
  const { paint } = cli.screen
  show.clear()
  const told = summary.levels.filter((level) => level.told_in_request !== null)
  const lines = [
    '',
    paint(summary.ok ? 'What happened' : 'Not everything happened that should have', summary.ok ? 'green' : 'red'),
    `  ${summary.requests} requests of Claude Code ${summary.client ?? ''}, ${summary.readings} readings, compaction point ${grouped(summary.compaction_tokens ?? 0)} (${summary.exact ? 'told by the client itself' : 'derived'})`,
    ...told.map(
      (level) =>
        `  cycle ${level.cycle}  ${level.name.padEnd(9)} at ${grouped(level.used_tokens).padStart(7)} tokens; the agent read it in request ${level.told_in_request}`,
    ),
    `  ${summary.compactions} compaction; every level spoke once a cycle`,
    '',
    `Next: ${paint('baton install', 'bold')}, then work in Claude Code as before. ${paint('baton status', 'bold')} shows every session.`,
  ]
  if (cli.screen.terminal)
    lines.push(paint(`While this waits, its store can be looked at: BATON_HOME=${stage.env.BATON_HOME} baton status`, 'dim'))
  for (const line of lines) show.line(line)
}

function pauseForKey(cli: Cli): Promise<void> {
  cli.note('Enter ends the demo and removes its folder.')
  process.stdin.resume()
  const key = new Promise<void>((resolve) => process.stdin.once('data', () => resolve()).once('end', () => resolve()))
  return Promise.race([key, untilStopped()]).finally(() => process.stdin.pause())
}

/** Lines that stay, and below them, on a terminal, one gauge that is drawn anew. */
class Display {
  private drawn = false
  constructor(
    private readonly cli: Cli,
    private readonly silent: boolean,
  ) {}

  get paint(): Cli['screen']['paint'] {
    return this.cli.screen.paint
  }

  line(text: string): void {
    if (this.silent) return
    this.clear()
    this.cli.print(text)
  }

  gauge(story: Story): void {
    if (this.silent || !this.cli.screen.terminal) return
    process.stdout.write(`\r\u001b[2K${gaugeLine(story, this.paint)}`)
    this.drawn = true
  }

  clear(): void {
    if (!this.drawn) return
    process.stdout.write('\r\u001b[2K')
    this.drawn = false
  }
}
