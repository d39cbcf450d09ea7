import { resolve } from 'node:path'
import { callingSession, SESSION_VARIABLES } from '../../agents/clients.js'
import { bodyOf, factsOf, handoffOutlook } from '../../app/briefs.js'
import { withOpenApp } from '../../app/open-app.js'
import { sessionMeant } from '../../app/sessions.js'
import { readOfferedFile } from '../../briefs/read-brief.js'
import type { Caller } from '../../engine/handoff/authorize-caller.js'
import { type Offered, offerBrief } from '../../engine/handoff/handoff-calls.js'
import type { App } from '../../engine/open-engine.js'
import { viewCoverage } from '../../engine/views/brief-view.js'
import { BatonError, EXIT, type ExitCode } from '../../lib/errors.js'
import { shortenHome } from '../../lib/shown-text.js'
import type { Call, Cli, Command, Option } from '../command.js'
import { checkForm, wrong } from '../parse-call.js'
import { coverageLines, nextText, scoreText } from '../render/briefs.js'
import { wrap } from '../render/text.js'

const ACTIONS = ['list', 'show', 'check', 'request', 'write', 'use', 'edit', 'approve', 'cancel'] as const
type Action = (typeof ACTIONS)[number]

const options = {
  seat: { type: 'string', value: 'S', about: 'list: only this seat (its id, its name, or one of its sessions)' },
  all: { type: 'boolean', about: 'list: also those that were replaced, cancelled or failed, and older ones' },
  session: {
    type: 'string',
    value: 'ID',
    about: 'check, write: of this session; use: in this one (else your own, else the newest of this project that runs)',
  },
  bar: { type: 'string', value: 'N', about: 'check: end with 1 when the score is below N, 0 to 1' },
  reason: { type: 'string', value: 'TEXT', about: 'request: why, in your words; the agent is told' },
  file: { type: 'string', value: 'FILE', about: 'edit: take the new text from this file instead of opening an editor' },
} satisfies Record<string, Option>

/** Description, number of arguments and options of each action. */
const FORMS: Record<Action, { does: string; least: number; most: number; options: (keyof typeof options)[] }> = {
  list: { does: 'list the newest briefs, and the handoffs under way', least: 0, most: 0, options: ['seat', 'all'] },
  show: { does: 'show one brief: where it comes from, its check and its text', least: 1, most: 1, options: [] },
  check: {
    does: 'compare any text with what happened in a session; changes nothing',
    least: 1,
    most: 1,
    options: ['session', 'bar'],
  },
  request: {
    does: 'ask the agent of a session for its brief; an idle one is woken',
    least: 1,
    most: 1,
    options: ['reason'],
  },
  write: {
    does: 'write a brief from transcript and repository, without a model',
    least: 0,
    most: 0,
    options: ['session'],
  },
  use: { does: 'give a brief to a session that runs', least: 1, most: 1, options: ['session'] },
  edit: { does: 'change a brief that was not used yet', least: 1, most: 1, options: ['file'] },
  approve: { does: 'let a brief under review be used now', least: 1, most: 1, options: [] },
  cancel: { does: 'stop a handoff, or keep a brief from being used', least: 1, most: 1, options: [] },
}

export const handoffsCommand: Command = {
  name: 'handoffs',
  summary: 'list, check, request, review and cancel handoffs and their briefs',
  usage: [
    'list [--seat S] [--all]',
    'show <brief>',
    'check <file> [--session ID] [--bar N]',
    'request <seat|session> [--reason TEXT]',
    'write [--session ID]',
    'use <brief> [--session ID]',
    'edit <brief> [--file FILE]',
    'approve <brief>',
    'cancel <brief|seat>',
  ],
  about:
    'A handoff is a brief and the change to a fresh session. Without an action they are listed. An id may be shortened to four characters. check compares any text with what ' +
    'happened in a session and changes nothing; it ends with 0 also when something is missing. request asks the agent for its brief; only the seat ' +
    'itself, its parent or you may. write makes one from transcript and repository, without a model; use gives a brief to a session that runs. edit opens $VISUAL or $EDITOR on a copy: what you save becomes a new brief in the place of the old one, ' +
    'until that was used. approve lets a brief under review be used.',
  options,
  actions: ACTIONS,
  forms: FORMS,
  words: { min: 0, max: 2 },
  examples: [
    ['baton handoffs list', 'the newest briefs, and what is under way'],
    ['baton handoffs show 3f2a', 'one brief with its check'],
    ['baton handoffs check brief.md --bar 0.8', 'for a script: 1 when it lacks too much'],
    ['baton handoffs request api --reason "new model"', 'ask the agent of a seat for its brief'],
    ['baton handoffs write', 'a brief of the newest session of this project, now'],
    ['baton handoffs use 3f2a', 'go on from that brief in the session that runs here'],
    ['baton handoffs edit 3f2a', 'change what the fresh session will read'],
    ['baton handoffs approve 3f2a', 'it reads well: use it now'],
    ['baton handoffs cancel api', 'stop what is under way'],
  ],
  json:
    'list: {briefs: [{brief_id, seat_id, session_id, sequence, author, status, coverage, path, taken_at, …}], handoffs: [those under way]}; ' +
    'show: a brief and {text, added, front_matter, verdict, addenda, handoff}; check: {score, missing: [{kind, text}], unsupported, by_kind, session_id, verdict}; ' +
    'request: {handoff_id, session_id, seat_id, state, next, …}; write: a brief; use: a brief and {next}; edit, approve: a brief and {handoff, next}; cancel: {handoff, brief}',
  run: runHandoffs,
}

