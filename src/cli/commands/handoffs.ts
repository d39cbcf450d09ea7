import type { Call, Cli, Command, Option } from '../command.js'
import { wrong } from '../parse-call.js'

const ACTIONS = ['list', 'show', 'check', 'request', 'write', 'use', 'edit', 'approve', 'cancel'] as const
type Action = (typeof ACTIONS)[number]

const options = {
  seat: { type: 'string', value: 'S', about: 'list: only this seat (its id, its name, or one of its sessions)' },
  all: { type: 'boolean', about: 'list: also those that were replaced, cancelled or failed, and older ones' },
  session: {
    type: 'string',
    value: 'ID',
    about: 'check, write: of this session; use: in this one (else your own, else the newest of this project)',
  },
  bar: { type: 'string', value: 'N', about: 'check: end with 1 when the score is below N, 0 to 1' },
  reason: { type: 'string', value: 'TEXT', about: 'request: why, in your words; the agent is told' },
  file: { type: 'string', value: 'FILE', about: 'edit: take the new text from this file instead of opening an editor' },
} satisfies Record<string, Option>

/** What each action takes: words after it, and options. */
const FORMS: Record<Action, { does: string; words: number; options: (keyof typeof options)[] }> = {
  list: { does: 'list the newest briefs, and the handoffs under way', words: 0, options: ['seat', 'all'] },
  show: { does: 'show one brief: where it comes from, its check and its text', words: 1, options: [] },
  check: { does: 'compare any text with what happened in a session; changes nothing', words: 1, options: ['session', 'bar'] },
  request: { does: 'ask the agent of a session for its brief; an idle one is woken', words: 1, options: ['reason'] },
  write: { does: 'write a brief from transcript and repository, without a model', words: 0, options: ['session'] },
  use: { does: 'give a brief to a session that runs', words: 1, options: ['session'] },
  edit: { does: 'change a brief that was not used yet', words: 1, options: ['file'] },
  approve: { does: 'let a brief under review be used now', words: 1, options: [] },
  cancel: { does: 'stop a handoff, or keep a brief from being used', words: 1, options: [] },
}

export const command: Command = {
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
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const action = (call.words[0] ?? 'list') as Action
  check(call, action)
  switch (action) {
    case 'list':
      return (await import('../handoffs/list.js')).list(call, cli)
    case 'show':
      return (await import('../handoffs/show.js')).show(call, cli)
    case 'check':
      return (await import('../handoffs/check.js')).check(call, cli)
    case 'request':
      return (await import('../handoffs/request.js')).request(call, cli)
    case 'write':
      return (await import('../handoffs/own.js')).write(call, cli)
    case 'use':
      return (await import('../handoffs/own.js')).use(call, cli)
    case 'edit':
      return (await import('../handoffs/edit.js')).edit(call, cli)
    case 'approve':
      return (await import('../handoffs/decide.js')).approve(call, cli)
    case 'cancel':
      return (await import('../handoffs/decide.js')).cancel(call, cli)
  }
}

function check(call: Call, action: Action): void {
  const form = FORMS[action]
  const given = Math.max(0, call.words.length - 1)
  const usage = command.usage.find((line) => line.split(' ', 1)[0] === action)!
  if (given < form.words) throw wrong(command, `baton handoffs ${action} needs more: baton handoffs ${usage}.`)
  if (given > form.words)
    throw wrong(command, `baton handoffs ${action} does not know what to do with "${call.words[form.words + 1]}".`)
  for (const [name, { type }] of Object.entries(options)) {
    const isGiven = type === 'boolean' ? call.flag(name) : call.value(name) !== null
    if (isGiven && !(form.options as string[]).includes(name))
      throw wrong(command, `baton handoffs ${action} has no option --${name}.`)
  }
}
