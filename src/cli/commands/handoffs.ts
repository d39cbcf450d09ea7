import { resolve } from 'node:path'
import { callingSession, SESSION_VARIABLES } from '../../agents/clients.js'
import { briefBodyOf } from '../../app/briefs.js'
import { handoffOutlook, submitBrief } from '../../app/handoffs.js'
import { withOpenApp } from '../../app/open-app.js'
import { namedOrCurrentSession } from '../../app/sessions.js'
import { readOfferedBriefFile } from '../../briefs/read-brief.js'
import type { Caller } from '../../engine/handoff/authorize-caller.js'
import type { OfferedBrief } from '../../engine/handoff/handoff-calls.js'
import type { App } from '../../engine/open-engine.js'
import { viewCoverage } from '../../engine/views/brief-view.js'
import { BatonError, EXIT, type ExitCode } from '../../lib/errors.js'
import { displayPath } from '../../lib/replace-controls.js'
import { type ActionHelp, type Call, type Cli, type Command, type Option, SEAT_HELP } from '../command.js'
import { checkActionForm, usageError } from '../parse-call.js'
import { coverageLines, nextStepText, scoreText } from '../render/briefs.js'
import { wrap } from '../render/text.js'

const ACTIONS = ['list', 'show', 'check', 'request', 'write', 'use', 'edit', 'approve', 'cancel'] as const
type Action = (typeof ACTIONS)[number]

const options = {
  seat: { type: 'string', value: 'S', about: 'list: only this seat (its name, its id or one of its sessions)' },
  all: { type: 'boolean', about: 'list: also older, replaced, cancelled and failed briefs' },
  session: {
    type: 'string',
    value: 'ID',
    about:
      'check, write: this session (default: your own, else the newest of this project); ' +
      'use: the session that gets the brief (default: your own, else the newest running one of this project)',
  },
  bar: { type: 'string', value: 'N', about: 'check: exit with 1 if the score is below N (0 to 1)' },
  reason: { type: 'string', value: 'TEXT', about: 'request: the reason, which is passed to the agent' },
  file: { type: 'string', value: 'FILE', about: 'edit: read the new text from this file instead of opening an editor' },
} satisfies Record<string, Option>

/** Help, number of arguments and options of each action. */
const FORMS: Record<Action, ActionHelp & { least: number; most: number; options: (keyof typeof options)[] }> = {
  list: { summary: 'list the newest briefs and the open handoffs', least: 0, most: 0, options: ['seat', 'all'] },
  show: { summary: 'show a brief: its origin, check and text', least: 1, most: 1, options: [] },
  check: {
    summary: 'compare a text with what happened in a session',
    about: 'Changes nothing. Exits with 0 even if the text lacks facts, unless --bar is given.',
    least: 1,
    most: 1,
    options: ['session', 'bar'],
  },
  request: {
    summary: 'ask the agent of a session for its brief; an idle agent is woken',
    about: 'Only the seat itself, its parent seat or the user can ask.',
    least: 1,
    most: 1,
    options: ['reason'],
  },
  write: {
    summary: 'write a brief from the transcript and the repository, without a model',
    about: 'Does not change the session. To give the brief to a running session, use baton handoffs use.',
    least: 0,
    most: 0,
    options: ['session'],
  },
  use: { summary: 'give a brief to a running session', least: 1, most: 1, options: ['session'] },
  edit: {
    summary: 'edit a brief that is not in use yet',
    about: 'Opens a copy in $VISUAL or $EDITOR. The saved text becomes a new brief that replaces the old one.',
    least: 1,
    most: 1,
    options: ['file'],
  },
  approve: { summary: 'end the review of a brief, so that it is used now', least: 1, most: 1, options: [] },
  cancel: { summary: 'cancel a handoff, or a brief that is not in use yet', least: 1, most: 1, options: [] },
}

/** Meaning of the word brief, for commands whose help mentions it first. */
const BRIEF_HELP = 'A brief is the document from which a fresh session continues the work.'

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
    `${BRIEF_HELP} A handoff is a brief and the change to that session. ` +
    'Without an action, baton handoffs lists both. Four characters of an id are enough.\n' +
    SEAT_HELP,
  options,
  actions: ACTIONS,
  forms: FORMS,
  words: { min: 0, max: 2 },
  examples: [
    ['baton handoffs list', 'list the newest briefs and the open handoffs'],
    ['baton handoffs show 3f2a', 'show a brief with its check'],
    ['baton handoffs check brief.md --bar 0.8', 'exit with 1 if the text lacks too much'],
    ['baton handoffs request api --reason "new model"', 'ask the agent of seat api for its brief'],
    ['baton handoffs write', 'write a brief of the newest session here'],
    ['baton handoffs use 3f2a', 'continue from a brief in the session that runs here'],
    ['baton handoffs edit 3f2a', 'change what the fresh session will read'],
    ['baton handoffs approve 3f2a', 'use a reviewed brief now'],
    ['baton handoffs cancel api', 'cancel the open handoff of seat api'],
  ],
  json:
    'list: {briefs: [{brief_id, seat_id, session_id, sequence, author, status, coverage, path, taken_at, …}], ' +
    'handoffs: [open handoffs]}; ' +
    'show: a brief and {text, added, front_matter, verdict, addenda, handoff}; ' +
    'check: {score, missing: [{kind, text}], unsupported, claims: [{sentence, verdict, why}], by_kind, session_id, ' +
    'verdict}; ' +
    'request: {handoff_id, session_id, seat_id, state, next, …}; write: a brief; use: a brief and {next}; ' +
    'edit, approve: a brief and {handoff, next}; cancel: {handoff, brief}',
  run: runHandoffs,
}

