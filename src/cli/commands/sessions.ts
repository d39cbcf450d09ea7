import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { callingSession, SESSION_VARIABLES } from '../../agents/clients.js'
import { drain } from '../../app/background-work.js'
import { withOpenApp } from '../../app/open-app.js'
import { nameSeat, projectOf, sessionNamed, shownBy } from '../../app/sessions.js'
import type { Event } from '../../contract/records/event.js'
import type { App } from '../../engine/open-engine.js'
import { setEnabled } from '../../engine/signals/switches.js'
import { EXIT } from '../../lib/errors.js'
import { replaceControls, shortenHome } from '../../lib/shown-text.js'
import type { SwitchScope } from '../../store/store.js'
import type { Call, Cli, Command } from '../command.js'
import { wrong } from '../parse-call.js'
import { parseSince } from '../parse-values.js'
import { dayLine, dayOf, eventLine } from '../render/event-line.js'
import { type Detail, sessionPage } from '../render/session-page.js'
import { cut, wrap, wrapLines } from '../render/text.js'
import { untilStopped } from '../terminal.js'

const EVENTS = 8

export const showCommand: Command = {
  name: 'show',
  summary: 'show one session: context, levels, handoffs, archives, what compactions lost, spend',
  usage: ['<session|seat>'],
  about:
    'Give the id of a session, its beginning (four characters or more), or a seat: then its present session is meant. ' +
    `Run by an agent (${SESSION_VARIABLES} is set), it shows that session when none is named.`,
  options: {},
  words: { min: 0, max: 1 },
  examples: [
    ['baton show d76d6c4d', 'a session by the beginning of its id'],
    ['baton show api', 'the present session of the seat named api'],
    ["baton show d76d --json | jq '.levels'", 'its levels and when they were crossed'],
    ["baton show api --json | jq -r '.briefs[-1].path'", 'the newest brief of a seat'],
    ["baton show d76d --json | jq '.losses[-1].lost'", 'every fact its last compaction dropped'],
  ],
  json: 'Session and {cycle_started_at, cycle_reason, levels, subagents, chain, handoff, briefs, archives, losses}',
  run: runShow,
}

