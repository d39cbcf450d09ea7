import { PERMISSION_MODES, RUNTIMES } from '../../contract/records/job.js'
import type { Call, Cli, Command, Option } from '../command.js'
import { checkForm } from '../parse-call.js'

const ACTIONS = ['list', 'show', 'logs', 'pause', 'cancel', 'resume', 'forget', 'prune'] as const
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
  'permission-mode': {
    type: 'string',
    value: 'M',
    oneOf: PERMISSION_MODES,
    about: 'resume: what the client may do without asking from now on',
  },
  detach: { type: 'boolean', about: 'resume: in the background' },
  'output-format': {
    type: 'string',
    value: 'F',
    oneOf: ['text', 'stream-json'],
    about: 'resume: stream-json: one event a line',
  },
  verbose: { type: 'boolean', about: 'resume: print everything the agent says, calls and gets back' },
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
  pause: { does: 'stop a job so that it can be resumed', least: 1, most: 1, options: [] },
  resume: {
    does: 'resume a job that was paused, failed or whose process died; without an id, all of the last kind',
    least: 0,
    most: 1,
    options: [...BUDGETS, 'max-handoffs', 'permission-mode', 'detach', 'output-format', 'verbose', 'quiet'],
  },
  forget: { does: 'remove what is kept of a job that has ended', least: 1, most: 1, options: [] },
  prune: { does: 'forget all that ended before a time', least: 0, most: 0, options: ['older-than', 'dry-run'] },
}

export const jobsCommand: Command = {
  name: 'jobs',
  summary: 'list, look at, follow, pause, resume, cancel and forget jobs',
  usage: [
    'list [--all]',
    'show <id>',
    'logs <id> [--follow]',
    'pause <id>',
    'cancel <id>',
    'resume [id]',
    'forget <id>',
    'prune --older-than D [--dry-run]',
  ],
  about:
    'A job is what baton run began. An id may be shortened to four characters. cancel ends it and everything it started within five seconds, ' +
    'also when its own process is dead. pause lets the running tool calls return and ends the client; the work stays as it is. resume continues a job that was paused, failed or whose process died; without an id, every job ' +
    'whose process died. It tells the agent what was done and what was cut off, so that no step is done twice. ' +
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
    ['baton jobs resume 3f2a --budget-usd 10', 'resume with a larger budget'],
    ['baton jobs resume 3f2a --permission-mode acceptEdits', 'after its edits were refused'],
    ['baton jobs pause 3f2a', 'stop it until baton jobs resume 3f2a'],
    ['baton jobs cancel 3f2a', 'end it'],
    ['baton jobs forget 3f2a', 'remove what is kept of it, once it has ended'],
    ['baton jobs prune --older-than 30d', 'remove what ended more than a month ago'],
  ],
  json:
    'list: {jobs: [Job]}; show, pause, cancel: Job; resume: a Job a line; a Job is as baton run --json prints it; logs: the client’s lines; ' +
    'forget, prune: {forgotten: [{job_id, bytes, worktree_path, branch_name}], dry_run}',
  run: runJobs,
}

async function runJobs(call: Call, cli: Cli): Promise<number> {
  const action = (call.words[0] ?? 'list') as Action
  checkForm(jobsCommand, call, action, FORMS[action])
  switch (action) {
    case 'list':
      return (await import('./job-actions.js')).list(call, cli)
    case 'show':
      return (await import('./job-actions.js')).show(call, cli)
    case 'logs':
      return (await import('./job-actions.js')).logs(call, cli)
    case 'pause':
      return (await import('./job-actions.js')).pause(call, cli)
    case 'cancel':
      return (await import('./job-actions.js')).cancel(call, cli)
    case 'resume':
      return (await import('./job-actions.js')).resume(call, cli, jobsCommand)
    case 'forget':
      return (await import('./job-actions.js')).forget(call, cli)
    case 'prune':
      return (await import('./job-actions.js')).prune(call, cli)
  }
}