async function runHandoffs(call: Call, cli: Cli): Promise<number> {
  const action = (call.words[0] ?? 'list') as Action
  checkActionForm(handoffsCommand, call, action, FORMS[action])
  switch (action) {
    case 'list':
      return (await import('./handoff-actions.js')).listHandoffsCommand(call, cli)
    case 'show':
      return (await import('./handoff-actions.js')).showBriefCommand(call, cli)
    case 'check':
      return (await import('./handoff-actions.js')).checkBriefCommand(call, cli)
    case 'request':
      return (await import('./handoff-actions.js')).requestHandoffCommand(call, cli)
    case 'write':
      return (await import('./handoff-actions.js')).writeBriefCommand(call, cli)
    case 'use':
      return (await import('./handoff-actions.js')).useBriefCommand(call, cli)
    case 'edit':
      return (await import('./handoff-actions.js')).editBriefCommand(call, cli)
    case 'approve':
      return (await import('./handoff-actions.js')).approveBriefCommand(call, cli)
    case 'cancel':
      return (await import('./handoff-actions.js')).cancelHandoffCommand(call, cli)
  }
}

export const handoffCommand: Command = {
  name: 'handoff',
  summary: 'submit a brief, so that a fresh session continues the work',
  usage: ['<file> [--session ID] [--reason TEXT]'],
  about:
    `${BRIEF_HELP} An agent runs this command in its own shell (${SESSION_VARIABLES} is set). ` +
    'A user names the session with --session.\n' +
    'Baton copies the file, checks it against the transcript and appends the missing facts. ' +
    'When the turn ends, a fresh session starts with the brief. A later call replaces an earlier one.\n' +
    'The file must be text of at most 1 MB. Only the session itself, its parent seat or the user can hand it off.',
  options: {
    session: { type: 'string', value: 'ID', about: 'the session, or a seat (the terminal or job in which it runs)' },
    reason: { type: 'string', value: 'TEXT', about: 'the reason for the handoff' },
  },
  words: { min: 1, max: 1 },
  examples: [
    ['baton handoff brief.md', 'as an agent, for its own session'],
    ['baton handoff brief.md --session api --reason "done for today"', 'as a user, for seat api'],
    ['baton handoffs check brief.md', 'only list the missing facts'],
  ],
  json:
    '{brief_id, session_id, seat_id, path, sequence, coverage: {score, missing: [{kind, text}], unsupported, ' +
    'by_kind}, ' +
    'status, handoff_id, handoff_state, next}; score is null if no transcript could be read',
  run: runHandoff,
}

async function runHandoff(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const target = namedOrCurrentSession(app, cli.env, call.value('session'))
    if (target === null)
      throw usageError(
        handoffCommand,
        'It is not clear which session to hand off.',
        'Name it: baton handoff <file> --session ID. baton status lists the sessions.',
      )
    const asked = { caller: callingAgent(cli), reason: call.value('reason') }
    const body = readOfferedBriefBody(app, cli, call.words[0]!)
    const offered = submitBrief(app, target, body, asked)
    const next = describeNextStep(app, cli, offered)
    if (call.json) cli.print(JSON.stringify({ ...view(offered), next }))
    else cli.print(lines(app, cli, offered, next).join('\n'))
    return EXIT.done
  })
}

function view({ brief, handoff }: OfferedBrief) {
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
export function describeNextStep(app: App, cli: Cli, { handoff }: Pick<OfferedBrief, 'handoff'>): string {
  return nextStepText(handoffOutlook(app, handoff, callingAgent(cli)))
}

function lines(app: App, cli: Cli, { brief }: OfferedBrief, next: string): string[] {
  const { columns, paint } = cli.screen
  const seat = app.store.seat(brief.seatId)?.name
  const { coverage } = brief
  const covers =
    coverage === null
      ? 'It was not checked, because the transcript of the session cannot be read.'
      : `It covers ${scoreText(coverage)} of what happened.`
  return [
    ...wrap(
      `${paint('Brief', 'green')} ${brief.sequence}${seat ? ` of seat ${seat}` : ''} is stored as ` +
        `${brief.briefId}. ${covers}`,
      columns,
      2,
    ),
    `  ${displayPath(brief.path, cli.env.HOME)}`,
    ...(coverage === null
      ? []
      : coverageLines(viewCoverage(coverage), 'Facts that Baton added, because the brief lacks them:', cli.screen)),
    ...wrap(next, columns, 2),
  ]
}

/** Returns the session this command runs in. Null in a user's own terminal. */
export const callingAgent = ({ env }: Cli): Caller => callingSession(env) ?? null

const EXITS: Record<'missing' | 'empty' | 'binary' | 'too-large' | 'not-a-file' | 'unreadable', ExitCode> = {
  missing: EXIT.notFound,
  empty: EXIT.usage,
  binary: EXIT.usage,
  'too-large': EXIT.usage,
  'not-a-file': EXIT.usage,
  unreadable: EXIT.failed,
}

/** Reads the text of a file that is meant as a brief. Throws when it cannot be one. */
export function readOfferedBrief(cli: Cli, file: string): string {
  const path = resolve(cli.cwd, file)
  const accepted = readOfferedBriefFile(path)
  if ('text' in accepted) return accepted.text
  throw new BatonError(
    accepted.reason,
    'Nothing was changed. Give a text file of at most 1 MB.',
    EXITS[accepted.refused],
  )
}

/** Reads the text without its front matter. Throws when that was tampered with. */
export function readOfferedBriefBody(app: App, cli: Cli, file: string): string {
  return briefBodyOf(app, resolve(cli.cwd, file), readOfferedBrief(cli, file))
}
