import { type DemoView, runDemo } from '../../demo/run-demo.js'
import type { DemoStory } from '../../demo/story.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli, Command } from '../command.js'
import { checkLines, gaugeLine, jobLine, nextCommands, reportLines, sessionLine } from '../render/demo-lines.js'
import { cutToWidth, wrap } from '../render/text.js'
import { untilStopped } from '../terminal.js'

export const demoCommand: Command = {
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

async function run(call: Call, cli: Cli): Promise<number> {
  const show = new Display(cli, call.json)
  const { paint } = cli.screen
  show.line(`${paint('baton demo', 'bold')}: the real Claude Code with a scripted model. Nothing leaves this machine.`)
  const stopped = untilStopped()
  // Ignore the second SIGHUP of a closed terminal, so that the demo's folder is still deleted.
  process.on('SIGHUP', () => {})
  const view: DemoView = {
    beginAct(number, title, prompt) {
      show.line('')
      show.line(`${paint(`${number}  ${title}`, 'bold')}`)
      show.line(paint(`Prompt: “${prompt}”`, 'dim'))
    },
    event(story, event, { app, isInstructed }) {
      const brief = app.store.brief.bind(app.store)
      const line =
        story.session === null
          ? sessionLine(story, event, paint, brief, isInstructed)
          : jobLine(story, event, paint, brief)
      if (line !== null) show.line(line)
    },
    checks: (checks, round) => {
      for (const line of checkLines(checks, round, paint)) show.line(line)
    },
    skipped: (reason) => show.line(`  ${paint('skipped', 'yellow')}: ${reason}`),
    gauge: (story) => show.gauge(story),
    async end(summary, env) {
      if (call.json) {
        cli.print(JSON.stringify(summary))
        return
      }
      for (const line of reportLines(summary, cli.screen.columns, paint)) show.line(line)
      if (call.flag('exit') || !cli.screen.terminal) return
      for (const line of nextCommands(env, summary, cli)) cli.print(line)
      await pauseForKey(cli, stopped)
    },
  }
  try {
    return (await runDemo(cli, view, stopped)).ok ? EXIT.done : EXIT.failed
  } finally {
    show.clear()
  }
}

function pauseForKey(cli: Cli, stopped: Promise<void>): Promise<void> {
  cli.note('Press Enter to end the demo and delete its folder.')
  process.stdin.resume()
  const key = new Promise<void>((resolve) => process.stdin.once('data', () => resolve()).once('end', () => resolve()))
  return Promise.race([key, stopped]).finally(() => process.stdin.pause())
}

/** Spinner frames, shown while there is no event yet, because a client takes time to start. */
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** Prints permanent lines and, on a terminal, redraws one gauge below them. */
class Display {
  private drawn = false
  private frame = 0
  constructor(
    private readonly cli: Cli,
    private readonly silent: boolean,
  ) {}

  line(text: string): void {
    if (this.silent) return
    this.clear()
    this.cli.print(wrap(text, this.cli.screen.columns, 2).join('\n'))
  }

  gauge(story: DemoStory): void {
    if (this.silent || !this.cli.screen.terminal) return
    const { paint, columns } = this.cli.screen
    const beat = FRAMES[this.frame++ % FRAMES.length]!
    process.stdout.write(`\r\u001b[2K${cutToWidth(`${paint(beat, 'cyan')} ${gaugeLine(story, paint)}`, columns - 1)}`)
    this.drawn = true
  }

  clear(): void {
    if (!this.drawn) return
    process.stdout.write('\r\u001b[2K')
    this.drawn = false
  }
}