export const runCommand: Command = {
  name: 'run',
  summary: 'carry a task through as many sessions as it needs, until it is done and checked',
  usage: ['[agent] --prompt TEXT', '[agent] --prompt-file FILE'],
  about:
    'Runs the task in sessions of your client. Before a session is full it writes a brief, which is checked, and a fresh one goes on from it. ' +
    'What it did is written down before the client goes on, so that after a crash baton jobs resume goes on without doing a step twice. ' +
    'Ctrl-C pauses it after the present step and says how to go on; a second one cancels it. ' +
    'An agent is an entry under agents in baton.yaml; options win over what stands there. Ends with 0 done, 1 failed, 5 stopped but resumable.',
  options: {
    prompt: { type: 'string', value: 'TEXT', about: 'the task (an agent may have its own)' },
    'prompt-file': { type: 'string', value: 'FILE', about: 'the task from a file; - is standard input' },
    model: { type: 'string', value: 'M', about: 'the model, as the client names it' },
    'permission-mode': {
      type: 'string',
      value: 'M',
      oneOf: PERMISSION_MODES,
      about:
        'what the client may do without asking: acceptEdits (edits) or bypassPermissions (everything); everything else is refused, because nobody can be asked',
    },
    runtime: {
      type: 'string',
      value: 'R',
      oneOf: RUNTIMES,
      about: 'how the client is run (default: cli); baton doctor says which are available',
    },
    'max-handoffs': {
      type: 'string',
      value: 'N',
      about: 'how many sessions may follow the first (3); 0: it is left to compact',
    },
    check: {
      type: 'string',
      value: 'CMD',
      about: 'a command that must succeed before the task counts as done; may be given several times',
    },
    'budget-usd': { type: 'string', value: 'X', about: 'stop when so much is spent' },
    'budget-tokens': { type: 'string', value: 'N', about: 'stop when so many tokens are used over all answers' },
    'budget-turns': { type: 'string', value: 'N', about: 'stop after so many answers of the model' },
    'budget-minutes': { type: 'string', value: 'N', about: 'stop after so many minutes of work' },
    'resume-session': {
      type: 'string',
      value: 'ID',
      about: 'run on this session (id or its beginning); it must be of this folder, and nobody else may run it',
    },
    worktree: { type: 'boolean', about: 'work in a git worktree and a branch of its own' },
    'work-item': { type: 'string', value: 'T', about: 'what it is for, such as a ticket; names the branch' },
    trust: {
      type: 'boolean',
      about: "accept the project's baton.yaml as baton trust does; without a terminal an untrusted file is refused (4)",
    },
    detach: { type: 'boolean', about: 'run in the background and return at once' },
    'output-format': {
      type: 'string',
      value: 'F',
      oneOf: ['text', 'stream-json'],
      about: 'stream-json: one event a line, the result last',
    },
    verbose: {
      type: 'boolean',
      about: 'print everything: what the agent says and is told, every call and its whole result',
    },
    quiet: { type: 'boolean', short: 'q', about: 'print only how it ended' },
  },
  words: { min: 0, max: 1 },
  examples: [
    [
      'baton run --prompt "Make the tests pass." --check "npm test" --permission-mode acceptEdits',
      'until the tests really pass',
    ],
    ['baton run coder --work-item LIN-42 --worktree', 'an agent of baton.yaml, on a branch of its own'],
    ['baton run --prompt "Now the docs." --resume-session 3f2a9c01', 'in a session that is there already'],
    ['baton run --prompt-file task.md --detach', 'in the background; baton jobs logs --follow shows it'],
    ['baton run coder --verbose', 'with everything the agent says, not only one line for each step'],
    ['baton run --prompt "…" --budget-usd 5 --json', 'for a script: one line of JSON at the end'],
  ],
  json:
    'last line {job_id, status, exit_reason, detail, sessions: [{session_id, number, steps, …}], handoffs, compactions, spend, ' +
    'checks: [{name, ok, exit_code, …}], result, …}; with --output-format stream-json one Event a line before it',
  run: startRun,
}

async function startRun(call: Call, cli: Cli): Promise<number> {
  return (await import('./run-jobs.js')).run(call, cli, runCommand)
}
