import type { Event } from '../../contract/event.js'
import type { Call, Cli } from '../command.js'
import { checkAtWork, jobEventLine, progressLine } from '../render/job-event.js'
import { screenOf } from '../render/screen.js'
import { cut } from '../render/width.js'
import { wrap } from '../render/wrap.js'

export interface Display {
  take(event: Event): void
  /** A sentence for the person, whatever is shown else. */
  note(text: string): void
  /** Takes the live line away. */
  end(): void
}

/** `09:05:31 ` stands before what happened. */
const AFTER_TIME = 9
const ENDS: ReadonlySet<Event['type']> = new Set(['job_completed', 'job_failed', 'job_cancelled', 'job_paused'])

/** Between two figures: nothing stands there that is over. */
function meanwhile({ type, data }: Event): string | null {
  switch (type) {
    case 'job_started':
      return 'The client starts … (Ctrl-C pauses)'
    case 'job_resumed':
      return 'The session is opened again … (Ctrl-C pauses)'
    case 'handoff_started':
      return 'The session writes its brief …'
    case 'handoff_completed':
      return 'The next session begins …'
    case 'check_started':
      return `${checkAtWork(data)} …`
    case 'checks_completed':
      return data.next === 'agent' ? 'The agent is told which checks failed …' : 'The job ends …'
    default:
      return null
  }
}

/** How a job comes along: on a terminal one line that changes below what happened; elsewhere a line for each step; or events as JSON. */
export function displayOn(cli: Cli, call: Call, several: boolean): Display {
  const note = (text: string): void => cli.note(text)
  if (call.value('output-format') === 'stream-json') return { take: (event) => cli.print(JSON.stringify(event)), note, end() {} }
  if (call.json || call.flag('quiet')) return { take() {}, note, end() {} }
  const { paint, terminal } = cli.screen
  const named = (event: Event, line: string): string => (several ? `${paint(event.job_id!, 'dim')} ${line}` : line)
  // What a single job came to is printed at its end, with more.
  const lineOf = (event: Event): string | null => (!several && ENDS.has(event.type) ? null : jobEventLine(event, paint))
  if (!terminal)
    return {
      take(event) {
        const line = event.type === 'job_progress' ? progressLine(event, paint) : lineOf(event)
        if (line !== null) cli.print(named(event, line))
      },
      ...{ note, end() {} },
    }
  let live: ((columns: number) => string) | null = null
  const { stdout } = process
  const columns = (): number => screenOf(stdout, cli.env).columns - 1
  const draw = (line: (columns: number) => string): void => {
    live = line
    // The terminal itself writes `^C` behind it: on the next line that would be in the way.
    const room = columns() - 2
    stdout.write(`\r\u001b[K${cut(line(room), room)}`)
  }
  const above = (text: string, indent = 0): void => {
    stdout.write(`\r\u001b[K${wrap(text, columns(), indent).join('\n')}\n`)
    if (live !== null) draw(live)
  }
  const redraw = (): void => {
    if (live !== null) draw(live)
  }
  stdout.on('resize', redraw)
  return {
    take(event) {
      if (event.type === 'job_progress') {
        const lead = several ? event.job_id!.length + 1 : 0
        draw((width) => named(event, progressLine(event, paint, width - lead)))
        return
      }
      // The check at work stands in the line that changes.
      const line = event.type === 'check_started' ? null : lineOf(event)
      if (line !== null) above(named(event, line), AFTER_TIME)
      const doing = meanwhile(event)
      if (doing !== null) draw(() => named(event, paint(doing, 'dim')))
    },
    note: (text) => above(text),
    end() {
      stdout.off('resize', redraw)
      if (live !== null) stdout.write('\r\u001b[K')
      live = null
    },
  }
}