async function runShow(call: Call, cli: Cli): Promise<number> {
  const id = call.words[0] ?? callingSession(cli.env)
  if (!id) throw wrong(showCommand, 'Which session? baton show <session|seat>.', 'baton status lists them.')
  return withOpenApp(cli, (app) => {
    const record = sessionNamed(app, id)
    const detail = shownBy(app).detail(record)
    if (call.json) cli.print(JSON.stringify(detail))
    else {
      const lines = sessionPage(detail as unknown as Detail, {
        seatName: app.store.seat(record.seatId)?.name ?? null,
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
    [
      'baton events --json | jq -c \'select(.type == "loss_report") | .data.lost[]\'',
      'every fact a compaction dropped',
    ],
    ['baton events --json | jq -c \'select(.type == "level_crossed")\'', 'every crossing so far'],
  ],
  json: 'one Event a line: {id, type, at, session_id, seat_id, job_id, data}',
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
      ? `Nothing happened${of} since then. Without --since all events are listed.`
      : `Nothing happened${of} yet.`
  }
  const next = existsSync(app.home.launcher)
    ? 'Baton is installed: open Claude Code and send a prompt; what happens is listed here.'
    : 'Run baton install, then open Claude Code and send a prompt; what happens is listed here.'
  return `Nothing happened yet.\n${next}`
}

/** Returns the id before the newest few events, because a terminal has little room. */
function skipTo(app: App, query: { sessionId?: string }, cli: Cli): number {
  const newest = app.store.events({ ...query, limit: ON_TERMINAL + 1 })
  if (newest.length <= ON_TERMINAL) return 0
  cli.print(cli.screen.paint('Earlier events are left out; --since 0 shows all.', 'dim'))
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
  const take = setInterval(() => drain(app, { youngestMs: 2_000 }), DRAIN_MS)
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
    cli.print(cut(eventLine(event, { paint, fullTime: !terminal, session: !one || columns >= 80 }), columns))
  }
}

const LONGEST = 64

export const nameCommand: Command = {
  name: 'name',
  summary: 'give a seat a name, or another one',
  usage: ['<seat|session> <name>'],
  about:
    'A seat is one place where a client runs, a terminal or a job; it stays the same through all sessions there. Commands take its name in place of an id. ' +
    'A client that runs keeps its seat; one that is started later joins it with BATON_SEAT=<name>.',
  options: {},
  words: { min: 2, max: 2 },
  examples: [
    ['baton name d76d6c4d api', 'call the seat of this session api'],
    ['baton name api backend', 'rename it'],
  ],
  json: '{seat_id, name, former_name}',
  run: runName,
}

async function runName(call: Call, cli: Cli): Promise<number> {
  const [seat, name] = call.words as [string, string]
  checkName(name)
  return withOpenApp(cli, (app) => {
    const { seatId, former } = nameSeat(app, seat, name)
    if (call.json) cli.print(JSON.stringify({ seat_id: seatId, name, former_name: former }))
    else cli.print(wrap(sentence(seatId, name, former), cli.screen.columns, 2).join('\n'))
    return EXIT.done
  })
}

function sentence(seatId: string, name: string, former: string | null): string {
  if (former === name) return `Seat ${seatId} is called ${name} already.`
  const next = `To sit in it with another client: BATON_SEAT=${name} claude.`
  return `Seat ${seatId} is called ${name} now${former === null ? '' : ` (${former} before)`}. ${next}`
}

/** Throws unless a seat may have the name. A name that looks like an id would hide that id. */
function checkName(name: string): void {
  const shown = cut(replaceControls(name), LONGEST)
  if (name !== replaceControls(name) || name.trim() !== name || name === '' || name.length > LONGEST)
    throw wrong(nameCommand, `A seat cannot be called "${shown}".`, `Give one line of at most ${LONGEST} characters.`)
  // The name must be one shell word, because users type it into commands and BATON_SEAT=<name>.
  if (!/^[\p{L}\p{N}_.:@+/-]+$/u.test(name) || name.startsWith('-'))
    throw wrong(
      nameCommand,
      `A seat cannot be called "${shown}".`,
      'Use letters, digits and . _ : / @ + - only, not beginning with -, so that BATON_SEAT=<name> needs no quotes.',
    )
  if (/^(?:seat|brief|job|arc|msg|handoff)_/.test(name) || /^[0-9a-f]{8}-/i.test(name))
    throw wrong(nameCommand, `A seat cannot be called "${shown}": that is what an id looks like.`)
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
      ? 'let Baton warn again in a session, a project or everywhere'
      : 'keep Baton silent in a session, a project or everywhere',
    usage: ['[session]', '--project', '--all'],
    about:
      `Without a word: the session this command runs in (${SESSION_VARIABLES}, set by the agent), else the project of this folder. ` +
      "The nearest switch counts: a session's before its project's before the one for all. Sessions are measured either way." +
      (enabled ? ' Switching on opens the levels again: those already passed are told once more.' : ''),
    options: {
      project: { type: 'boolean', about: 'every session of the project this folder belongs to' },
      all: { type: 'boolean', about: 'every session' },
    },
    words: { min: 0, max: 1 },
    examples: [
      [`baton ${word} d76d6c4d`, 'one session, by the beginning of its id'],
      [`baton ${word} --project`, 'everything in this project'],
      [`baton ${word} --all`, 'everywhere'],
    ],
    json: '{scope, enabled}, and {session_id} or {project}',
    run: (call, cli) => withOpenApp(cli, (app) => flip(app, command, enabled, call, cli)),
  }
  return command
}

export const offCommand = switchCommand(false)
export const onCommand = switchCommand(true)

function flip(app: App, command: Command, enabled: boolean, call: Call, cli: Cli): number {
  const target = targetOf(app, command, call, cli)
  const at = cli.now().toISOString()
  for (const key of target.keys) setEnabled(app.engine.deps, target.scope, key, enabled, at)
  if (call.json) cli.print(JSON.stringify({ scope: target.scope, enabled, ...target.json }))
  else {
    const back = { session: ` ${target.json.session_id?.slice(0, 8)}`, project: ' --project', all: ' --all' }[
      target.scope
    ]
    cli.print(`Baton is ${command.name} for ${target.name}.`)
    cli.print(
      `${cli.screen.paint(`baton ${enabled ? 'off' : 'on'}${back} turns it ${enabled ? 'off again' : 'back on'}.`, 'dim')}`,
    )
  }
  return EXIT.done
}

function targetOf(app: App, command: Command, call: Call, cli: Cli): Target {
  const [named] = call.words
  if (named !== undefined && call.flag('project') && existsSync(resolve(cli.cwd, named)))
    throw wrong(
      command,
      '--project takes no folder: it means the project that the current folder belongs to.',
      `Run it there: cd '${replaceControls(named)}' && baton ${command.name} --project.`,
    )
  const given = [named !== undefined, call.flag('project'), call.flag('all')].filter(Boolean).length
  if (given > 1)
    throw wrong(command, 'A session, --project and --all exclude each other.', 'Give one of them, or none.')
  if (call.flag('all')) return { scope: 'all', keys: [''], name: 'all sessions', json: {} }
  if (named !== undefined) return session(sessionNamed(app, named).sessionId, '')
  const own = callingSession(cli.env)
  if (own && !call.flag('project')) return session(own, ' (the one this command runs in)')
  const { project, spellings, known } = projectOf(app, cli.cwd)
  const unseen = known ? '' : ' (no session was seen there yet)'
  return {
    scope: 'project',
    keys: spellings,
    name: `the project ${shortenHome(project, cli.env.HOME)}${unseen}`,
    json: { project },
  }
}

function session(id: string, more: string): Target {
  return { scope: 'session', keys: [id], name: `session ${id.slice(0, 8)}${more}`, json: { session_id: id } }
}
