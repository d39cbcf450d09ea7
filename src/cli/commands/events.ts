import type { Event } from '../../contract/event.js'
import type { House } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli, Command } from '../command.js'
import { drain, inHouse, sessionNamed } from '../open-house.js'
import { dayLine, dayOf, eventLine } from '../render/event-line.js'
import { cut } from '../render/width.js'
import { parseSince } from '../since.js'
import { untilStopped } from '../until-stopped.js'

const AT_ONCE = 1000
const ON_TERMINAL = 50
const EVERY_MS = 250
const DRAIN_MS = 5_000

export const command: Command = {
  name: 'events',
  summary: 'list what happened, or follow it',
  usage: ['[--session ID] [--since ID|TIME] [--follow]'],
  about:
    'Oldest first. On a terminal the newest 50; in a pipe, with --json or with --since, all of them. ' +
    '--since takes the id of an event (those after it), an ISO time, or a time ago such as 10m, 2h, 1d.',
  options: {
    session: { type: 'string', value: 'ID', about: 'only this session (or the newest of this seat)' },
    since: { type: 'string', value: 'ID|TIME', about: 'only what came after it' },
    follow: { type: 'boolean', short: 'f', about: 'go on with what happens next, until Ctrl-C' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton events --since 1h', 'the last hour'],
    ['baton events --follow', 'watch everything as it happens'],
    ['baton events --json | jq -c \'select(.type == "loss_report") | .data.lost[]\'', 'every fact a compaction dropped'],
    ['baton events --json | jq -c \'select(.type == "level_crossed")\'', 'every crossing so far'],
  ],
  json: 'one Event a line: {id, type, at, session_id, seat_id, job_id, data}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const written = call.value('since')
  const since = written === null ? null : parseSince(written, cli.now())
  return inHouse(cli, async (house) => {
    const session = call.value('session')
    const query = session === null ? {} : { sessionId: sessionNamed(house, session).sessionId }
    const print = printer(call, cli, session !== null)
    let last = since && 'afterId' in since ? since.afterId : 0
    if (since === null && cli.screen.terminal && !call.json) last = skipTo(house, query, cli)
    const from = since && 'since' in since ? since : {}
    const next = (): void => {
      for (;;) {
        const events = house.store.events({ ...query, ...from, afterId: last, limit: AT_ONCE })
        for (const event of events) print(event)
        last = events.at(-1)?.id ?? last
        if (events.length < AT_ONCE) return
      }
    }
    next()
    if (call.flag('follow')) await follow(house, next)
    return EXIT.done
  })
}

/** The id before the newest few: a terminal has little room. */
function skipTo(house: House, query: { sessionId?: string }, cli: Cli): number {
  const newest = house.store.events({ ...query, limit: ON_TERMINAL + 1 })
  if (newest.length <= ON_TERMINAL) return 0
  cli.print(cli.screen.paint('Earlier events are left out; --since 0 shows all.', 'dim'))
  return newest[0]!.id
}

async function follow(house: House, next: () => void): Promise<void> {
  let failed: unknown = null
  let end = (): void => {}
  const broken = new Promise<void>((resolve) => {
    end = resolve
  })
  const guarded = (work: () => void) => (): void => {
    try {
      work()
    } catch (error) {
      failed = error
      end()
    }
  }
  const look = setInterval(guarded(next), EVERY_MS)
  const take = setInterval(() => drain(house, { youngestMs: 2_000 }), DRAIN_MS)
  await Promise.race([untilStopped(), broken])
  clearInterval(look)
  clearInterval(take)
  if (failed !== null) throw failed
}

/** `one`: of a single session, whose name a narrow terminal has no room for in every line. */
function printer(call: Call, cli: Cli, one: boolean): (event: Event) => void {
  if (call.json) return (event) => cli.print(JSON.stringify(event))
  const { terminal, paint, columns } = cli.screen
  let day = ''
  return (event) => {
    if (terminal && dayOf(event.at) !== day) cli.print(dayLine(event.at, paint))
    day = dayOf(event.at)
    cli.print(cut(eventLine(event, { paint, fullTime: !terminal, session: !one || columns >= 80 }), columns))
  }
}
