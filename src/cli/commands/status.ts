import { existsSync } from 'node:fs'
import type { Session } from '../../contract/session.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { shownBy } from '../../shown.js'
import type { Call, Cli, Command } from '../command.js'
import { handoffsUnderWay } from '../handoffs/under-way.js'
import { drain, inHouse } from '../open-house.js'
import type { Colour } from '../render/screen.js'
import { legend, ofSeats, type SessionRow, sessionTable } from '../render/session-table.js'
import { wrap } from '../render/wrap.js'
import { silentSessions } from '../silent-sessions.js'

export const command: Command = {
  name: 'status',
  summary: 'show how full every session is',
  usage: ['[--live] [--all] [--watch]'],
  about:
    'Lists the seats of the last 24 hours, newest first, each with the session that sits there, or sat there last. The bar and the percentage are of the point where ' +
    'the agent compacts; ~ marks a point that is derived, – a figure that is not known.',
  options: {
    live: { type: 'boolean', about: 'only sessions whose agent still runs' },
    all: { type: 'boolean', about: 'also sessions that have left their seat, and those older than 24 hours' },
    watch: { type: 'boolean', about: 'refresh in place every second until q or Ctrl-C' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton status', 'all sessions of the last day'],
    ['baton status --live --watch', 'keep an eye on what runs'],
    ["baton status --json | jq '.sessions[] | .compaction_percent'", 'the figures for a script'],
  ],
  json: '{sessions: [Session]}, those that have left their seat included',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const which = { live: call.flag('live'), all: call.flag('all') }
  if (which.live && which.all) throw new BatonError('--live and --all exclude each other.', 'Give one of them.', EXIT.usage)
  if (call.flag('watch')) return watchStatus(call, cli, which)
  return inHouse(cli, (house) => {
    if (call.json) cli.print(JSON.stringify({ sessions: shownBy(house).recent(which) }))
    else cli.print(page(house, cli, which).join('\n'))
    return EXIT.done
  })
}

async function watchStatus(call: Call, cli: Cli, which: { live: boolean; all: boolean }): Promise<number> {
  if (call.json || !cli.screen.terminal || cli.env.TERM === 'dumb') {
    throw new BatonError(
      '--watch draws on a terminal.',
      'For a script: baton events --follow --json, or baton status --json again and again.',
      EXIT.usage,
    )
  }
  const { watch } = await import('../watch.js')
  return inHouse(
    cli,
    (house) => {
      let drained = cli.now().getTime()
      return watch(cli, (screen) => {
        // Hooks take their own spool; this only helps where one of them could not.
        if (cli.now().getTime() - drained > 5_000) {
          drain(house, { youngestMs: 2_000 })
          drained = cli.now().getTime()
        }
        return page(house, { ...cli, screen }, which)
      })
    },
    { configMs: 1000 },
  )
}

/** The lines a person reads. */
function page(house: House, cli: Cli, which: { live: boolean; all: boolean }): string[] {
  const all = shownBy(house)
    .recent(which)
    .map((session) => rowOf(house, session))
  const rows = which.all ? all : ofSeats(all)
  const sessions = rows.map(({ session }) => session)
  if (rows.length === 0) return empty(house, which)
  const { paint, columns } = cli.screen
  const lines = sessionTable(rows, { columns, paint, now: cli.now(), home: cli.env.HOME })
  const alarms = silentSessions(house, sessions)
  const below = (texts: readonly string[], colour: Colour): string[] =>
    texts.length === 0 ? [] : ['', ...texts.flatMap((text) => wrap(text, columns, 2).map((line) => paint(line, colour)))]
  return [
    ...lines,
    ...below(handoffsUnderWay(house, sessions, cli.now()), 'cyan'),
    ...below(alarms, 'yellow'),
    ...below([...legend(rows), ...left(all.length - rows.length)], 'dim'),
  ]
}

function left(count: number): string[] {
  if (count === 0) return []
  const who = count === 1 ? 'One session that has left its seat' : `${count} sessions that have left their seats`
  return [`${who}: baton status --all`]
}

function rowOf(house: House, session: Session): SessionRow {
  const record = house.store.session(session.session_id)
  return {
    session,
    seatName: house.store.seat(session.seat_id)?.name ?? null,
    seenAt: record?.seenAt ?? house.now().toISOString(),
    pointExact: record?.track.limits.exact ?? false,
  }
}

function empty(house: House, which: { live: boolean; all: boolean }): string[] {
  const known = house.store.sessions().length
  if (which.live && known > 0) return ['No session is live.', 'baton status also lists those of the last 24 hours.']
  if (known > 0)
    return [
      'No session in the last 24 hours.',
      `baton status --all lists ${known === 1 ? 'the older one' : `${known} older ones`}.`,
    ]
  if (existsSync(house.home.launcher))
    return ['No sessions yet.', 'Baton is installed: open Claude Code and send a prompt; the session appears here.']
  return ['No sessions yet.', 'Run baton install, then open Claude Code and send a prompt; the session appears here.']
}
