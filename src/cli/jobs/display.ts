import type { Event } from '../../contract/event.js'
import type { Call, Cli } from '../command.js'
import { jobEventLine, progressLine } from '../render/job-event.js'
import { screenOf } from '../render/screen.js'
import { cut } from '../render/width.js'

export interface Display {
  take(event: Event): void
  /** A sentence for the person, whatever is shown else. */
  note(text: string): void
  /** Takes the live line away. */
  end(): void
}

/** How a job comes along: on a terminal one line that changes below what happened; elsewhere a line for each step; or events as JSON. */
export function displayOn(cli: Cli, call: Call, several: boolean): Display {
  const note = (text: string): void => cli.note(text)
  if (call.value('output-format') === 'stream-json') return { take: (event) => cli.print(JSON.stringify(event)), note, end() {} }
  if (call.json || call.flag('quiet')) return { take() {}, note, end() {} }
  const { paint, terminal } = cli.screen
  const named = (event: Event, line: string): string => (several ? `${paint(event.job_id!, 'dim')} ${line}` : line)
  if (!terminal)
    return {
      take(event) {
        const line = event.type === 'job_progress' ? progressLine(event, paint) : jobEventLine(event, paint)
        if (line !== null) cli.print(named(event, line))
      },
      ...{ note, end() {} },
    }
  let live = ''
  const { stdout } = process
  const draw = (line: string): void => {
    live = line
    stdout.write(`\r\u001b[K${cut(line, screenOf(stdout, cli.env).columns - 1)}`)
  }
  const above = (text: string): void => {
    stdout.write(`\r\u001b[K${text}\n`)
    if (live !== '') draw(live)
  }
  return {
    take(event) {
      if (event.type === 'job_progress') draw(named(event, progressLine(event, paint)))
      else {
        const line = jobEventLine(event, paint)
        if (line !== null) above(named(event, line))
      }
    },
    note: above,
    end() {
      if (live !== '') stdout.write('\r\u001b[K')
      live = ''
    },
  }
}
