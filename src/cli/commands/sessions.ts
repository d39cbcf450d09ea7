import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { callingSession, SESSION_VARIABLES } from '../../agents/clients.js'
import { drainSpoolSafely } from '../../app/background-work.js'
import { withOpenApp } from '../../app/open-app.js'
import { nameSeat, projectOf, sessionNamed, sessionReaderOf, switchBaton } from '../../app/sessions.js'
import type { Event } from '../../contract/records/event.js'
import type { App } from '../../engine/open-engine.js'
import { EXIT } from '../../lib/errors.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import { quoteForShell } from '../../lib/shell-words.js'
import type { SwitchScope } from '../../store/store.js'
import { type Call, type Cli, type Command, SEAT_HELP } from '../command.js'
import { usageError } from '../parse-call.js'
import { parseSince } from '../parse-values.js'
import { dayLine, dayOf, eventLine } from '../render/event-line.js'
import { sessionPage } from '../render/session-page.js'
import { cutToWidth, wrap, wrapLines } from '../render/text.js'
import { untilStopped } from '../terminal.js'

const EVENTS = 8

export const showCommand: Command = {
  name: 'show',
  summary: 'show a session: context, levels, handoffs, archives and cost',
  usage: ['[session|seat]'],
  about:
    'Takes the id of a session, at least its first four characters, or the name of a seat for its current session. ' +
    `Without an argument, an agent sees its own session (${SESSION_VARIABLES} is set).\n${SEAT_HELP}`,
  options: {},
  words: { min: 0, max: 1 },
  examples: [
    ['baton show d76d6c4d', 'a session, by the beginning of its id'],
    ['baton show api', 'the current session of seat api'],
    ["baton show d76d --json | jq '.levels'", 'its levels, and when they were crossed'],
    ["baton show api --json | jq -r '.briefs[-1].path'", 'the newest brief of a seat'],
    ["baton show d76d --json | jq '.losses[-1].lost'", 'all facts its last compaction dropped'],
  ],
  json: 'Session and {cycle_started_at, cycle_reason, levels, subagents, chain, handoff, briefs, archives, losses}',
  run: runShow,
}

async function runShow(call: Call, cli: Cli): Promise<number> {
  const id = call.words[0] ?? callingSession(cli.env)
  if (!id)
    throw usageError(
      showCommand,
      'baton show needs a session or a seat.',
      'Name it: baton show <session|seat>. baton status lists them.',
    )
  return withOpenApp(cli, (app) => {
    const record = sessionNamed(app, id)
    const detail = sessionReaderOf(app).detail(record)
    if (call.json) cli.print(JSON.stringify(detail))
    else {
      const lines = sessionPage(detail, {
        pointExact: record.track.limits.exact,
        compactions: app.store.compactions(record.sessionId),
        events: app.store.events({ sessionId: record.sessionId, limit: EVENTS }),
        columns: cli.screen.columns,
        paint: cli.screen.paint,
        now: cli.now(),
        home: cli.env.HOME,
      })
      cli.print(lines.join('\n'))
    }
    return EXIT.done
  })
}

const AT_ONCE = 1000
const ON_TERMINAL = 50
const EVERY_MS = 250
const DRAIN_MS = 5_000

