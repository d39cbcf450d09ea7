import type { Call, Cli, Command, Option } from '../command.js'
import { wrong } from '../parse-call.js'

const ACTIONS = ['list', 'show', 'logs', 'cancel', 'resume', 'forget', 'prune'] as const
type Action = (typeof ACTIONS)[number]

const options = {
  all: { type: 'boolean', about: 'list: also those that ended long ago' },
  follow: { type: 'boolean', short: 'f', about: 'logs: go on with what it does next, until it ends or Ctrl-C' },
  raw: { type: 'boolean', about: 'logs: the client’s own lines' },
  'budget-usd': { type: 'string', value: 'X', about: 'resume: stop when so much is spent in all' },
  'budget-tokens': { type: 'string', value: 'N', about: 'resume: stop when so many tokens are used in all' },
  'budget-turns': { type: 'string', value: 'N', about: 'resume: stop after so many answers of the model in all' },
  'budget-minutes': { type: 'string', value: 'N', about: 'resume: stop after so many minutes of work in all' },
  'max-handoffs': { type: 'string', value: 'N', about: 'resume: how many sessions may follow the first in all' },
  detach: { type: 'boolean', about: 'resume: in the background' },
  'output-format': { type: 'string', value: 'F', oneOf: ['text', 'stream-json'], about: 'resume: stream-json: one event a line' },
  quiet: { type: 'boolean', short: 'q', about: 'resume: print only how it ended' },
  'older-than': { type: 'string', value: 'D', about: 'prune: an age (12h, 30d, 8w) or a date' },
  'dry-run': { type: 'boolean', about: 'prune: only say which' },
} satisfies Record<string, Option>

const BUDGETS = ['budget-usd', 'budget-tokens', 'budget-turns', 'budget-minutes'] as const

const FORMS: Record<Action, { does: string; least: number; most: number; options: (keyof typeof options)[] }> = {
  list: { does: 'list what runs, and what ran lately', least: 0, most: 0, options: ['all'] },
  show: { does: 'show one job: its sessions, handoffs, checks and what it cost', least: 1, most: 1, options: [] },
  logs: { does: 'print what the agent of a job did and said', least: 1, most: 1, options: ['follow', 'raw'] },
  cancel: { does: 'end a job and everything it started', least: 1, most: 1, options: [] },
  resume: {
    does: 'go on with a job that was paused, failed or lost its runner; without an id, with all of the last kind',
    least: 0,
    most: 1,
    options: [...BUDGETS, 'max-handoffs', 'detach', 'output-format', 'quiet'],
  },
  forget: { does: 'remove what is kept of a job that has ended', least: 1, most: 1, options: [] },
  prune: { does: 'forget all that ended before a time', least: 0, most: 0, options: ['older-than', 'dry-run'] },
}

export const command: Command = {
  name: 'jobs',
  summary: 'list, look at, follow, cancel, resume and forget jobs',
  usage: [
    ...['list [--all]', 'show <id>', 'logs <id> [--follow]', 'cancel <id>', 'resume [id]', 'forget <id>'],
    'prune --older-than D [--dry-run]',
  ],
  about:
    'A job is what baton run began. An id may be shortened to four characters. cancel ends it and everything it started within five seconds, ' +
    'also when whoever ran it is gone. resume goes on with a job that was paused, failed or lost its runner; without an id, with every job ' +
    'whose runner is gone. It says to the agent what was done and what was cut off, so that no step is done twice. ' +
    'forget and prune remove the record, log, journal and outputs of jobs that have ended; their sessions, briefs and archives stay ' +
    '(baton archive forget), and so does a worktree that is still there.',
  options,
  actions: ACTIONS,
  forms: FORMS,
  words: { min: 0, max: 2 },
  examples: [
    ['baton jobs list', 'what runs, and what ran lately; baton jobs alone does the same'],
    ['baton jobs show 3f2a', 'how far one has come'],
    ['baton jobs logs 3f2a --follow', 'watch one at work'],
    ['baton jobs resume', 'after a reboot: everything that was cut off'],
    ['baton jobs resume 3f2a --budget-usd 10', 'go on with more money'],
    ['baton jobs cancel 3f2a', 'end it'],
    ['baton jobs forget 3f2a', 'remove what is kept of it, once it has ended'],
    ['baton jobs prune --older-than 30d', 'remove what ended more than a month ago'],
  ],
  json:
    'list: {jobs: [Job]}; show, cancel: Job; resume: a Job a line; a Job is as baton run --json prints it; logs: the client’s lines; ' +
    'forget, prune: {forgotten: [{job_id, bytes, worktree_path, branch_name}], dry_run}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const action = (call.words[0] ?? 'list') as Action
  check(call, action)
  switch (action) {
    case 'list':
      return (await import('../jobs/list.js')).list(call, cli)
    case 'show':
      return (await import('../jobs/show.js')).show(call, cli)
    case 'logs':
      return (await import('../jobs/logs.js')).logs(call, cli)
    case 'cancel':
      return (await import('../jobs/cancel.js')).cancel(call, cli)
    case 'resume':
      return (await import('../jobs/resume.js')).resume(call, cli, command)
    case 'forget':
      return (await import('../jobs/forget.js')).forget(call, cli)
    case 'prune':
      return (await import('../jobs/forget.js')).prune(call, cli)
  }
}

function check(call: Call, action: Action): void {
  const form = FORMS[action]
  const given = Math.max(0, call.words.length - 1)
  const usage = command.usage.find((line) => line.split(' ', 1)[0] === action)!
  if (given < form.least) throw wrong(command, `baton jobs ${action} needs more: baton jobs ${usage}.`)
  if (given > form.most)
    throw wrong(command, `baton jobs ${action} does not know what to do with "${call.words[form.most + 1]}".`)
  for (const [name, { type }] of Object.entries(options)) {
    const isGiven = type === 'boolean' ? call.flag(name) : call.value(name) !== null
    if (isGiven && !(form.options as string[]).includes(name))
      throw wrong(command, `baton jobs ${action} has no option --${name}.`)
  }
}