async function runHandoffs(call: Call, cli: Cli): Promise<number> {
  const action = (call.words[0] ?? 'list') as Action
  checkForm(handoffsCommand, call, action, FORMS[action])
  switch (action) {
    case 'list':
      return (await import('./handoff-actions.js')).list(call, cli)
    case 'show':
      return (await import('./handoff-actions.js')).show(call, cli)
    case 'check':
      return (await import('./handoff-actions.js')).check(call, cli)
    case 'request':
      return (await import('./handoff-actions.js')).request(call, cli)
    case 'write':
      return (await import('./handoff-actions.js')).write(call, cli)
    case 'use':
      return (await import('./handoff-actions.js')).use(call, cli)
    case 'edit':
      return (await import('./handoff-actions.js')).edit(call, cli)
    case 'approve':
      return (await import('./handoff-actions.js')).approve(call, cli)
    case 'cancel':
      return (await import('./handoff-actions.js')).cancel(call, cli)
  }
}

export const handoffCommand: Command = {
  name: 'handoff',
  summary: 'give a brief: a fresh session goes on with the work from it',
  usage: ['<file> [--session ID] [--reason TEXT]'],
  about:
    `For agents, in their own shell (${SESSION_VARIABLES} is set), and for people with --session. The file is copied at once: what happens to it ` +
    'later does not matter. Baton checks it against the transcript, appends what it lacks, and at the end of the turn a fresh session ' +
    'begins with it. Given twice, the last one counts. A text file of at most 1 MB, wherever you can read it; a session may only be handed over ' +
    'by itself, by its parent seat, or by you.',
  options: {
    session: { type: 'string', value: 'ID', about: 'whose work it is: a session, or a seat (its present session)' },
    reason: { type: 'string', value: 'TEXT', about: 'why, in your words' },
  },
  words: { min: 1, max: 1 },
  examples: [
    ['baton handoff brief.md', 'by the agent, for its own session'],
    ['baton handoff brief.md --session api --reason "done for today"', 'by you, for the seat named api'],
    ['baton handoffs check brief.md', 'only see what it lacks'],
  ],
  json: '{brief_id, session_id, seat_id, path, sequence, coverage: {score, missing: [{kind, text}], unsupported, by_kind}, status, handoff_id, handoff_state, next}; score is null where there was no transcript',
  run: runHandoff,
}

async function runHandoff(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const target = sessionMeant(app, cli.env, call.value('session'))
    if (target === null)
      throw wrong(
        handoffCommand,
        'Whose brief is it? baton handoff <file> --session ID.',
        'baton status lists the sessions.',
      )
    const asked = { sessionId: target.sessionId, caller: callerOf(cli), reason: call.value('reason') }
    const body = bodyIn(app, cli, call.words[0]!)
    const offered = offerBrief(app.engine.deps, { ...asked, body, read: factsOf(app, target) })
    const next = whatNext(app, cli, offered)
    if (call.json) cli.print(JSON.stringify({ ...view(offered), next }))
    else cli.print(lines(app, cli, offered, next).join('\n'))
    return EXIT.done
  })
}

function view({ brief, handoff }: Offered) {
  const unchecked = { score: null, missing: [], unsupported: [], by_kind: {} }
  return {
    brief_id: brief.briefId,
    session_id: brief.sessionId,
    seat_id: brief.seatId,
    path: brief.path,
    sequence: brief.sequence,
    coverage: brief.coverage === null ? unchecked : viewCoverage(brief.coverage),
    status: brief.status,
    handoff_id: handoff.handoffId,
    handoff_state: handoff.state,
  }
}

/** Describes what happens to the handoff of a brief that was just given or changed. */
export function whatNext(app: App, cli: Cli, { handoff }: Pick<Offered, 'handoff'>): string {
  return nextText(handoffOutlook(app, handoff, callerOf(cli)))
}

function lines(app: App, cli: Cli, { brief }: Offered, next: string): string[] {
  const { columns, paint } = cli.screen
  const seat = app.store.seat(brief.seatId)?.name
  const { coverage } = brief
  const covers =
    coverage === null
      ? 'It could not be checked: no transcript of the session can be read.'
      : `It covers ${scoreText(coverage)} of what happened.`
  return [
    ...wrap(
      `${paint('Brief', 'green')} ${brief.sequence}${seat ? ` of seat ${seat}` : ''} is kept as ${brief.briefId}. ${covers}`,
      columns,
      2,
    ),
    `  ${shortenHome(brief.path, cli.env.HOME)}`,
    ...(coverage === null ? [] : coverageLines(viewCoverage(coverage), 'It lacked, and Baton added:', cli.screen)),
    ...wrap(next, columns, 2),
  ]
}

/** Returns the session this command runs in. Null in a user's own terminal. */
export const callerOf = ({ env }: Cli): Caller => callingSession(env) ?? null

const EXITS: Record<'missing' | 'empty' | 'binary' | 'too-large' | 'not-a-file' | 'unreadable', ExitCode> = {
  missing: EXIT.notFound,
  empty: EXIT.usage,
  binary: EXIT.usage,
  'too-large': EXIT.usage,
  'not-a-file': EXIT.usage,
  unreadable: EXIT.failed,
}

/** Reads the text of a file that is meant as a brief. Throws when it cannot be one. */
export function textOf(cli: Cli, file: string): string {
  const path = resolve(cli.cwd, file)
  const accepted = readOfferedFile(path)
  if ('text' in accepted) return accepted.text
  throw new BatonError(
    accepted.reason,
    'Give a text file of at most 1 MB. Nothing was changed.',
    EXITS[accepted.refused],
  )
}

/** Reads the text without its front matter. Throws when that was tampered with. */
export function bodyIn(app: App, cli: Cli, file: string): string {
  return bodyOf(app, resolve(cli.cwd, file), textOf(cli, file))
}