export const eventsCommand: Command = {
  name: 'events',
  summary: 'list past events, or follow new ones',
  usage: ['[--session ID] [--since ID|TIME] [--follow]'],
  about:
    'Lists the oldest events first. A terminal shows only the newest 50; a pipe, --json and --since show all.\n' +
    '--since takes the id of an event, an ISO time, or a time ago such as 10m, 2h, 1d.',
  options: {
    session: { type: 'string', value: 'ID', about: 'only this session, or the current session of this seat' },
    since: { type: 'string', value: 'ID|TIME', about: 'only later events' },
    follow: { type: 'boolean', short: 'f', about: 'keep listing new events until Ctrl-C' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton events --since 1h', 'the events of the last hour'],
    ['baton events --follow', 'watch events as they happen'],
    [
      'baton events --json | jq -c \'select(.type == "loss_report") | .data.lost[]\'',
      'all facts that compactions dropped',
    ],
    ['baton events --json | jq -c \'select(.type == "level_crossed")\'', 'all levels that were crossed'],
  ],
  json: 'one Event per line: {id, type, at, session_id, seat_id, job_id, data}',
  run: runEvents,
}

async function runEvents(call: Call, cli: Cli): Promise<number> {
  const written = call.value('since')
  const since = written === null ? null : parseSince(written, cli.now())
  return withOpenApp(cli, async (app) => {
    const session = call.value('session')
    const query = session === null ? {} : { sessionId: sessionNamed(app, session).sessionId }
    const print = printer(call, cli, session !== null)
    let last = since && 'afterId' in since ? since.afterId : 0
    if (since === null && cli.screen.terminal && !call.json) last = skipTo(app, query, cli)
    const from = since && 'since' in since ? since : {}
    let isEmpty = true
    const next = (): void => {
      for (;;) {
        const events = app.store.events({ ...query, ...from, afterId: last, limit: AT_ONCE })
        for (const event of events) print(event)
        isEmpty &&= events.length === 0
        last = events.at(-1)?.id ?? last
        if (events.length < AT_ONCE) return
      }
    }
    next()
    if (!call.json && isEmpty)
      cli.note(wrapLines(nothingYet(app, session, since !== null).split('\n'), cli.screen.columns).join('\n'))
    if (call.flag('follow')) await follow(app, next)
    return EXIT.done
  })
}

/** Returns the reason for an empty list, for standard error, because a pipe gets only events. */
function nothingYet(app: App, session: string | null, isBounded: boolean): string {
  if (app.store.events({ limit: 1 }).length > 0) {
    const of = session === null ? '' : ` of ${replaceControls(session)}`
    return isBounded
      ? `No events${of} since then. Without --since all events are listed.`
      : `No events${of} yet. baton events without --session lists those of all sessions.`
  }
  const next = existsSync(app.home.launcher)
    ? 'Baton is installed. Open Claude Code and send a prompt to see events.'
    : 'Run baton install, then open Claude Code and send a prompt to see events.'
  return `No events yet.\n${next}`
}

/** Returns the id before the newest few events, because a terminal has little room. */
function skipTo(app: App, query: { sessionId?: string }, cli: Cli): number {
  const newest = app.store.events({ ...query, limit: ON_TERMINAL + 1 })
  if (newest.length <= ON_TERMINAL) return 0
  cli.print(cli.screen.paint(`Only the newest ${ON_TERMINAL} events. --since 0 shows all.`, 'dim'))
  return newest[0]!.id
}

async function follow(app: App, next: () => void): Promise<void> {
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
  const take = setInterval(() => drainSpoolSafely(app, { youngestMs: 2_000 }), DRAIN_MS)
  await Promise.race([untilStopped(), broken])
  clearInterval(look)
  clearInterval(take)
  if (failed !== null) throw failed
}

/** Returns a function that prints events. With `one`, a narrow terminal leaves out the session. */
function printer(call: Call, cli: Cli, one: boolean): (event: Event) => void {
  if (call.json) return (event) => cli.print(JSON.stringify(event))
  const { terminal, paint, columns } = cli.screen
  let day = ''
  return (event) => {
    if (terminal && dayOf(event.at) !== day) cli.print(dayLine(event.at, paint))
    day = dayOf(event.at)
    cli.print(cutToWidth(eventLine(event, { paint, fullTime: !terminal, session: !one || columns >= 80 }), columns))
  }
}

export const nameCommand: Command = {
  name: 'name',
  summary: 'name or rename a seat (a terminal or job)',
  usage: ['<seat|session> <name>'],
  about:
    `${SEAT_HELP}\n` +
    'Commands accept the name of a seat instead of an id. A running client keeps its seat. ' +
    'To start another client in a seat, set BATON_SEAT=<name> for it.',
  options: {},
  words: { min: 2, max: 2 },
  examples: [
    ['baton name d76d6c4d api', 'name the seat of a session'],
    ['baton name api backend', 'rename seat api'],
  ],
  json: '{seat_id, name, former_name}',
  run: runName,
}

async function runName(call: Call, cli: Cli): Promise<number> {
  const [seat, name] = call.words as [string, string]
  return withOpenApp(cli, (app) => {
    const named = nameSeat(app, seat, name)
    if (call.json) cli.print(JSON.stringify(named))
    else cli.print(wrap(sentence(named.seat_id, name, named.former_name), cli.screen.columns, 2).join('\n'))
    return EXIT.done
  })
}

function sentence(seatId: string, name: string, former: string | null): string {
  if (former === name) return `Seat ${seatId} already has the name ${name}.`
  const next = `To start another client in this seat: BATON_SEAT=${name} claude.`
  return `Seat ${seatId} now has the name ${name}${former === null ? '' : ` instead of ${former}`}. ${next}`
}

interface Target {
  scope: SwitchScope
  keys: string[]
  /** Display name in sentences, such as `session d76d6c4d`. */
  name: string
  json: Record<string, string>
}

/** Creates the command `off` or `on`. */
function switchCommand(enabled: boolean): Command {
  const word = enabled ? 'on' : 'off'
  const command: Command = {
    name: word,
    summary: enabled
      ? 'turn Baton on again for a session, a project or everywhere'
      : 'turn Baton off for a session, a project or everywhere',
    usage: ['[session]', '--project', '--all'],
    about:
      `Without an argument: the session in which an agent runs the command (${SESSION_VARIABLES} is set), ` +
      'else the project of this folder.\n' +
      'The setting of a session overrides that of its project, which overrides the one for all. ' +
      'While Baton is off, it still measures sessions, but sends no warnings and starts no handoff.' +
      (enabled ? '\nTurning Baton on resets the levels: levels already crossed are reported once more.' : ''),
    options: {
      project: { type: 'boolean', about: 'all sessions of the project of this folder' },
      all: { type: 'boolean', about: 'all sessions' },
    },
    words: { min: 0, max: 1 },
    examples: [
      [`baton ${word} d76d6c4d`, 'one session, by the beginning of its id'],
      [`baton ${word} --project`, 'all sessions of this project'],
      [`baton ${word} --all`, 'all sessions'],
    ],
    json: '{scope, enabled} and {session_id} or {project}',
    run: (call, cli) => withOpenApp(cli, (app) => flip(app, command, enabled, call, cli)),
  }
  return command
}

export const offCommand = switchCommand(false)
export const onCommand = switchCommand(true)

function flip(app: App, command: Command, enabled: boolean, call: Call, cli: Cli): number {
  const target = targetOf(app, command, call, cli)
  switchBaton(app, target.scope, target.keys, enabled)
  if (call.json) cli.print(JSON.stringify({ scope: target.scope, enabled, ...target.json }))
  else {
    const back = { session: ` ${target.json.session_id?.slice(0, 8)}`, project: ' --project', all: ' --all' }[
      target.scope
    ]
    cli.print(`Baton is now ${command.name} for ${target.name}.`)
    cli.print(cli.screen.paint(`To undo: baton ${enabled ? 'off' : 'on'}${back}.`, 'dim'))
  }
  return EXIT.done
}

function targetOf(app: App, command: Command, call: Call, cli: Cli): Target {
  const [named] = call.words
  if (named !== undefined && call.flag('project') && existsSync(resolve(cli.cwd, named)))
    throw usageError(
      command,
      '--project takes no folder: it stands for the project of the current folder.',
      `Run the command there: cd ${quoteForShell(replaceControls(named))} && baton ${command.name} --project.`,
    )
  const given = [named !== undefined, call.flag('project'), call.flag('all')].filter(Boolean).length
  if (given > 1)
    throw usageError(command, 'A session, --project and --all exclude each other.', 'Give one of them, or none.')
  if (call.flag('all')) return { scope: 'all', keys: [''], name: 'all sessions', json: {} }
  if (named !== undefined) return session(sessionNamed(app, named).sessionId, '')
  const own = callingSession(cli.env)
  if (own && !call.flag('project')) return session(own, ' (the one this command runs in)')
  const { project, spellings, known } = projectOf(app, cli.cwd)
  const unseen = known ? '' : ' (no session seen there yet)'
  return {
    scope: 'project',
    keys: spellings,
    name: `the project ${displayPath(project, cli.env.HOME)}${unseen}`,
    json: { project },
  }
}

function session(id: string, more: string): Target {
  return { scope: 'session', keys: [id], name: `session ${id.slice(0, 8)}${more}`, json: { session_id: id } }
}
