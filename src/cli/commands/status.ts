import { existsSync } from 'node:fs'
import { drainSpoolSafely } from '../../app/background-work.js'
import { openHandoffViews } from '../../app/handoffs.js'
import { withOpenApp } from '../../app/open-app.js'
import { seatName, sessionReaderOf, silentSessions } from '../../app/sessions.js'
import type { Session } from '../../contract/api/session-view.js'
import type { App } from '../../engine/open-engine.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { type Call, type Cli, type Command, SEAT_HELP } from '../command.js'
import { handoffText } from '../render/briefs.js'
import { type Colour, type Screen, screenOf } from '../render/screen.js'
import { keepOpenOrLastSessions, type SessionRow, sessionTable, tableLegend } from '../render/session-table.js'
import { cutToWidth, localTime, wrap } from '../render/text.js'

export const statusCommand: Command = {
  name: 'status',
  summary: 'show how full the context of each session is',
  usage: ['[--live] [--all] [--watch]'],
  about:
    `Lists the seats of the last 24 hours, each with its current or last session. ${SEAT_HELP}\n` +
    'Sessions that wait for you come first, then working, idle and ended ones. ' +
    'CONTEXT and FULL show the context used until compaction: at 100% the agent compacts. ' +
    '~ marks an estimated compaction point, and – an unknown number.',
  options: {
    live: { type: 'boolean', about: 'only sessions whose client runs' },
    all: { type: 'boolean', about: 'also older sessions, and earlier sessions of the seats' },
    watch: { type: 'boolean', about: 'refresh every second until q or Ctrl-C' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton status', 'list the sessions of the last 24 hours'],
    ['baton status --live --watch', 'watch the running sessions'],
    ["baton status --json | jq '.sessions[].compaction_percent'", 'print the percentages for a script'],
  ],
  json: '{sessions: [Session]}, including earlier sessions of the seats',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const which = { live: call.flag('live'), all: call.flag('all') }
  if (which.live && which.all)
    throw new BatonError('--live and --all exclude each other.', 'Give one of them.', EXIT.usage)
  if (call.flag('watch')) return watchStatus(call, cli, which)
  return withOpenApp(cli, (app) => {
    if (call.json) cli.print(JSON.stringify({ sessions: sessionReaderOf(app).recent(which) }))
    else cli.print(page(app, cli, which).join('\n'))
    return EXIT.done
  })
}

async function watchStatus(call: Call, cli: Cli, which: { live: boolean; all: boolean }): Promise<number> {
  if (call.json || !cli.screen.terminal || cli.env.TERM === 'dumb') {
    throw new BatonError(
      '--watch needs a terminal and does not work with --json.',
      'In a script, use baton events --follow --json, or call baton status --json repeatedly.',
      EXIT.usage,
    )
  }
  return withOpenApp(
    cli,
    (app) => {
      let drained = cli.now().getTime()
      return watchOnTerminal(cli, (screen) => {
        // Hooks drain their own spool. This drains what is left when one of them could not.
        if (cli.now().getTime() - drained > 5_000) {
          drainSpoolSafely(app, { youngestMs: 2_000 })
          drained = cli.now().getTime()
        }
        return page(app, { ...cli, screen }, which)
      })
    },
    { configMs: 1000 },
  )
}

/** Renders the page for the user. */
function page(app: App, cli: Cli, which: { live: boolean; all: boolean }): string[] {
  const all = sessionReaderOf(app)
    .recent(which)
    .map((session) => rowOf(app, session))
  const rows = which.all ? all : keepOpenOrLastSessions(all)
  const sessions = rows.map(({ session }) => session)
  if (rows.length === 0) return empty(app, which)
  const { paint, columns } = cli.screen
  const lines = sessionTable(rows, { columns, paint, now: cli.now(), home: cli.env.HOME })
  const alarms = silentSessions(app, sessions)
  const below = (texts: readonly string[], colour: Colour): string[] =>
    texts.length === 0
      ? []
      : ['', ...texts.flatMap((text) => wrap(text, columns, 2).map((line) => paint(line, colour)))]
  return [
    ...lines,
    ...below(handoffsUnderWay(app, sessions, cli.now()), 'cyan'),
    ...below(alarms, 'yellow'),
    ...below([...tableLegend(rows), ...describeHidden(all.length - rows.length)], 'dim'),
  ]
}

function describeHidden(count: number): string[] {
  if (count === 0) return []
  const earlier = count === 1 ? '1 earlier session is' : `${count} earlier sessions are`
  return [`${earlier} not shown (baton status --all)`]
}

function rowOf(app: App, session: Session): SessionRow {
  const record = app.store.session(session.session_id)
  return {
    session,
    seatName: app.store.seat(session.seat_id)?.name ?? null,
    seenAt: record?.seenAt ?? app.now().toISOString(),
    pointExact: record?.track.limits.exact ?? false,
  }
}

function empty(app: App, which: { live: boolean; all: boolean }): string[] {
  const known = app.store.sessions().length
  if (which.live && known > 0)
    return ['No session is running.', 'baton status lists the sessions of the last 24 hours.']
  if (known > 0)
    return [
      'No sessions in the last 24 hours.',
      `baton status --all lists ${known === 1 ? '1 older session' : `${known} older sessions`}.`,
    ]
  if (existsSync(app.home.launcher))
    return ['No sessions yet.', 'Baton is installed. Open Claude Code and send a prompt to see its session here.']
  return ['No sessions yet.', 'Run baton install, then open Claude Code and send a prompt to see its session here.']
}

const EVERY_MS = 1000
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const CTRL_C = '\u0003'
const CTRL_Z = '\u001a'

/**
 * Redraws lines on the terminal's alternate screen until q,
 * Ctrl-C or a signal, then restores the terminal.
 */
export function watchOnTerminal(cli: Cli, lines: (screen: Screen) => string[]): Promise<number> {
  const { stdout, stdin } = process
  return new Promise((resolve, reject) => {
    let open = false
    const show = (): void => {
      open = true
      stdout.write(ENTER)
      if (stdin.isTTY) stdin.setRawMode(true).resume()
      draw()
    }
    const hide = (): void => {
      if (!open) return
      open = false
      if (stdin.isTTY) stdin.setRawMode(false).pause()
      stdout.write(LEAVE)
    }
    const leave = (): void => {
      clearInterval(timer)
      stdout.off('resize', draw)
      stdin.off('data', key)
      for (const signal of SIGNALS) process.off(signal, end)
      process.off('SIGCONT', show)
      process.off('exit', hide)
      hide()
    }
    const end = (): void => {
      leave()
      resolve(0)
    }
    const draw = (): void => {
      if (!open) return
      try {
        const screen = screenOf(stdout, cli.env)
        stdout.write(renderFrame(lines(screen), screen, cli.now()))
      } catch (error) {
        leave()
        reject(error)
      }
    }
    const key = (typed: Buffer): void => {
      const text = typed.toString()
      if (text.includes(CTRL_C) || text === 'q') end()
      else if (text === CTRL_Z) {
        hide()
        process.kill(process.pid, 'SIGSTOP')
      }
    }
    const timer = setInterval(draw, EVERY_MS)
    for (const signal of SIGNALS) process.on(signal, end)
    process.on('SIGCONT', show)
    process.once('exit', hide)
    stdout.on('resize', draw)
    stdin.on('data', key)
    show()
  })
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Renders one frame.
 * Each line overwrites the old one without clearing it first, to avoid flicker.
 * Terminals with synchronized output show the whole frame at once.
 */
export function renderFrame(
  lines: readonly string[],
  screen: Pick<Screen, 'columns' | 'rows' | 'paint'>,
  now: Date,
): string {
  const room = Math.max(1, screen.rows - 1)
  const shown =
    lines.length <= room ? lines : [...lines.slice(0, Math.max(0, room - 1)), `… ${lines.length - room + 1} more lines`]
  const foot = screen.paint(`${localTime(now)} · q quits`, 'dim')
  const texts = screen.rows > 2 ? [...shown, ...Array<string>(room - shown.length).fill(''), foot] : shown
  const body = texts.map((line) => `${cutToWidth(line, screen.columns)}\u001b[K`).join('\r\n')
  return `\u001b[?2026h\u001b[H${body}\u001b[J\u001b[?2026l`
}

/** Renders a line for each active handoff of these sessions' seats. */
function handoffsUnderWay(app: App, sessions: readonly Session[], now: Date): string[] {
  const seats = new Set(sessions.map(({ seat_id }) => seat_id))
  return openHandoffViews(app)
    .filter(({ seat_id: id }) => seats.has(id))
    .map((handoff) => `Handoff of ${seatName(app, handoff.seat_id)}: ${handoffText(handoff, now)}.`)
}
